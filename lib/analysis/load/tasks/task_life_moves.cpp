// SPDX-License-Identifier: Apache-2.0

// The order of a task's moves. Those of one thread nearly always come in the order of their times,
// so they are merged and not sorted, and read again instead of kept.

#include "task_life.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "move_kinds.hpp"

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

namespace {

constexpr std::size_t most_runs = 256;  // more are sorted: a merge of many runs is slow

bool is_move(const task_op& op, bool as_other) {
    switch (op.kind) {
        case record_kind::cancel:
        case record_kind::fact: return true;
        case record_kind::awaiting: return !as_other;
        case record_kind::spawn:
            return !as_other && (op.value & coroscope::trace::spawn_started) != 0;
        default: return leaves_thread(op, as_other) || enters_thread(op, as_other);
    }
}

std::int64_t time_of(const task_op& op) {
    return op.kind == record_kind::spawn ? std::max<std::int64_t>(0, op.time_ns) : op.time_ns;
}

}  // namespace

// Reads all records: takes what they say besides moves, and finds runs of moves in order.
void life_builder::find_runs() {
    runs_.clear();
    sorted_.clear();
    bool begins = true;
    std::int64_t last_ns = 0;
    for (std::uint32_t at = 0; at < mentions_.size(); ++at) {
        const std::uint32_t op = mentions_[at];
        const record_kind kind = ops_[op].kind;
        const bool as_other = ops_[op].task != task_;
        std::int64_t time_ns = ops_[op].time_ns;
        if (kind != record_kind::suspend && kind != record_kind::resume) {
            const task_op whole = ops_[op];
            tell(whole, as_other);
            if (!is_move(whole, as_other)) continue;
            time_ns = time_of(whole);
        }
        if (begins || time_ns < last_ns) {
            if (!begins) runs_.back().end = at;
            runs_.push_back({at, static_cast<std::uint32_t>(mentions_.size()), false, {}});
        }
        begins = false;
        last_ns = time_ns;
    }
    if (runs_.size() > most_runs) sort_runs();
    for (move_run& each : runs_) advance(each);
}

void life_builder::sort_runs() {
    struct timed {
        std::int64_t time_ns;
        std::uint32_t mention;
    };
    std::vector<timed> all;
    move read;
    for (std::uint32_t at = 0; at < mentions_.size(); ++at)
        if (read_move(at, read)) all.push_back({read.time_ns, at});
    std::ranges::sort(all, {},
                      [](const timed& each) { return std::tuple(each.time_ns, each.mention); });
    sorted_.reserve(all.size());
    for (const timed& each : all) sorted_.push_back(each.mention);
    runs_.assign(1, {0, static_cast<std::uint32_t>(sorted_.size()), false, {}});
}

bool life_builder::read_move(std::uint32_t mention, move& read) const {
    read.op = ops_[mentions_[mention]];
    read.as_other = read.op.task != task_;
    if (!is_move(read.op, read.as_other)) return false;
    read.time_ns = time_of(read.op);
    read.mention = mention;
    if (read.op.kind == record_kind::cancel || read.op.kind == record_kind::fact)
        read.as_other = false;
    return true;
}

// Returns the run with the earliest move, or null. At equal times it is the move whose record was
// read first.
life_builder::move_run* life_builder::first_run() {
    move_run* first = nullptr;
    for (move_run& each : runs_)
        if (!each.is_over && (first == nullptr || each.head.time_ns < first->head.time_ns))
            first = &each;
    return first;
}

// Moves the run to its next move.
void life_builder::advance(move_run& run) {
    while (run.next < run.end) {
        const std::uint32_t at = run.next++;
        if (read_move(sorted_.empty() ? at : sorted_[at], run.head)) return;
    }
    run.is_over = true;
}

// The expiry of a timer may be before the task's suspension or, by the conversion of clocks, after
// its resume. So a wake by a timer belongs to the resume that its thread wrote next.
optional_ns life_builder::timer_of(const move& resume, std::uint32_t& executor) const {
    for (std::uint32_t at = has_timers_ ? resume.mention : 0; at > 0; --at) {
        const task_op before = ops_[mentions_[at - 1]];
        if (before.task != task_) continue;
        if (before.kind != record_kind::wake || before.cause != op_cause::timer ||
            before.thread != resume.op.thread)
            return std::nullopt;
        executor = before.site;
        return before.time_ns;
    }
    return std::nullopt;
}

}  // namespace coroscope::analysis::inline tasks
