// SPDX-License-Identifier: Apache-2.0
#include "task_records.hpp"

#include <algorithm>
#include <cstring>

namespace coroscope::analysis::loading {

using coroscope::trace::chunk_kind;
using coroscope::trace::chunk_view;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;
using coroscope::trace::task_slot;

namespace {

class record_pass {
public:
    record_pass(symbols& names, clock_map& clock, trace& loaded)
        : names_(names), clock_(clock), loaded_(loaded) {}

    void read_records(const chunk_view& chunk) {
        thread_stream& stream = stream_of(chunk);
        begin_chunk(stream, chunk);
        last_ns_ = clock_.to_ns(chunk.header.opened_ticks);
        const unsigned char* last_scope = nullptr;
        coroscope::trace::for_each_record(chunk, [&](const record_view& record) {
            if (record.kind() == record_kind::scope) [[likely]] {
                ++found_.plain_scopes;
                last_scope = record.data;
            } else {
                read_other(record, stream.thread);
            }
        });
        if (last_scope != nullptr) {
            const record_view record = coroscope::trace::record_at(last_scope, chunk.bytes);
            seen(clock_.to_ns(record.word(0) + record.value()));
        }
        stream.chunk_ends_ns.push_back(last_ns_);
        stream.end_op = static_cast<std::uint32_t>(found_.ops.size());
        found_.last_ns = std::max(found_.last_ns, last_ns_);
    }

    // The table says what a spawn record would, for tasks whose record was overwritten.
    void read_task_table(const chunk_view& chunk) {
        for (std::size_t at = 0; at + sizeof(task_slot) <= chunk.bytes; at += sizeof(task_slot)) {
            task_slot slot;
            std::memcpy(&slot, chunk.records + at, sizeof(slot));
            if (slot.task == 0) continue;
            task_op restated;
            restated.kind = record_kind::spawn;
            restated.task = task(slot.task);
            restated.other = task(slot.parent);
            restated.site = names_.optional_site(slot.site);
            restated.value = (slot.flags & ~std::uint32_t{coroscope::trace::spawn_started}) |
                             std::uint32_t{coroscope::trace::spawn_adopted};
            restated.time_ns = spawn_time(slot.spawn_ticks);
            found_.ops.push_back(restated);
        }
    }

    task_records take() { return std::move(found_); }

private:
    // Chunks come ordered by thread, so a new thread opens a new stream.
    thread_stream& stream_of(const chunk_view& chunk) {
        const std::uint32_t thread = names_.thread(chunk.header.thread);
        if (found_.streams.empty() || found_.streams.back().thread != thread) {
            thread_stream& opened = found_.streams.emplace_back();
            opened.thread = thread;
            opened.first_op = static_cast<std::uint32_t>(found_.ops.size());
        }
        return found_.streams.back();
    }

    void begin_chunk(thread_stream& stream, const chunk_view& chunk) {
        task_op begin;
        begin.time_ns = clock_.to_ns(chunk.header.opened_ticks);
        begin.task = task(chunk.header.current_task);
        begin.value = static_cast<std::uint32_t>(stream.chunks.size());
        begin.thread = stream.thread;
        found_.ops.push_back(begin);
        stream.chunks.push_back(&chunk);
    }

    void read_other(const record_view& record, std::uint32_t thread) {
        const record_kind kind = record.kind();
        if (is_task_record(kind)) {
            read_task_record(record, thread);
        } else if (kind == record_kind::long_scope) {
            ++found_.long_scopes;
            task(coroscope::trace::mark_task(record.word(3)));
            seen(clock_.to_ns(record.word(0) + record.word(2)));
        } else if (kind == record_kind::label) {
            found_.labels.push_back({record.id(), thread, none, text_of(record)});
        } else if (kind == record_kind::arguments) {
            found_.arguments.push_back(
                {record.word(0), thread, names_.site(record.id()), text_of(record)});
        }
    }

    void read_task_record(const record_view& record, std::uint32_t thread) {
        task_op op;
        op.kind = record.kind();
        op.thread = thread;
        op.value = record.value();
        op.task = task(record.word(2));
        op.other = task(record.word(3));
        const bool names_a_site = op.kind == record_kind::suspend ||
                                  op.kind == record_kind::transfer || op.kind == record_kind::spawn;
        if (names_a_site) op.site = names_.optional_site(record.id());
        op.time_ns = op.kind == record_kind::spawn ? spawn_time(record.word(0))
                                                   : clock_.to_ns(record.word(0));
        if (op.kind == record_kind::wake)
            op.value = op.value == 0 ? none : names_.thread(op.value);
        else if (op.time_ns > 0)
            seen(op.time_ns);
        found_.ops.push_back(op);
    }

    std::int64_t spawn_time(std::uint64_t ticks) {
        return ticks == 0 ? unknown_time : clock_.to_signed_ns(ticks);
    }

    std::uint32_t text_of(const record_view& record) {
        const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
        return names_.intern({reinterpret_cast<const char*>(record.payload()), bytes});
    }

    std::uint32_t task(std::uint64_t id) {
        if (id == 0) return none;
        const std::uint32_t number = found_.task_ids.insert(id);
        if (number == loaded_.tasks.size()) loaded_.tasks.emplace_back().id = id;
        return number;
    }

    void seen(std::int64_t time_ns) { last_ns_ = std::max(last_ns_, time_ns); }

    symbols& names_;
    clock_map& clock_;
    trace& loaded_;
    task_records found_;
    std::int64_t last_ns_ = 0;
};

}  // namespace

task_records read_task_records(const coroscope::trace::reader& input, symbols& names,
                               clock_map& clock, trace& loaded) {
    record_pass pass(names, clock, loaded);
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::records) pass.read_records(chunk);
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::tasks) pass.read_task_table(chunk);
    return pass.take();
}

}  // namespace coroscope::analysis::loading
