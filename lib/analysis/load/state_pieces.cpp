// SPDX-License-Identifier: Apache-2.0
#include "state_pieces.hpp"

#include <algorithm>
#include <optional>

#include "../model/bounded.hpp"
#include "wake_delays.hpp"

namespace coroscope::analysis::inline loading {
namespace {

using coroscope::trace::processor_created;
using coroscope::trace::processor_entered;
using coroscope::trace::processor_preempted;

bool enters(const processor_switch& what) { return (what.flags & processor_entered) != 0; }
bool begins(const processor_switch& what) { return (what.flags & processor_created) != 0; }

/// Reads the switches of a thread, in order.
class switch_pass {
public:
    switch_pass(const std::vector<lost_stretch>& lost, std::int64_t duration_ns)
        : lost_(lost), duration_ns_(duration_ns) {}

    void take(const processor_switch& next) {
        lose_until(next.time_ns);
        if (next_lost_ < lost_.size() && next.time_ns >= lost_[next_lost_].from_ns) return;
        end_piece(next.time_ns, proven_by(next));
        after_loss_ = false;
        state_ = enters(next)                              ? thread_state::on_cpu
                 : (next.flags & processor_preempted) != 0 ? thread_state::preempted
                                                           : thread_state::blocked;
    }

    /// Takes a look that proves that the thread waits from that time to its next record.
    void take_wait(std::int64_t moment_ns) {
        lose_until(moment_ns);
        if (!after_loss_ || moment_ns < since_ns_) return;
        if (next_lost_ < lost_.size() && moment_ns >= lost_[next_lost_].from_ns) return;
        end_piece(moment_ns, thread_state::unknown);
        after_loss_ = false;
        state_ = thread_state::blocked;
    }

    state_pieces finish() {
        lose_until(duration_ns_);
        const bool lost_to_the_end =
            next_lost_ < lost_.size() && lost_[next_lost_].from_ns < duration_ns_;
        if (lost_to_the_end) end_piece(lost_[next_lost_].from_ns, state_);
        end_piece(duration_ns_, lost_to_the_end ? thread_state::unknown : state_);
        return std::move(found_);
    }

    /// Returns whether the switch contradicts the state before it: the thread enters a processor
    /// but is on one, or leaves one but is on none.
    [[nodiscard]] bool contradicts(const processor_switch& next) const {
        return !after_loss_ && !begins(next) && enters(next) == (state_ == thread_state::on_cpu);
    }

private:
    // Returns the state between the last record and the next one. After a loss, a thread that
    // leaves a processor must have been on it. If it enters one, it is unknown why it was on none.
    thread_state proven_by(const processor_switch& next) {
        if (after_loss_)
            return enters(next) || begins(next) ? thread_state::unknown : thread_state::on_cpu;
        // A thread that ends leaves its processor without a record. If the id enters one again, it
        // is that of another thread.
        if (!contradicts(next) || enters(next)) return state_;
        ++found_.contradictions;
        return thread_state::unknown;
    }

    // Ends the pieces at the losses that end at or before that time.
    void lose_until(std::int64_t moment_ns) {
        for (; next_lost_ < lost_.size() && lost_[next_lost_].to_ns <= moment_ns; ++next_lost_) {
            end_piece(lost_[next_lost_].from_ns, state_);
            end_piece(lost_[next_lost_].to_ns, thread_state::unknown);
            state_ = thread_state::unknown;
            after_loss_ = true;
        }
    }

    void end_piece(std::int64_t moment_ns, thread_state state) {
        const std::int64_t end_ns = std::clamp<std::int64_t>(moment_ns, since_ns_, duration_ns_);
        std::vector<state_piece>& pieces = found_.pieces;
        if (end_ns > since_ns_) {
            if (!pieces.empty() && pieces.back().state == state)
                pieces.back().end_ns = end_ns;
            else
                pieces.push_back({since_ns_, end_ns, state, {}});
        }
        since_ns_ = end_ns;
    }

    const std::vector<lost_stretch>& lost_;
    std::int64_t duration_ns_;
    state_pieces found_;
    std::size_t next_lost_ = 0;
    std::int64_t since_ns_ = 0;
    thread_state state_ = thread_state::unknown;
    bool after_loss_ = true;  // the session's start counts as one
};

/// Returns the difference of two sums, or nothing if they contradict each other.
std::optional<kernel_sums> difference_of(const thread_sums& from, const thread_sums& to) {
    if (to.on_cpu_ns < from.on_cpu_ns || to.delay_ns < from.delay_ns) return std::nullopt;
    const auto whole = [](std::uint64_t figure) {
        return static_cast<std::int64_t>(
            std::min(figure, static_cast<std::uint64_t>(largest_figure)));
    };
    return kernel_sums{from.time_ns, to.time_ns, whole(to.on_cpu_ns - from.on_cpu_ns),
                       whole(to.delay_ns - from.delay_ns)};
}

/// Makes a piece whose time on a processor is known. The rest stays undivided: the kernel adds a
/// delay only when the delay ends, so the difference of two sums does not show its part.
state_piece piece_with(const kernel_sums& known) {
    const std::int64_t span_ns = known.to_ns - known.from_ns;
    state_piece piece{known.from_ns, known.to_ns, thread_state::unknown, {}};
    piece.sums.on_cpu_ns = std::min(known.on_cpu_ns, span_ns);
    if (piece.sums.on_cpu_ns == span_ns)
        piece = {known.from_ns, known.to_ns, thread_state::on_cpu, {}};
    return piece;
}

/// Divides unknown pieces at the moments at which the kernel's sums are known.
class sums_pass {
public:
    sums_pass(const std::vector<thread_sums>& sums, state_pieces& to) : sums_(sums), to_(to) {}

    void run() {
        if (sums_.size() < 2) return;
        std::vector<state_piece> divided;
        for (const state_piece& piece : to_.pieces) {
            if (piece.state == thread_state::unknown)
                divide(piece, divided);
            else
                divided.push_back(piece);
        }
        to_.pieces = std::move(divided);
    }

private:
    void divide(state_piece rest, std::vector<state_piece>& divided) {
        while (at_ < sums_.size() && sums_[at_].time_ns < rest.start_ns) ++at_;
        for (; at_ + 1 < sums_.size() && sums_[at_ + 1].time_ns <= rest.end_ns; ++at_) {
            if (sums_[at_].time_ns == sums_[at_ + 1].time_ns) continue;
            if (is_start(sums_[at_ + 1])) continue;  // of a new thread
            const auto known = difference_of(sums_[at_], sums_[at_ + 1]);
            if (!known) {
                ++to_.contradictions;
                continue;
            }
            if (known->from_ns > rest.start_ns)
                divided.push_back({rest.start_ns, known->from_ns, thread_state::unknown, {}});
            divided.push_back(piece_with(*known));
            rest.start_ns = known->to_ns;
        }
        if (rest.end_ns > rest.start_ns) divided.push_back(rest);
    }

    const std::vector<thread_sums>& sums_;
    state_pieces& to_;
    std::size_t at_ = 0;
};

/// Makes the pieces from samples: between two samples a thread waited only as far as looks prove
/// it.
state_pieces pieces_of_samples(const kernel_thread& thread, std::int64_t duration_ns) {
    state_pieces found;
    std::int64_t at_ns = 0;
    const auto pass_to = [&](std::int64_t moment_ns, thread_state state) {
        const std::int64_t end_ns = std::clamp<std::int64_t>(moment_ns, at_ns, duration_ns);
        if (end_ns > at_ns) found.pieces.push_back({at_ns, end_ns, state, {}});
        at_ns = end_ns;
    };
    for (const seen_wait& each : thread.waits) {
        pass_to(each.since_ns, thread_state::unknown);
        pass_to(each.until_ns, thread_state::blocked);
    }
    pass_to(duration_ns, thread_state::unknown);
    sums_pass(thread.sums, found).run();
    return found;
}

/// Returns the sums over the longest stretch between two times whose ends both have sums.
std::optional<kernel_sums> sums_between(const std::vector<thread_sums>& sums, std::int64_t from_ns,
                                        std::int64_t to_ns) {
    const auto first = std::ranges::lower_bound(sums, from_ns, {}, &thread_sums::time_ns);
    const auto end = std::ranges::upper_bound(sums, to_ns, {}, &thread_sums::time_ns);
    if (end - first < 2 || std::prev(end)->time_ns == first->time_ns) return std::nullopt;
    return difference_of(*first, *std::prev(end));
}

}  // namespace

state_pieces pieces_of(const kernel_thread& thread, const std::vector<lost_stretch>& lost,
                       bool has_each_switch, std::int64_t duration_ns) {
    if (!has_each_switch) return pieces_of_samples(thread, duration_ns);
    switch_pass pass(lost, duration_ns);
    const std::vector<processor_switch>& switches = thread.switches;
    auto wait = thread.waits.begin();
    for (std::size_t at = 0; at < switches.size(); ++at) {
        for (; wait != thread.waits.end() && wait->since_ns < switches[at].time_ns; ++wait)
            pass.take_wait(wait->since_ns);
        // Switches from two processors may have equal times. They are swapped if only that order is
        // consistent.
        const bool swapped = at + 1 < switches.size() &&
                             switches[at + 1].time_ns == switches[at].time_ns &&
                             pass.contradicts(switches[at]) && !pass.contradicts(switches[at + 1]);
        pass.take(switches[swapped ? at + 1 : at]);
        if (swapped) pass.take(switches[at++]);
    }
    for (; wait != thread.waits.end(); ++wait) pass.take_wait(wait->since_ns);
    state_pieces found = pass.finish();
    divide_waits(found.pieces, thread.sums);
    sums_pass(thread.sums, found).run();
    return found;
}

thread_history history_between(const std::vector<state_piece>& pieces,
                               const std::vector<thread_sums>& sums, std::int64_t from_ns,
                               std::int64_t to_ns) {
    thread_history history;
    state_point next;
    const auto first = std::ranges::upper_bound(pieces, from_ns, {}, &state_piece::end_ns);
    for (auto at = first; at != pieces.end() && at->start_ns < to_ns; ++at) {
        const std::int64_t end_ns = std::min(at->end_ns, to_ns);
        next.time_ns = std::max(at->start_ns, from_ns);
        next.state = at->state;
        history.points.push_back(next);
        const std::int64_t length_ns = end_ns - next.time_ns;
        const bool whole = next.time_ns == at->start_ns && end_ns == at->end_ns;
        const state_times added = whole ? at->sums : state_times{};
        add_to(next.on_cpu_ns, at->state == thread_state::on_cpu ? length_ns : added.on_cpu_ns);
        add_to(next.blocked_ns, at->state == thread_state::blocked ? length_ns : added.blocked_ns);
        add_to(next.preempted_ns,
               at->state == thread_state::preempted ? length_ns : added.preempted_ns);
        next.time_ns = end_ns;
    }
    if (history.points.empty()) return history;
    next.state = thread_state::unknown;
    history.points.push_back(next);
    history.sums = sums_between(sums, from_ns, to_ns);
    return history;
}

}  // namespace coroscope::analysis::inline loading
