// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/cut_trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <coroscope/analysis/units.hpp>
#include <coroscope/trace/fact_format.hpp>
#include <coroscope/trace/reader.hpp>
#include <coroscope/trace/resource_format.hpp>
#include <fmt/format.h>

#include "../load/records/clock_map.hpp"
#include "../load/records/current_task.hpp"
#include "chunk_writer.hpp"

namespace coroscope::analysis {
namespace {

namespace format = coroscope::trace;
using format::chunk_kind;
using format::chunk_view;
using format::fact_kind;
using format::record_kind;
using format::record_view;

/// Lengths of scopes and calls in ticks; 0 for a record of a moment.
std::uint64_t ticks_of(const record_view& record) {
    if (record.kind() == record_kind::scope) return record.value();
    return record.kind() == record_kind::long_scope ? record.word(2) : 0;
}

bool is_scope(const record_view& record) {
    return record.kind() == record_kind::scope || record.kind() == record_kind::long_scope;
}

bool is_range_with_label(const record_view& record) {
    return record.kind() == record_kind::long_scope &&
           (record.value() & format::scope_dynamic) != 0;
}

/// Returns whether the record is a transition of a task, or belongs to one.
bool is_of_task(const record_view& record) {
    switch (record.kind()) {
        case record_kind::suspend:
        case record_kind::resume:
        case record_kind::transfer:
        case record_kind::finish_transfer:
        case record_kind::cancel:
        case record_kind::spawn:
        case record_kind::wake:
        case record_kind::finish:
        case record_kind::awaiting:
        case record_kind::context:
        case record_kind::carries:
        case record_kind::plain_await: return true;
        case record_kind::fact:
            return format::fact_kind_of(record.id()) == fact_kind::await_outcome;
        default: return false;
    }
}

/// Returns whether the record describes a task that was spawned earlier.
bool is_restated(const record_view& record) {
    return (record.value() & format::spawn_adopted) != 0;
}

/// A label is known by its thread and its serial.
std::uint64_t label_key(std::uint32_t thread, std::uint32_t serial) {
    return std::uint64_t{thread} << 32 | serial;
}

class trace_cut {
public:
    trace_cut(const format::reader& input, optional_ns from_ns, optional_ns to_ns)
        : input_(input),
          clock_(clock_points()),
          from_ns_(from_ns.value_or(0)),
          to_ns_(to_ns.value_or(std::numeric_limits<std::int64_t>::max())),
          writer_(input.header().chunk_bytes) {}

    /// Returns the reason why the trace cannot be cut, or an empty text.
    std::string look() {
        if (input_.header().part_end_ns > 0) return "is a part of a trace already";
        if (input_.damaged_chunks() != 0)
            return "has damaged or missing chunks; --from and --to "
                   "of the views show a part of it";
        for (const chunk_view& chunk : input_.chunks()) look_at(chunk);
        last_ns_ = std::max(last_ns_, clock_.last_point_ns());
        if (input_.header().lost_records != 0 || lost_)
            return "lost records; --from and --to of the views show a part of it";
        if (from_ns_ > last_ns_)
            return fmt::format("ends {} after its start, before the part begins ({})",
                               format_short_time(last_ns_), format_short_time(from_ns_));
        return to_ns_ > from_ns_ ? std::string() : "no time lies between --from and --to";
    }

    std::string cut() {
        for (const chunk_view& chunk : input_.chunks()) {
            if (chunk.header.kind == chunk_kind::records)
                cut_records(chunk);
            else
                writer_.copy(chunk);
        }
        const std::string chunks = writer_.take();
        format::file_header header = input_.header();
        header.chunk_count = writer_.chunks();
        header.chunks_in_use = header.finished != 0 ? writer_.chunks() : 0;
        header.part_from_ns = from_ns_;
        header.part_end_ns = std::min(to_ns_, last_ns_) + 1;
        std::string out(format::file_header_bytes, '\0');
        std::memcpy(out.data(), &header, sizeof header);
        return out + chunks;
    }

    [[nodiscard]] std::uint64_t records() const noexcept { return records_; }
    [[nodiscard]] std::uint64_t kept_records() const noexcept { return kept_; }

private:
    std::vector<format::clock_point> clock_points() const {
        std::vector<format::clock_point> points{input_.header().start};
        for (const chunk_view& chunk : input_.chunks()) {
            if (chunk.header.kind != chunk_kind::metadata) continue;
            format::for_each_record(chunk, [&](const record_view& record) {
                if (record.kind() == record_kind::clock)
                    points.push_back({record.word(0), static_cast<std::int64_t>(record.word(2)),
                                      static_cast<std::int64_t>(record.word(3))});
            });
        }
        points.push_back(input_.header().last);
        return points;
    }

    void look_at(const chunk_view& chunk) {
        if (chunk.header.kind == chunk_kind::metadata) look_at_threads(chunk);
        if (chunk.header.kind != chunk_kind::records) return;
        format::for_each_record(chunk, [&](const record_view& record) {
            ++records_;
            if (record.kind() == record_kind::wake || record.kind() == record_kind::device ||
                record.kind() == record_kind::attribute)
                return;
            const std::int64_t end_ns = clock_.to_ns(record.word(0) + ticks_of(record));
            if (record.kind() == record_kind::spawn && !is_restated(record) && end_ns > to_ns_)
                later_.insert(record.word(2));
            last_ns_ = std::max(last_ns_, end_ns);
            if (!is_scope(record)) return;
            if (is_range_with_label(record) && end_ns < from_ns_)
                ended_.insert(label_key(format::mark_thread(record.word(3)), record.id()));
            if (end_ns >= from_ns_ && clock_.to_ns(record.word(0)) < from_ns_)
                crossing_.insert(record.word(0));
        });
    }

    void look_at_threads(const chunk_view& chunk) {
        format::for_each_record(chunk, [&](const record_view& record) {
            if (record.kind() != record_kind::thread) return;
            format::thread_body body;
            std::memcpy(&body, record.payload(), sizeof body);
            lost_ |= body.dropped_newest != 0 || body.overwritten != 0;
        });
    }

    void cut_records(const chunk_view& chunk) {
        const bool is_new = chunk.header.thread != thread_;
        if (is_new) {
            is_past_ = false;
            woken_.clear();
            resumed_.clear();
        }
        thread_ = chunk.header.thread;
        // Another task may be current when collection is switched on again.
        if (is_new || (!is_past_ && chunk.header.current_task != written_task_)) {
            writer_.begin(chunk.header);
            written_task_ = chunk.header.current_task;
        }
        task_.begin(chunk.header.current_task);
        format::for_each_record(chunk, [&](const record_view& record) { cut_record(record); });
    }

    void cut_record(const record_view& record) {
        if (is_scope(record))
            cut_scope(record);
        else if (is_of_task(record))
            cut_task_record(record);
        else if (keeps(record))
            keep(record);
    }

    // A scope of another task than the one that is current in the part follows a change of context.
    void cut_scope(const record_view& record) {
        const std::int64_t start_ns = clock_.to_ns(record.word(0));
        const std::uint64_t end = record.word(0) + ticks_of(record);
        const std::int64_t end_ns = clock_.to_ns(end);
        is_past_ |= end_ns > to_ns_;
        if (end_ns < from_ns_ || start_ns > to_ns_) return;
        if (task_.now() != written_task_) {
            writer_.add(end, format::make_tag(record_kind::context, 0, 0), task_.now(),
                        written_task_);
            written_task_ = task_.now();
        }
        keep(record);
    }

    void cut_task_record(const record_view& record) {
        const bool has_moment = record.kind() != record_kind::wake &&
                                record.kind() != record_kind::carries &&
                                record.kind() != record_kind::fact;
        if (has_moment && record.kind() != record_kind::spawn)
            is_past_ |= clock_.to_ns(record.word(0)) > to_ns_;
        follow(record);
        if (is_past_) return keep_next(record);
        keep(record);
        written_task_ = task_.now();
        writer_.set_task(written_task_);
    }

    /// The first wake and the first resumption of a task after the part end its last await in it,
    /// so they show how long it was suspended. A suspension follows at once: what the task did then
    /// is left out.
    void keep_next(const record_view& record) {
        if (written_task_ != 0) leave_after(record);
        if (record.kind() == record_kind::spawn && is_restated(record)) keep(record);
        if (record.kind() == record_kind::wake && !later_.contains(record.word(2)) &&
            woken_.insert(record.word(2)).second)
            keep(record);
        if (record.kind() == record_kind::resume) resume_after(record, record.tag, record.word(2));
        if (record.kind() == record_kind::plain_await && format::is_plain_resume(record.tag))
            resume_after(record, format::make_tag(record_kind::resume, 0, 0),
                         format::plain_task(record.tag));
        if (record.kind() == record_kind::finish_transfer && record.word(3) != 0)
            resume_after(record,
                         format::make_tag(record_kind::resume, 0,
                                          format::resume_handed_over | format::resume_called),
                         record.word(3));
    }

    /// The task that runs at the end of the part leaves its thread.
    void leave_after(const record_view& record) {
        const record_kind kind = record.kind();
        if (kind == record_kind::plain_await) {
            if (!format::is_plain_resume(record.tag) &&
                format::is_plain_task(record.tag, written_task_))
                leave(record, record_kind::suspend, format::plain_site(record.tag), 0, 0);
            return;
        }
        const bool is_suspension = kind == record_kind::suspend || kind == record_kind::transfer;
        const bool is_end = kind == record_kind::finish || kind == record_kind::finish_transfer;
        if ((!is_suspension && !is_end) || record.word(2) != written_task_) return;
        const bool names_next = kind == record_kind::suspend || kind == record_kind::finish;
        leave(record, is_end ? record_kind::finish : record_kind::suspend, record.id(),
              record.value(), names_next ? record.word(3) : 0);
    }

    void leave(const record_view& record, record_kind kind, std::uint32_t id, std::uint32_t value,
               std::uint64_t next) {
        ++kept_;
        writer_.add(record.word(0), format::make_tag(kind, id, value), written_task_, next);
        written_task_ = next;
    }

    void resume_after(const record_view& record, std::uint64_t tag, std::uint64_t task) {
        if (task == written_task_ || later_.contains(task) || !resumed_.insert(task).second) return;
        ++kept_;
        writer_.add(record.word(0), tag, task, written_task_);
        writer_.add(record.word(0), format::make_tag(record_kind::suspend, 0, 0), task,
                    written_task_);
    }

    void follow(const record_view& record) {
        if (record.kind() != record_kind::plain_await)
            task_.follow(record);
        else if (format::is_plain_resume(record.tag))
            static_cast<void>(task_.resume(record.tag));
        else
            static_cast<void>(task_.suspend(record.tag));
    }

    void keep(const record_view& record) {
        ++kept_;
        writer_.add(record);
    }

    [[nodiscard]] bool lies_in_part(std::uint64_t start, std::uint64_t length) {
        return clock_.to_ns(start) <= to_ns_ && clock_.to_ns(start + length) >= from_ns_;
    }

    /// Of records beside scopes and transitions.
    bool keeps(const record_view& record) {
        const std::uint64_t ticks = record.word(0);
        switch (record.kind()) {
            case record_kind::label:
                return clock_.to_ns(ticks) <= to_ns_ &&
                       !ended_.contains(label_key(thread_, record.id()));
            case record_kind::item:
                return clock_.to_ns(ticks) <= to_ns_ &&
                       !ended_.contains(
                           label_key(format::mark_thread(record.word(2)), record.id()));
            case record_kind::arguments:
            case record_kind::note: return keeps_text_of_scope(ticks);
            case record_kind::memory: return lies_in_part(ticks, 0);
            case record_kind::attribute: return true;
            case record_kind::fact: return keeps_fact(record);
            default: return clock_.to_ns(ticks) <= to_ns_;
        }
    }

    bool keeps_text_of_scope(std::uint64_t start) {
        const std::int64_t start_ns = clock_.to_ns(start);
        return start_ns <= to_ns_ && (start_ns >= from_ns_ || crossing_.contains(start));
    }

    bool keeps_fact(const record_view& record) {
        const std::uint64_t ticks = record.word(0);
        switch (format::fact_kind_of(record.id())) {
            case fact_kind::resource_wait: {
                if (record.payload_bytes() < sizeof(format::resource_wait_body)) return true;
                format::resource_wait_body body;
                std::memcpy(&body, record.payload(), sizeof body);
                return lies_in_part(body.start, ticks - std::min(ticks, body.start));
            }
            case fact_kind::blocking_call:
            case fact_kind::lock_wait:  // their bodies begin with the length
                return record.payload_bytes() < sizeof(std::uint64_t) ||
                       lies_in_part(ticks, record.word(2));
            case fact_kind::value: return lies_in_part(ticks, 0);
            default: return clock_.to_ns(ticks) <= to_ns_;
        }
    }

    const format::reader& input_;
    clock_map clock_;
    std::int64_t from_ns_;
    std::int64_t to_ns_;
    chunk_writer writer_;
    std::int64_t last_ns_ = 0;
    bool lost_ = false;
    std::uint64_t records_ = 0;
    std::uint64_t kept_ = 0;
    std::unordered_set<std::uint64_t> ended_;     // labels of ranges that ended before the part
    std::unordered_set<std::uint64_t> crossing_;  // starts of scopes that began before it
    std::unordered_set<std::uint64_t> later_;     // tasks that were spawned after the part
    std::unordered_set<std::uint64_t> woken_;     // tasks that the thread woke after the part
    std::unordered_set<std::uint64_t> resumed_;
    std::uint32_t thread_ = 0;
    current_task task_;               // the one that is current on the thread
    std::uint64_t written_task_ = 0;  // the same by the records that were kept
    bool is_past_ = false;            // the thread's transitions after the part are left out
};

}  // namespace

result<cut_totals> cut_trace(const std::string& path, optional_ns from_ns, optional_ns to_ns,
                             const cut_sink& sink) {
    try {
        const auto input = format::reader::open(path);
        if (!input) return input.error();
        trace_cut cut(*input, from_ns, to_ns);
        if (std::string reason = cut.look(); !reason.empty()) return failure{std::move(reason)};
        const std::string bytes = cut.cut();
        if (!sink(bytes)) return failure{"the part could not be written"};
        return cut_totals{cut.records(), cut.kept_records(), input->size(), bytes.size()};
    } catch (const std::exception&) {
        return failure{"does not fit into memory"};
    }
}

}  // namespace coroscope::analysis
