// SPDX-License-Identifier: Apache-2.0
#include "task_records.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "../warnings.hpp"
#include "huge_pages.hpp"
#include "memory_records.hpp"

namespace coroscope::analysis::loading {

using coroscope::trace::chunk_kind;
using coroscope::trace::chunk_view;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;
using coroscope::trace::task_slot;

namespace {

class record_pass {
public:
    record_pass(const coroscope::trace::reader& input, symbols& names, clock_map& clock,
                trace& loaded)
        : input_(input), names_(names), clock_(clock), loaded_(loaded) {}

    void read_records(const chunk_view& chunk) {
        thread_stream& stream = stream_of(chunk);
        if (!stream.records.has_room()) throw std::length_error("more records than positions");
        stream.records.add(chunk);
        begin_chunk(stream, chunk);
        last_ns_ = clock_.to_ns(chunk.header.opened_ticks);
        std::uint32_t last_scope = none;
        coroscope::trace::for_each_record(chunk, [&](const record_view& record) {
            position_ =
                stream.records.position(static_cast<std::size_t>(record.data - chunk.records));
            if (record.kind() == record_kind::scope) [[likely]]
                stream.stack_scopes.push_back(last_scope = position_);
            else
                read_other(record, stream);
        });
        if (last_scope != none) {
            const record_view record = stream.records.record(last_scope);
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

    task_records take() {
        found_.notes = notes_.take();
        found_.devices = devices_.take();
        warn(loaded_.health.warnings, "malformed notes of scopes, left out", notes_.malformed());
        return std::move(found_);
    }

private:
    // Chunks come ordered by thread, so a new thread opens a new stream.
    thread_stream& stream_of(const chunk_view& chunk) {
        const std::uint32_t thread = names_.thread(chunk.header.thread);
        if (found_.streams.empty() || found_.streams.back().thread != thread) {
            thread_stream& opened =
                found_.streams.emplace_back(thread, input_.header().chunk_bytes);
            opened.first_op = static_cast<std::uint32_t>(found_.ops.size());
            reserve_scopes(opened, chunk.header.thread);
        }
        return found_.streams.back();
    }

    void reserve_scopes(thread_stream& stream, std::uint32_t thread) const {
        std::size_t bytes = 0;
        for (const chunk_view& chunk : input_.chunks())
            if (chunk.header.thread == thread && chunk.header.kind == chunk_kind::records)
                bytes += chunk.bytes;
        stream.stack_scopes.reserve(bytes / coroscope::trace::record_unit_bytes);
        prefer_huge_pages(stream.stack_scopes.data(),
                          stream.stack_scopes.capacity() * sizeof(std::uint32_t));
    }

    void begin_chunk(const thread_stream& stream, const chunk_view& chunk) {
        task_op begin;
        begin.time_ns = clock_.to_ns(chunk.header.opened_ticks);
        begin.task = task(chunk.header.current_task);
        begin.value = static_cast<std::uint32_t>(stream.records.chunks().size() - 1);
        begin.thread = stream.thread;
        begin.position = stream.records.position(0);
        found_.ops.push_back(begin);
    }

    void read_other(const record_view& record, thread_stream& stream) {
        const record_kind kind = record.kind();
        if (is_task_record(kind))
            read_task_record(record, stream.thread);
        else if (kind == record_kind::long_scope)
            read_long_scope(record, stream);
        else if (kind == record_kind::label)
            read_label(record);
        else if (kind == record_kind::item)
            read_item(record);
        else if (kind == record_kind::arguments)
            found_.arguments.push_back(
                {record.word(0), stream.thread, names_.site(record.id()), text_of(record)});
        else if (kind == record_kind::note)
            notes_.read(record, stream.thread, names_, loaded_);
        else if (kind == record_kind::memory)
            read_memory_record(record, stream.thread);
        else if (kind == record_kind::device)
            seen(devices_.read(record, names_, clock_, loaded_));
        else if (kind == record_kind::device_wait)
            devices_.read_wait(record, clock_, loaded_);
        else if (kind == record_kind::attribute)
            found_.attributes.definitions.push_back(read_attribute(record, names_, clock_));
        else if (kind == record_kind::carries)
            read_carry(record, stream.thread, carry_op::cause::change);
        if (kind == record_kind::context)
            read_carry(record, stream.thread,
                       (record.value() & coroscope::trace::context_restored) != 0
                           ? carry_op::cause::restored
                           : carry_op::cause::installed);
    }

    void read_memory_record(const record_view& record, std::uint32_t thread) {
        loaded_.memory.push_back(read_memory(record, thread, clock_));
        seen(loaded_.memory.back().time_ns);
    }

    void read_carry(const record_view& record, std::uint32_t thread, carry_op::cause why) {
        found_.attributes.ops.push_back({clock_.to_ns(record.word(0)), thread, task(record.word(2)),
                                         record.id(), position_, why});
    }

    void read_label(const record_view& record) {
        range_label label;
        label.start_ns = clock_.to_ns(record.word(0));
        label.serial = record.id();
        label.text = text_of(record);
        label.stream = static_cast<std::uint32_t>(found_.streams.size() - 1);
        label.position = position_;
        seen(label.start_ns);
        found_.labels.push_back(label);
    }

    void read_item(const record_view& record) {
        range_item item;
        item.time_ns = clock_.to_ns(record.word(0));
        item.number = record.word(3);
        item.serial = record.id();
        item.thread_id = coroscope::trace::mark_thread(record.word(2));
        seen(item.time_ns);
        found_.items.push_back(item);
    }

    void read_long_scope(const record_view& record, thread_stream& stream) {
        task(coroscope::trace::mark_task(record.word(3)));
        seen(clock_.to_ns(record.word(0) + record.word(2)));
        const bool on_stack = is_stack_scope(record.value());
        stream.has_long_stack_scopes |= on_stack;
        (on_stack ? stream.stack_scopes : stream.other_scopes).push_back(position_);
    }

    void read_task_record(const record_view& record, std::uint32_t thread) {
        task_op op;
        op.kind = record.kind();
        op.thread = thread;
        op.position = position_;
        op.value = record.value();
        op.task = task(record.word(2));
        op.other = task(record.word(3));
        const bool names_a_site = op.kind == record_kind::suspend ||
                                  op.kind == record_kind::transfer || op.kind == record_kind::spawn;
        if (names_a_site) op.site = names_.optional_site(record.id());
        op.time_ns = op.kind == record_kind::spawn ? spawn_time(record.word(0))
                                                   : clock_.to_ns(record.word(0));
        if (op.kind == record_kind::wake)
            op.value = op.value == 0 ? none : names_.known_thread(op.value);
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

    const coroscope::trace::reader& input_;
    symbols& names_;
    clock_map& clock_;
    trace& loaded_;
    task_records found_;
    note_reader notes_;
    device_reader devices_;
    std::uint32_t position_ = 0;  // of the record at hand
    std::int64_t last_ns_ = 0;
};

}  // namespace

task_records read_task_records(const coroscope::trace::reader& input, symbols& names,
                               clock_map& clock, deadline& until, trace& loaded) {
    record_pass pass(input, names, clock, loaded);
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::records && !until.passed()) pass.read_records(chunk);
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::tasks) pass.read_task_table(chunk);
    return pass.take();
}

}  // namespace coroscope::analysis::loading
