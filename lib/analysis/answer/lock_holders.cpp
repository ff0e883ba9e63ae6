// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/lock_holders.hpp>

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "../load/tasks/thread_slices.hpp"
#include "../model/scope_owner.hpp"

namespace coroscope::analysis {
namespace {

/// The scopes of a few owners that were open at moments, which must come by time.
class open_events {
public:
    explicit open_events(const trace& loaded) : loaded_(loaded) {}

    void watch(std::uint64_t owner) { open_[owner]; }

    [[nodiscard]] std::uint32_t innermost_at(std::uint64_t owner, std::int64_t time_ns) {
        for (; next_ < loaded_.events.size() && loaded_.events[next_].start_ns <= time_ns;
             ++next_) {
            const event& each = loaded_.events[next_];
            const auto found = open_.find(scope_owner(each.task, each.thread));
            if (found != open_.end()) found->second.push_back(next_);
        }
        std::vector<std::uint32_t>& scopes = open_[owner];
        while (!scopes.empty() && loaded_.events[scopes.back()].end_ns <= time_ns)
            scopes.pop_back();
        return scopes.empty() ? none : scopes.back();
    }

private:
    const trace& loaded_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> open_;
    std::uint32_t next_ = 0;
};

std::vector<std::uint32_t> looks_with_holder(const trace& loaded, std::vector<bool>& threads) {
    const std::vector<blocked_look>& looks = loaded.states.looks;
    std::vector<std::uint32_t> found;
    for (std::uint32_t at = 0; at < looks.size(); ++at) {
        if (looks[at].holder >= threads.size()) continue;
        threads[looks[at].holder] = true;
        found.push_back(at);
    }
    std::ranges::stable_sort(found, {}, [&](std::uint32_t at) { return looks[at].time_ns; });
    return found;
}

}  // namespace

std::vector<lock_holder> lock_holders(const trace& loaded) {
    const std::vector<blocked_look>& looks = loaded.states.looks;
    std::vector<lock_holder> holders(looks.size());
    std::vector<bool> threads(loaded.threads.size());
    const std::vector<std::uint32_t> held = looks_with_holder(loaded, threads);
    if (held.empty()) return holders;
    const slices_of_threads slices(loaded, threads);
    open_events open(loaded);
    for (const std::uint32_t at : held) {
        lock_holder& holder = holders[at];
        holder.thread = looks[at].holder;
        holder.task = slices.task_at(holder.thread, looks[at].time_ns);
        open.watch(scope_owner(holder.task, holder.thread));
    }
    for (const std::uint32_t at : held) {
        lock_holder& holder = holders[at];
        holder.event =
            open.innermost_at(scope_owner(holder.task, holder.thread), looks[at].time_ns);
    }
    return holders;
}

}  // namespace coroscope::analysis
