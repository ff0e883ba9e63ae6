// SPDX-License-Identifier: Apache-2.0
#include "task_records.hpp"

#include <algorithm>
#include <coroscope/trace/await_format.hpp>
#include <coroscope/trace/open_format.hpp>
#include <cstring>
#include <stdexcept>

#include "../../text/warnings.hpp"
#include "read_memory.hpp"
#include "task_op_reader.hpp"
#include "thread_streams.hpp"

namespace coroscope::analysis::inline records {

using coroscope::trace::chunk_kind;
using coroscope::trace::chunk_view;
using coroscope::trace::open_scope;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;
using coroscope::trace::task_slot;

namespace {

class record_pass {
public:
    record_pass(const coroscope::trace::reader& input, metadata& names, clock_map& clock,
                stack_positions positions, trace& loaded)
        : names_(names),
          clock_(clock),
          positions_(positions),
          loaded_(loaded),
          streams_(input, positions, found_.streams, found_.ops),
          tasks_(input, names, clock, found_.task_ids, loaded) {
        found_.gaps = chunk_gaps(input, clock);
    }

    void read_records(const chunk_view& chunk) {
        thread_stream& stream = streams_.of_chunk(chunk, names_.thread(chunk.header.thread));
        if (!stream.records.has_room()) throw std::length_error("more records than positions");
        stream.records.add(chunk);
        begin_chunk(stream, chunk);
        note_gaps(stream, chunk);
        last_ns_ = clock_.to_ns(chunk.header.opened_ticks);
        if (chunk.starts.known())
            read_scopes_alone(stream, chunk);
        else
            read_each(stream, chunk);
        stream.chunk_ends_ns.push_back(last_ns_);
        stream.end_op = static_cast<std::uint32_t>(found_.ops.size());
        found_.last_ns = std::max(found_.last_ns, last_ns_);
    }

    // The table replaces the spawn records of tasks whose record was overwritten.
    void read_task_table(const chunk_view& chunk) {
        for (std::size_t at = 0; at + sizeof(task_slot) <= chunk.bytes; at += sizeof(task_slot)) {
            task_slot slot;
            std::memcpy(&slot, chunk.records + at, sizeof(slot));
            if (slot.task == 0) continue;
            found_.ops.push_back(tasks_.restated(slot));
            found_.has_jobs |= (slot.flags & coroscope::trace::spawn_job) != 0;
        }
    }

    // Must be called after all records were read, because a thread with open scopes may have no
    // records.
    void read_open_scopes(const chunk_view& chunk) {
        for (std::size_t at = 0; at + sizeof(open_scope) <= chunk.bytes; at += sizeof(open_scope)) {
            open_scope place;
            std::memcpy(&place, chunk.records + at, sizeof(place));
            if (place.tag == 0) continue;
            if (!coroscope::trace::is_sound(place)) {
                ++unsound_places_;
                continue;
            }
            tasks_.task(place.task);
            // The session lasted longer than to the start of a scope that was open at its end.
            found_.last_ns = std::max(found_.last_ns, clock_.to_ns(place.start) + 1);
            found_.open_scopes.push_back(
                {place.start, place.task, names_.site(coroscope::trace::tag_id(place.tag)),
                 coroscope::trace::tag_value(place.tag) & coroscope::trace::open_flags_mask,
                 place.order, streams_.of_thread(names_.thread(place.thread))});
        }
    }

    task_records take() {
        found_.notes = notes_.take();
        found_.devices = devices_.take();
        found_.resources = resources_.take();
        found_.requests = requests_.take();
        warn(loaded_.health.warnings, "malformed notes of scopes, left out", notes_.malformed());
        warn(loaded_.health.warnings, "malformed places of open scopes, left out", unsound_places_);
        warn(loaded_.health.warnings, "short records of awaits without a known task, left out",
             tasks_.unknown_awaits());
        return std::move(found_);
    }

private:
    void read_each(thread_stream& stream, const chunk_view& chunk) {
        std::uint32_t last_scope = none;
        coroscope::trace::for_each_record(chunk, [&](const record_view& record) {
            position_ =
                stream.records.position(static_cast<std::size_t>(record.data - chunk.records));
            if (record.kind() == record_kind::scope) [[likely]]
                add_stack_scope(stream, record, last_scope = position_);
            else
                read_other(record, stream);
        });
        if (last_scope != none) see_end(stream.records.record(last_scope));
    }

    // Reads a chunk that has records of kind scope and no others.
    void read_scopes_alone(thread_stream& stream, const chunk_view& chunk) {
        const std::uint32_t first = stream.records.position(0);
        const std::uint32_t end = stream.records.position(chunk.bytes);
        const std::uint32_t count = end - first;
        stream.stack_scope_count += count;
        stream.widen_starts(chunk.starts);
        if (positions_ == stack_positions::kept)
            for (std::uint32_t each = first; each < end; ++each)
                stream.stack_scopes.push_back(each);
        if (count != 0) see_end(stream.records.record(end - 1));
    }

    void add_stack_scope(thread_stream& stream, const record_view& record, std::uint32_t position) {
        ++stream.stack_scope_count;
        stream.widen_starts({record.word(0), record.word(0)});
        if (positions_ == stack_positions::kept) stream.stack_scopes.push_back(position);
    }

    void see_end(const record_view& scope) { seen(clock_.to_ns(scope.word(0) + scope.value())); }

    void begin_chunk(const thread_stream& stream, const chunk_view& chunk) {
        task_op begin = tasks_.begin(chunk);
        begin.value = static_cast<std::uint32_t>(stream.records.chunks().size() - 1);
        begin.thread = stream.thread;
        begin.position = stream.records.position(0);
        found_.ops.push_back(begin);
    }

    void note_gaps(thread_stream& stream, const chunk_view& chunk) {
        if (!found_.gaps.any()) return;
        const std::uint64_t number = chunk.header.number;
        stream.stands_behind_gap.push_back(!stream.stands_behind_gap.empty() &&
                                           found_.gaps.between(last_number_, number));
        // If the thread's description is lost, it is unknown whether the thread dropped records.
        stream.lacks_end = found_.gaps.behind(number) || !names_.describes_thread(stream.thread);
        last_number_ = number;
    }

    void read_other(const record_view& record, thread_stream& stream) {
        switch (record.kind()) {
            case record_kind::suspend:
            case record_kind::resume:
            case record_kind::transfer:
            case record_kind::finish_transfer:
            case record_kind::cancel:
            case record_kind::spawn:
            case record_kind::wake:
            case record_kind::finish:
            case record_kind::awaiting: return read_task_record(record, stream.thread);
            case record_kind::context:
                read_task_record(record, stream.thread);
                return read_carry(record, stream.thread,
                                  (record.value() & coroscope::trace::context_restored) != 0
                                      ? carry_op::cause::restored
                                      : carry_op::cause::installed);
            case record_kind::carries:
                return read_carry(record, stream.thread, carry_op::cause::change);
            case record_kind::plain_await: return read_plain_await(record, stream.thread);
            case record_kind::long_scope: return read_long_scope(record, stream);
            case record_kind::label: return read_label(record);
            case record_kind::item: return read_item(record);
            case record_kind::arguments:
                found_.arguments.push_back(
                    {record.word(0), stream.thread, names_.site(record.id()), text_of(record)});
                return;
            case record_kind::note: return notes_.read(record, stream.thread, names_, loaded_);
            case record_kind::memory: return read_memory_record(record, stream.thread);
            case record_kind::device: return seen(devices_.read(record, names_, clock_, loaded_));
            case record_kind::device_wait: return devices_.read_wait(record, clock_, loaded_);
            case record_kind::fact: return read_fact(record, stream);
            case record_kind::attribute:
                found_.attributes.definitions.push_back(read_attribute(record, names_, clock_));
                return;
            case record_kind::none:
            case record_kind::scope:        // read in place
            case record_kind::next_thread:  // the reader's
            case record_kind::string:       // these are in chunks of metadata: metadata.cpp
            case record_kind::site:
            case record_kind::thread:
            case record_kind::clock:
            case record_kind::module:
            case record_kind::device_name:
            case record_kind::processor: break;  // in chunks of kind kernel
        }
    }

    void read_fact(const record_view& record, const thread_stream& stream) {
        const std::uint32_t thread = stream.thread;
        using coroscope::trace::fact_kind;
        const fact_kind kind = coroscope::trace::fact_kind_of(record.id());
        if (kind == fact_kind::mark) read_mark(record);
        if (kind == fact_kind::await_outcome) read_outcome(record, thread);
        if (resource_reader::reads(record))
            seen(resources_.read(record, thread, names_, clock_, loaded_));
        if (is_blocking_call(record))
            seen(read_blocking_call(record, thread, clock_, loaded_, found_.blocking));
        if (is_lock_wait(record))
            seen(read_lock_wait(record, thread, clock_, loaded_, found_.locks));
        if (request_reader::reads(record)) {
            const std::uint32_t ended = request_reader::is_value(record)
                                            ? ended_at(stream, clock_.to_ns(record.word(0)))
                                            : 0;
            seen(requests_.read(record, thread, ended, names_, clock_, loaded_));
        }
    }

    /// Returns how many of the latest scopes of the stream ended at that moment. Ranges and awaits
    /// outside tasks do not count.
    std::uint32_t ended_at(const thread_stream& stream, std::int64_t time_ns) {
        std::uint32_t found = 0;
        for (const std::vector<std::uint32_t>* scopes :
             {&stream.stack_scopes, &stream.other_scopes})
            for (std::size_t at = scopes->size(); at != 0; --at) {
                const record_view record = stream.records.record((*scopes)[at - 1]);
                const bool is_long = record.kind() != record_kind::scope;
                const std::uint64_t ticks =
                    record.word(0) + (is_long ? record.word(2) : record.value());
                if (clock_.to_ns(ticks) != time_ns) break;
                constexpr std::uint32_t beside =
                    coroscope::trace::scope_explicit | coroscope::trace::scope_await;
                found += is_long && (record.value() & beside) != 0 ? 0 : 1;
            }
        return found;
    }

    void read_mark(const record_view& record) {
        using coroscope::trace::mark_kind;
        const std::uint32_t what = coroscope::trace::fact_bits_of(record.id());
        const std::int64_t time_ns = clock_.to_ns(record.word(0));
        seen(time_ns);
        if (what == static_cast<std::uint32_t>(mark_kind::end_of_service))
            found_.service_end_ns = std::min(found_.service_end_ns, time_ns);
        if (what == static_cast<std::uint32_t>(mark_kind::request_interval))
            read_interval(record, time_ns);
    }

    void read_interval(const record_view& record, std::int64_t time_ns) {
        coroscope::trace::interval_body body;
        if (record.payload_bytes() < sizeof(body)) return;
        std::memcpy(&body, record.payload(), sizeof(body));
        loaded_.sampling.changed.push_back({time_ns, body.interval, body.before, body.cost_ppm});
    }

    void read_outcome(const record_view& record, std::uint32_t thread) {
        if (record.payload_bytes() < sizeof(coroscope::trace::await_outcome_body)) return;
        task_op op;
        op.kind = record_kind::fact;
        op.task = tasks_.task(record.word(2));
        op.value = coroscope::trace::fact_bits_of(record.id());
        op.time_ns = clock_.to_ns(record.word(0));
        seen(op.time_ns);
        add(op, thread);
    }

    void read_memory_record(const record_view& record, std::uint32_t thread) {
        loaded_.memory.push_back(read_memory(record, thread, clock_));
        seen(loaded_.memory.back().time_ns);
    }

    void read_carry(const record_view& record, std::uint32_t thread, carry_op::cause why) {
        found_.attributes.ops.push_back({clock_.to_ns(record.word(0)), thread,
                                         tasks_.task(record.word(2)), record.id(), position_, why});
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
        tasks_.task(coroscope::trace::mark_task(record.word(3)));
        seen(clock_.to_ns(record.word(0) + record.word(2)));
        const bool on_stack = is_stack_scope(record.value());
        stream.has_long_stack_scopes |= on_stack;
        on_stack ? add_stack_scope(stream, record, position_)
                 : stream.other_scopes.push_back(position_);
    }

    void read_task_record(const record_view& record, std::uint32_t thread) {
        const task_op op = tasks_.read(record);
        if (op.kind != record_kind::wake && op.time_ns > 0) seen(op.time_ns);
        add(op, thread);
    }

    void read_plain_await(const record_view& record, std::uint32_t thread) {
        seen(clock_.to_ns(record.word(0)));
        if (const auto op = tasks_.read_plain_await(record)) add(*op, thread);
    }

    void add(task_op op, std::uint32_t thread) {
        op.thread = thread;
        op.position = position_;
        found_.has_jobs |=
            op.kind == record_kind::spawn && (op.value & coroscope::trace::spawn_job) != 0;
        found_.ops.push_back(op);
    }

    std::uint32_t text_of(const record_view& record) {
        const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
        return names_.intern({reinterpret_cast<const char*>(record.payload()), bytes});
    }

    void seen(std::int64_t time_ns) { last_ns_ = std::max(last_ns_, time_ns); }

    metadata& names_;
    clock_map& clock_;
    stack_positions positions_;
    trace& loaded_;
    task_records found_;
    thread_streams streams_;
    task_op_reader tasks_;
    note_reader notes_;
    device_reader devices_;
    resource_reader resources_;
    request_reader requests_;
    std::uint64_t unsound_places_ = 0;
    std::uint32_t position_ = 0;     // of the record at hand
    std::uint64_t last_number_ = 0;  // of the chunk before
    std::int64_t last_ns_ = 0;
};

}  // namespace

task_records read_task_records(const coroscope::trace::reader& input, metadata& names,
                               clock_map& clock, deadline& until, stack_positions positions,
                               trace& loaded) {
    record_pass pass(input, names, clock, positions, loaded);
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::records && !until.passed()) pass.read_records(chunk);
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::tasks) pass.read_task_table(chunk);
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::open) pass.read_open_scopes(chunk);
    return pass.take();
}

}  // namespace coroscope::analysis::inline records
