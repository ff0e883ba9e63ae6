// SPDX-License-Identifier: Apache-2.0
#include "kernel_records.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "../../model/bounded.hpp"
#include "chunk_gaps.hpp"

namespace coroscope::analysis::inline records {

using coroscope::trace::blocked_body;
using coroscope::trace::chunk_kind;
using coroscope::trace::chunk_view;
using coroscope::trace::fact_kind;
using coroscope::trace::overflow_policy;
using coroscope::trace::reader;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;
using coroscope::trace::switches_lost_body;
using coroscope::trace::thread_times_body;

std::int64_t session_ns(const reader& input, std::int64_t monotonic_ns) {
    return bounded(saturated_difference(monotonic_ns, input.header().start.monotonic_ns));
}

namespace {

class kernel_pass {
public:
    kernel_pass(const reader& input, clock_map& clock, std::int64_t duration_ns)
        : input_(input), clock_(clock), gaps_(input, clock), duration_ns_(duration_ns) {}

    void read(const chunk_view& chunk) {
        note_missing_before(chunk);
        earliest_ns_ = opened_ns(chunk);
        coroscope::trace::for_each_record(chunk, [this](const record_view& record) {
            const std::int64_t time_ns =
                session_ns(input_, static_cast<std::int64_t>(record.word(0)));
            earliest_ns_ = std::min(earliest_ns_, time_ns);
            latest_ns_ = std::max(latest_ns_, time_ns);
            if (record.kind() == record_kind::processor) {
                ++found_.switches;
                kernel_thread& thread = found_.threads[record.id()];
                thread.switches.push_back({time_ns, record.value()});
                if ((record.value() & coroscope::trace::processor_created) != 0)
                    thread.sums.push_back({time_ns, 0, 0});
            } else if (record.kind() == record_kind::fact) {
                read_fact(record, time_ns);
            }
        });
        last_number_ = chunk.header.number;
        any_ = true;
    }

    kernel_records take(bool dropped_records) {
        const bool complete = input_.header().finished != 0 && !dropped_records &&
                              (!any_ || !gaps_.behind(last_number_));
        if (!complete) found_.lost.push_back({latest_ns_, duration_ns_});
        for (auto& [id, thread] : found_.threads) {
            put_in_order(thread.switches);
            put_in_order(thread.sums);
            std::ranges::sort(thread.waits, {}, &seen_wait::since_ns);
        }
        join_lost();
        found_.has_each_switch = has_each_switch();
        return std::move(found_);
    }

private:
    template <class Record>
    static void put_in_order(std::vector<Record>& records) {
        if (!std::ranges::is_sorted(records, {}, &Record::time_ns))
            std::ranges::stable_sort(records, {}, &Record::time_ns);
    }

    [[nodiscard]] bool has_each_switch() const {
        return input_.header().thread_states ==
               static_cast<std::uint64_t>(coroscope::trace::thread_state_source::switches);
    }

    std::int64_t opened_ns(const chunk_view& chunk) {
        return clock_.to_ns(chunk.header.opened_ticks);
    }

    // All records of a missing chunk are from before the moment at which the next one was opened.
    // They may be older than the last records of the chunk before, because each processor has a
    // queue of its own.
    void note_missing_before(const chunk_view& chunk) {
        const bool overwritten = input_.header().policy == overflow_policy::overwrite_oldest &&
                                 !any_ && chunk.header.number > 1 && has_lost_chunks();
        if (overwritten || gaps_.between(last_number_, chunk.header.number))
            found_.lost.push_back(
                {any_ ? earliest_ns_ : std::numeric_limits<std::int64_t>::min(), opened_ns(chunk)});
    }

    // Chunks have numbers from 1. Each one that is not here was overwritten, or is damaged.
    [[nodiscard]] bool has_lost_chunks() const {
        std::vector<std::uint64_t> numbers;
        for (const chunk_view& each : input_.chunks()) numbers.push_back(each.header.number);
        std::ranges::sort(numbers);
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        return !numbers.empty() && numbers.back() != numbers.size();
    }

    template <class Body>
    bool take_body(const record_view& record, Body& body) {
        const std::size_t bytes = std::min<std::size_t>(record.value(), record.payload_bytes());
        if (bytes < sizeof(body)) {
            ++found_.malformed;
            return false;
        }
        std::memcpy(&body, record.payload(), sizeof(body));
        return true;
    }

    void read_fact(const record_view& record, std::int64_t time_ns) {
        switch (coroscope::trace::fact_kind_of(record.id())) {
            case fact_kind::thread_times: {
                thread_times_body body;
                if (take_body(record, body))
                    found_.threads[body.thread].sums.push_back(
                        {time_ns, body.on_cpu_ns, body.delay_ns});
                return;
            }
            case fact_kind::switches_lost: {
                switches_lost_body body;
                if (take_body(record, body)) note_lost(body, time_ns);
                return;
            }
            case fact_kind::blocked: {
                blocked_record looked{time_ns, {}, {}};
                if (!take_body(record, looked.body)) return;
                if (looked.body.since_ns != 0)
                    looked.since_ns = std::min(session_ns(input_, looked.body.since_ns), time_ns);
                if (looked.since_ns)
                    found_.threads[looked.body.thread].waits.push_back({*looked.since_ns, time_ns});
                found_.blocked.push_back(looked);
                return;
            }
            default: return;  // a later kind, or one of chunks of records
        }
    }

    void note_lost(const switches_lost_body& body, std::int64_t time_ns) {
        constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
        found_.lost_switches = std::min(
            most, found_.lost_switches + std::min(body.count, most - found_.lost_switches));
        found_.lost.push_back({std::min(session_ns(input_, body.since_ns), time_ns), time_ns});
    }

    void join_lost() {
        std::ranges::sort(found_.lost, {}, &lost_stretch::from_ns);
        std::vector<lost_stretch> joined;
        for (const lost_stretch& each : found_.lost) {
            if (each.to_ns < each.from_ns) continue;
            if (!joined.empty() && each.from_ns <= joined.back().to_ns)
                joined.back().to_ns = std::max(joined.back().to_ns, each.to_ns);
            else
                joined.push_back(each);
        }
        found_.lost = std::move(joined);
    }

    const reader& input_;
    clock_map& clock_;
    chunk_gaps gaps_;
    std::int64_t duration_ns_;
    kernel_records found_;
    std::int64_t earliest_ns_ = 0;  // of the current chunk
    std::int64_t latest_ns_ = 0;    // of all chunks
    std::uint64_t last_number_ = 0;
    bool any_ = false;
};

}  // namespace

kernel_records read_kernel_records(const reader& input, clock_map& clock, std::int64_t duration_ns,
                                   bool dropped_records) {
    kernel_pass pass(input, clock, duration_ns);
    for (const chunk_view& chunk : input.chunks())
        if (chunk.header.kind == chunk_kind::kernel) pass.read(chunk);
    return pass.take(dropped_records);
}

}  // namespace coroscope::analysis::inline records
