// SPDX-License-Identifier: Apache-2.0
#include "cut_events.hpp"

#include <algorithm>
#include <optional>

#include "divided_time.hpp"

namespace coroscope::analysis::inline part {
namespace {

/// Takes no time from the scope around it, and has no time of its own.
bool lies_beside(const event& of) noexcept {
    return (of.flags & event_explicit) != 0 && of.self_running_ns == 0;
}

/// The parts of the time of a clipped scope. If the whole scope has one part, so has the rest.
time_split split_within(const trace& whole, const event& of, const time_split& time,
                        std::int64_t from_ns, std::int64_t to_ns) {
    time_split clipped;
    const std::int64_t wall_ns = time.wall_ns();
    if (time.running_ns == wall_ns)
        clipped.running_ns = to_ns - from_ns;
    else if (time.suspended_ns == wall_ns)
        clipped.suspended_ns = to_ns - from_ns;
    else if (time.queued_ns == wall_ns)
        clipped.queued_ns = to_ns - from_ns;
    else if (time.waiting_ns == wall_ns || of.task >= whole.tasks.size())
        clipped.waiting_ns = to_ns - from_ns;
    else
        clipped = divided_time(whole, whole.tasks[of.task], from_ns, to_ns);
    return clipped;
}

class event_cut {
public:
    event_cut(trace& whole, const std::vector<std::uint32_t>& kept, const stretch& to)
        : whole_(whole), read_(whole), kept_(kept), to_(to), children_ns_(whole.events.size()) {}

    std::uint64_t run() {
        std::uint64_t crossing = 0;
        for (auto at = kept_.rbegin(); at != kept_.rend(); ++at) crossing += take(*at) ? 1U : 0U;
        return crossing;
    }

private:
    // Children come before their parents. Their own times are known by then.
    bool take(std::uint32_t index) {
        event& each = whole_.events[index];
        const bool crosses = to_.cuts(each.start_ns, each.end_ns);
        const bool beside = lies_beside(each);
        std::int64_t own_ns = each.self_running_ns + children_ns_[index];
        if (crosses && !beside) own_ns = clipped_own_ns(each, own_ns);
        if (crosses) clip_split(each);
        if (crosses && !beside)
            each.self_running_ns = std::max<std::int64_t>(0, own_ns - children_ns_[index]);
        if (!beside && each.parent < children_ns_.size()) children_ns_[each.parent] += own_ns;
        if (to_.begins_before(each.start_ns)) each.flags |= event_clipped;
        if (to_.ends_after(each.end_ns)) each.flags |= event_open;
        to_.move(each.start_ns);
        to_.move(each.end_ns);
        return crosses;
    }

    // A scope without running time, such as an await, stays without.
    std::int64_t clipped_own_ns(const event& of, std::int64_t own_ns) {
        if (own_ns == 0) return 0;
        if (!own_) own_.emplace(read_);
        return std::min(own_ns, own_->own_ns(of, std::max(of.start_ns, to_.from_ns),
                                             std::min(of.end_ns, to_.to_ns)));
    }

    void clip_split(const event& of) {
        if (of.detail >= whole_.details.size()) return;
        time_split& time = whole_.details[of.detail].time;
        time = split_within(read_, of, time, std::max(of.start_ns, to_.from_ns),
                            std::min(of.end_ns, to_.to_ns));
    }

    trace& whole_;
    const trace& read_;  // the same, whose lists stay packed
    const std::vector<std::uint32_t>& kept_;
    const stretch& to_;
    std::optional<own_times> own_;
    std::vector<std::int64_t> children_ns_;  // by event: running time of the events in it
};

}  // namespace

std::vector<std::uint32_t> events_in(const trace& whole, const stretch& to) {
    std::vector<std::uint32_t> kept;
    std::size_t clipped = 0;
    for (std::uint32_t at = 0; at < whole.events.size(); ++at) {
        const event& each = whole.events[at];
        if (!to.touches(each.start_ns, each.end_ns)) continue;
        kept.push_back(at);
        if (each.start_ns <= to.from_ns) clipped = kept.size();
    }
    // These now begin at once, and the longest comes first.
    std::stable_sort(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(clipped),
                     [&](std::uint32_t left, std::uint32_t right) {
                         return to.moved(whole.events[left].end_ns) >
                                to.moved(whole.events[right].end_ns);
                     });
    return kept;
}

std::uint64_t cut_events(trace& whole, const std::vector<std::uint32_t>& kept, const stretch& to) {
    return event_cut(whole, kept, to).run();
}

}  // namespace coroscope::analysis::inline part
