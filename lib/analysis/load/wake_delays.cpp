// SPDX-License-Identifier: Apache-2.0
#include "wake_delays.hpp"

#include <algorithm>
#include <cstddef>

namespace coroscope::analysis::inline loading {
namespace {

using index = std::size_t;

/// A piece, and the parts at its end that turn out to have other states.
struct divided_piece {
    state_piece piece;
    std::int64_t delay_ns = 0;  ///< the thread could run, without a processor
    std::int64_t work_ns = 0;   ///< the kernel's work for the switch at the end

    [[nodiscard]] std::int64_t rest_ns() const {
        return piece.end_ns - piece.start_ns - delay_ns - work_ns;
    }
};

bool is_off(thread_state state) {
    return state == thread_state::blocked || state == thread_state::preempted;
}

/// Divides an amount evenly among pieces. No piece gets more than its rest.
void share(std::int64_t amount_ns, std::vector<divided_piece*>& among,
           std::int64_t divided_piece::* part) {
    std::ranges::sort(among, {}, &divided_piece::rest_ns);
    auto left = static_cast<std::int64_t>(among.size());
    for (divided_piece* const each : among) {
        const std::int64_t given_ns = std::min(each->rest_ns(), amount_ns / left--);
        each->*part += given_ns;
        amount_ns -= given_ns;
    }
}

/// Returns whether the sums are those of one thread. Another thread may get the id of an ended one.
bool are_of_one_thread(const thread_sums& from, const thread_sums& to) {
    return !is_start(to) && to.on_cpu_ns >= from.on_cpu_ns && to.delay_ns >= from.delay_ns;
}

std::int64_t grown(std::uint64_t from, std::uint64_t to) {
    constexpr std::uint64_t most = std::uint64_t{1} << 62;
    return static_cast<std::int64_t>(std::min(to - from, most));
}

class wait_pass {
public:
    wait_pass(const std::vector<state_piece>& pieces, const std::vector<thread_sums>& sums)
        : sums_(sums) {
        all_.reserve(pieces.size());
        for (const state_piece& each : pieces) all_.push_back({each});
    }

    std::vector<state_piece> run() {
        place_work();
        place_delays();
        return join();
    }

private:
    /// The pieces that overlap a stretch of time.
    struct range {
        index first = 0;
        index last = 0;  ///< included; the piece at the later moment
        bool is_known = false;
    };

    // `from`: the first piece that may have such a part.
    [[nodiscard]] range pieces_between(index from, std::int64_t from_ns, std::int64_t to_ns) const {
        while (from < all_.size() && all_[from].piece.end_ns <= from_ns) ++from;
        range found{from, from, from < all_.size() && all_.back().piece.end_ns >= to_ns};
        for (; found.last < all_.size(); ++found.last) {
            found.is_known &= all_[found.last].piece.state != thread_state::unknown;
            if (all_[found.last].piece.end_ns > to_ns || found.last + 1 == all_.size()) break;
        }
        return found;
    }

    [[nodiscard]] bool is_entered_after(index at) const {
        return at + 1 < all_.size() && is_off(all_[at].piece.state) &&
               all_[at + 1].piece.state == thread_state::on_cpu;
    }

    // The kernel updates the time on a processor when the thread leaves it. So only sums are
    // compared that were read while the thread was on none. If one was read too early, the next
    // difference is too large by the same amount.
    void place_work() {
        const thread_sums* before = nullptr;
        std::int64_t excess_ns = 0;
        range here, passed;
        for (const thread_sums& now : sums_) {
            here = pieces_between(here.first, now.time_ns, now.time_ns);
            if (here.first >= all_.size()) break;
            const bool is_settled = is_off(all_[here.first].piece.state);
            if (!is_settled) continue;
            if (before != nullptr) {
                passed = pieces_between(passed.last, before->time_ns, now.time_ns);
                excess_ns = passed.is_known && are_of_one_thread(*before, now)
                                ? place_work(passed, *before, now, excess_ns)
                                : 0;
            }
            before = &now;
        }
    }

    // Returns the time on a processor that the sums lack.
    std::int64_t place_work(const range& passed, const thread_sums& from, const thread_sums& to,
                            std::int64_t excess_ns) {
        std::int64_t work_ns = grown(from.on_cpu_ns, to.on_cpu_ns) - excess_ns;
        std::vector<divided_piece*> ended;
        for (index at = passed.first; at < passed.last; ++at) {
            const state_piece& piece = all_[at].piece;
            if (piece.state == thread_state::on_cpu) work_ns -= piece.end_ns - piece.start_ns;
            if (is_entered_after(at)) ended.push_back(&all_[at]);
        }
        if (work_ns > 0) share(work_ns, ended, &divided_piece::work_ns);
        return std::max<std::int64_t>(-work_ns, 0);
    }

    // The kernel adds a delay to the sums when the delay ends. If the thread moves to another
    // processor's queue meanwhile, the kernel adds a part of it before the piece has ended.
    void place_delays() {
        std::int64_t early_ns = 0;
        range passed;
        for (index at = 1; at < sums_.size(); ++at) {
            const thread_sums& from = sums_[at - 1];
            const thread_sums& to = sums_[at];
            passed = pieces_between(passed.last, from.time_ns, to.time_ns);
            early_ns = passed.is_known && are_of_one_thread(from, to)
                           ? place_delays(passed, grown(from.delay_ns, to.delay_ns) + early_ns)
                           : 0;
        }
    }

    // Returns the part of the delays that is not in the pieces that have ended.
    std::int64_t place_delays(const range& passed, std::int64_t delay_ns) {
        std::vector<divided_piece*> waits;
        std::int64_t room_ns = 0;
        for (index at = passed.first; at < passed.last; ++at) {
            if (all_[at].piece.state == thread_state::preempted) delay_ns -= all_[at].rest_ns();
            if (all_[at].piece.state != thread_state::blocked || !is_entered_after(at)) continue;
            waits.push_back(&all_[at]);
            room_ns += all_[at].rest_ns();
        }
        const std::int64_t placed_ns = std::clamp<std::int64_t>(delay_ns, 0, room_ns);
        share(placed_ns, waits, &divided_piece::delay_ns);
        const bool has_pending = passed.last < all_.size() && is_off(all_[passed.last].piece.state);
        return has_pending ? std::max<std::int64_t>(delay_ns - placed_ns, 0) : 0;
    }

    [[nodiscard]] std::vector<state_piece> join() const {
        std::vector<state_piece> joined;
        joined.reserve(all_.size());
        const auto add = [&joined](std::int64_t from_ns, std::int64_t to_ns, thread_state state) {
            if (to_ns <= from_ns) return;
            if (!joined.empty() && joined.back().state == state)
                joined.back().end_ns = to_ns;
            else
                joined.push_back({from_ns, to_ns, state, {}});
        };
        for (const divided_piece& each : all_) {
            const std::int64_t worked_ns = each.piece.end_ns - each.work_ns;
            const std::int64_t woken_ns = worked_ns - each.delay_ns;
            add(each.piece.start_ns, woken_ns, each.piece.state);
            add(woken_ns, worked_ns, thread_state::preempted);
            add(worked_ns, each.piece.end_ns, thread_state::on_cpu);
        }
        return joined;
    }

    const std::vector<thread_sums>& sums_;
    std::vector<divided_piece> all_;
};

}  // namespace

void divide_waits(std::vector<state_piece>& pieces, const std::vector<thread_sums>& sums) {
    if (sums.size() > 1 && !pieces.empty()) pieces = wait_pass(pieces, sums).run();
}

}  // namespace coroscope::analysis::inline loading
