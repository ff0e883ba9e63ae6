// SPDX-License-Identifier: Apache-2.0
#include "thread_shares.hpp"

#include <algorithm>

namespace coroscope::analysis::inline answers {
namespace {

std::int64_t running_of(const trace& loaded, const event& of) {
    return of.detail < loaded.details.size() ? loaded.details[of.detail].time.running_ns
                                             : saturated_difference(of.end_ns, of.start_ns);
}

/// Returns the position, among the task's slices, of the first one that ends after `time_ns`.
std::size_t first_slice_behind(const trace& loaded, index_range slices, std::int64_t time_ns) {
    std::size_t first = 0;
    std::size_t end = slices.size();
    while (first < end) {
        const std::size_t middle = (first + end) / 2;
        if (loaded.slices[slices[middle]].end_ns <= time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

bool has_slices(const trace& loaded, const event& of) {
    if (of.task >= loaded.tasks.size() || of.detail >= loaded.details.size()) return false;
    const index_range slices = loaded.tasks[of.task].slices;
    return !slices.empty() && slices[slices.size() - 1] < loaded.slices.size();
}

thread_share& share_on(std::vector<thread_share>& shares, std::uint32_t thread) {
    const auto known = std::ranges::find(shares, thread, &thread_share::thread);
    return known != shares.end() ? *known : shares.emplace_back(thread_share{thread, 0, 0});
}

}  // namespace

thread_shares::thread_shares(const trace& loaded) : loaded_(loaded) {
    for (std::uint32_t at = 0; at < loaded.events.size(); ++at)
        if (has_slices(loaded, loaded.events[at])) find_shares(at);
    if (moved_.empty()) return;
    leave_out_children();
    settle_rests();
}

std::span<const thread_share> thread_shares::of(std::uint32_t event) {
    if (const auto moved = moved_.find(event); moved != moved_.end()) return moved->second;
    const analysis::event& only = loaded_.events[event];
    single_ = {only.thread, running_of(loaded_, only), only.self_running_ns};
    return {&single_, 1};
}

void thread_shares::find_shares(std::uint32_t at) {
    const event& each = loaded_.events[at];
    if ((each.flags & event_suspension_unknown) != 0) return;
    const index_range slices = loaded_.tasks[each.task].slices;
    std::vector<thread_share> shares;
    for (std::size_t next = first_slice_behind(loaded_, slices, each.start_ns);
         next < slices.size() && loaded_.slices[slices[next]].start_ns < each.end_ns; ++next) {
        const slice& ran = loaded_.slices[slices[next]];
        const std::int64_t from_ns = std::max(ran.start_ns, each.start_ns);
        const std::int64_t to_ns = std::min(ran.end_ns, each.end_ns);
        if (to_ns <= from_ns) continue;
        thread_share& share = share_on(shares, ran.thread);
        add_to(share.running_ns, to_ns - from_ns);
        add_to(share.self_ns, to_ns - from_ns);
    }
    const bool moved = shares.size() > 1 || (shares.size() == 1 && shares[0].thread != each.thread);
    if (moved) moved_.emplace(at, std::move(shares));
}

void thread_shares::leave_out_children() {
    for (std::uint32_t at = 0; at < loaded_.events.size(); ++at) {
        const auto above = moved_.find(loaded_.events[at].parent);
        if (above == moved_.end()) continue;
        for (const thread_share& share : of(at)) {
            thread_share& from = share_on(above->second, share.thread);
            from.self_ns = saturated_difference(from.self_ns, share.running_ns);
        }
    }
}

namespace {

/// Makes one part of the shares add up to `whole_ns`. Time without slices (lost records) goes to
/// the first thread. An excess (a scope without a self time, children that overlap) is taken from
/// the last threads.
void settle(std::vector<thread_share>& shares, std::int64_t thread_share::* part,
            std::int64_t whole_ns) {
    std::int64_t rest_ns = whole_ns;
    for (thread_share& share : shares) {
        share.*part = std::max<std::int64_t>(share.*part, 0);
        rest_ns = saturated_difference(rest_ns, share.*part);
    }
    if (rest_ns >= 0) return add_to(shares.front().*part, rest_ns);
    for (std::size_t at = shares.size(); at-- != 0 && rest_ns < 0;) {
        const std::int64_t taken_ns = std::min(shares[at].*part, -rest_ns);
        shares[at].*part -= taken_ns;
        rest_ns += taken_ns;
    }
}

}  // namespace

void thread_shares::settle_rests() {
    for (auto& [at, shares] : moved_) {
        settle(shares, &thread_share::running_ns, running_of(loaded_, loaded_.events[at]));
        settle(shares, &thread_share::self_ns, loaded_.events[at].self_running_ns);
    }
}

}  // namespace coroscope::analysis::inline answers
