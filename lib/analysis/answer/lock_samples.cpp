// SPDX-License-Identifier: Apache-2.0
#include "lock_samples.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>

#include <coroscope/analysis/lock_holders.hpp>

#include "../load/devices/device_scopes.hpp"
#include "../load/tasks/thread_slices.hpp"

namespace coroscope::analysis::inline answers {
namespace {

using coroscope::trace::blocked_lock;
using coroscope::trace::lock_kind;

/// The recorded waits by thread, in the order of their starts. Those of one thread may nest, as a
/// signal handler waits within a wait.
class recorded_waits {
public:
    explicit recorded_waits(const trace& loaded) {
        for (const lock_wait& each : loaded.lock_waits) {
            std::vector<stretch>& all = by_thread_[each.waiter.thread];
            const std::int64_t before = all.empty() ? each.end_ns : all.back().last_end_ns;
            all.push_back({each.start_ns, std::max(before, each.end_ns)});
        }
    }

    [[nodiscard]] bool cover(std::uint32_t thread, std::int64_t time_ns) const {
        const auto all = by_thread_.find(thread);
        if (all == by_thread_.end()) return false;
        const auto after = std::ranges::upper_bound(all->second, time_ns, {}, &stretch::start_ns);
        return after != all->second.begin() && time_ns <= std::prev(after)->last_end_ns;
    }

private:
    struct stretch {
        std::int64_t start_ns;
        std::int64_t last_end_ns;  ///< of this wait and of those before it
    };
    std::unordered_map<std::uint32_t, std::vector<stretch>> by_thread_;
};

/// The time of the wait that the look proves: the wait around it if each switch is known, else the
/// time up to the look.
void set_times(const trace& loaded, const blocked_look& look, lock_wait& wait) {
    const state_stretch around = loaded.states.around(look.thread, look.time_ns);
    const bool is_whole = around.state == thread_state::blocked;
    wait.start_ns = is_whole ? around.start_ns : look.since_ns.value_or(look.time_ns);
    wait.end_ns = is_whole ? around.end_ns : look.time_ns;
    wait.began_before = !is_whole;
}

lock_kind kind_of(blocked_lock lock) {
    switch (lock) {
        case blocked_lock::mutex: return lock_kind::mutex;
        case blocked_lock::rwlock_writer: return lock_kind::write;
        case blocked_lock::unknown: break;
    }
    return lock_kind::unknown;
}

/// Finds the work of the waiting threads at the starts of the waits.
void find_waiters(const trace& loaded, std::vector<lock_wait>& waits) {
    std::vector<bool> waiting(loaded.threads.size());
    std::vector<lock_wait*> by_start;
    for (lock_wait& each : waits) {
        if (each.waiter.thread >= waiting.size()) continue;
        waiting[each.waiter.thread] = true;
        by_start.push_back(&each);
    }
    std::ranges::stable_sort(by_start, {}, [](const lock_wait* each) { return each->start_ns; });
    const slices_of_threads slices(loaded, waiting);
    open_scopes scopes(loaded);
    for (lock_wait* each : by_start) {
        thread_work& waiter = each->waiter;
        waiter.task = slices.task_at(waiter.thread, each->start_ns);
        waiter.scope = scopes.innermost(waiter.thread, waiter.task, each->start_ns);
    }
}

}  // namespace

std::vector<lock_wait> sampled_lock_waits(const trace& loaded) {
    const std::vector<blocked_look>& looks = loaded.states.looks;
    const std::vector<lock_holder> holders = lock_holders(loaded);
    const recorded_waits recorded(loaded);
    std::vector<lock_wait> found;
    for (std::size_t at = 0; at < looks.size(); ++at) {
        const blocked_look& look = looks[at];
        if (look.holder_os_id == 0 || recorded.cover(look.thread, look.time_ns)) continue;
        lock_wait wait;
        set_times(loaded, look, wait);
        if (!found.empty() && found.back().waiter.thread == look.thread &&
            found.back().address == look.address && found.back().start_ns == wait.start_ns) {
            found.back().end_ns = std::max(found.back().end_ns, wait.end_ns);
            continue;
        }
        wait.address = look.address;
        wait.kind = kind_of(look.lock);
        wait.waiter.thread = look.thread;
        wait.holder_os_id = look.holder_os_id;
        wait.holder = {holders[at].thread, holders[at].task, holders[at].event};
        found.push_back(wait);
    }
    if (!found.empty()) find_waiters(loaded, found);
    return found;
}

}  // namespace coroscope::analysis::inline answers
