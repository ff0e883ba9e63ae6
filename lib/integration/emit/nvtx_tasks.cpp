// SPDX-License-Identifier: Apache-2.0

// Compiled with COROSCOPE_HAS_NVTX if NVTX's headers were found.

#if COROSCOPE_HAS_NVTX

#include "nvtx_tasks.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../runtime/base/forked_mutex.hpp"
#include "../../runtime/observers/observer_carrying.hpp"
#include "../../runtime/observers/observer_faults.hpp"
#include "../../runtime/observers/observer_registry.hpp"
#include "../../runtime/tasks/live_transitions.hpp"
#include "../../runtime/writer/sites.hpp"
#include "nvtx_event.hpp"

namespace coroscope::nvtx {
namespace {

using runtime::task_transition;

struct shown_task {
    observer_handle emitter = 0;
    const char* label = "";
    nvtxRangeId_t life = 0;
    pushed_ranges::entry* slice = nullptr;  ///< while it runs
};

struct task_emitter {
    observer_handle handle;
    bool all_threads;
};

nvtxEventAttributes_t attributes_of(const shown_task& task, std::uint64_t id) {
    return nvtx::attributes_of(task.label, task.label, "task", id);
}

bool is_carried_here(observer_handle handle) noexcept {
    const runtime::carried_observers carried = runtime::observers_here();
    if (!carried.enabled || carried.list == nullptr) return false;
    return std::any_of(
        carried.list->begin(), carried.list->end(),
        [handle](const runtime::observer_entry* entry) { return entry->handle == handle; });
}

// Locked outside the lock of the categories' numbers.
constinit runtime::forked_mutex tasks_mutex{runtime::fork_rank::outer};

[[gnu::constructor]] void hold_tasks_over_forks() noexcept { runtime::join_forks(tasks_mutex); }

class shown_tasks {
public:
    void add(const task_emitter& emitter) {
        const std::lock_guard lock(tasks_mutex);
        emitters_.push_back(emitter);
        if (emitters_.size() == 1) runtime::add_transition_listener(hear);
    }

    void remove(observer_handle handle) noexcept {
        const std::lock_guard lock(tasks_mutex);
        std::erase_if(emitters_,
                      [handle](const task_emitter& each) { return each.handle == handle; });
        if (emitters_.empty()) runtime::remove_transition_listener(hear);
        for (auto each = tasks_.begin(); each != tasks_.end();) {
            const bool ends = each->second.emitter == handle;
            if (ends) end(each->second);
            each = ends ? tasks_.erase(each) : std::next(each);
        }
    }

private:
    static void hear(task_transition what, std::uint64_t task, std::uint64_t other,
                     std::uint32_t site) noexcept;

    void change(task_transition what, std::uint64_t id, std::uint32_t site) {
        const std::lock_guard lock(tasks_mutex);
        if (what == task_transition::spawn) return spawn(id, site);
        const auto found = tasks_.find(id);
        if (found == tasks_.end()) return;
        leave(found->second);
        if (what == task_transition::resume) enter(found->second, id);
        if (what != task_transition::finish) return;
        end(found->second);
        tasks_.erase(found);
    }

    void spawn(std::uint64_t id, std::uint32_t site) {
        const auto seen =
            std::find_if(emitters_.begin(), emitters_.end(), [](const task_emitter& each) {
                return each.all_threads ? observers_enabled() : is_carried_here(each.handle);
            });
        if (seen == emitters_.end()) return;
        const runtime::known_site* where = site == 0 ? nullptr : runtime::find_site(site);
        const auto [added, is_new] = tasks_.try_emplace(
            id, shown_task{seen->handle, where == nullptr ? "task" : where->label});
        if (!is_new) return;
        const nvtxEventAttributes_t attributes = attributes_of(added->second, id);
        added->second.life = nvtxDomainRangeStartEx(domain(), &attributes);
    }

    static void enter(shown_task& task, std::uint64_t id) {
        const nvtxEventAttributes_t attributes = attributes_of(task, id);
        task.slice = &pushed_ranges::push();
        nvtxDomainRangePushEx(domain(), &attributes);
    }
    static void leave(shown_task& task) noexcept {
        if (task.slice != nullptr) pushed_ranges::end(*std::exchange(task.slice, nullptr));
    }
    static void end(shown_task& task) noexcept {
        leave(task);
        nvtxDomainRangeEnd(domain(), task.life);
    }

    std::vector<task_emitter> emitters_;
    std::unordered_map<std::uint64_t, shown_task> tasks_;
};

// Never destroyed, because tasks may end until the process ends.
shown_tasks& all() {
    static auto& only = *new shown_tasks;
    return only;
}

void shown_tasks::hear(task_transition what, std::uint64_t task, std::uint64_t,
                       std::uint32_t site) noexcept {
    try {
        all().change(what, task, site);
    } catch (...) {
        runtime::count_fault(runtime::observer_fault::no_memory);
    }
}

}  // namespace

void switch_tasks(bool on, const emit_options& options, observer_handle handle) noexcept {
    if (!options.tasks) return;
    if (!on) return all().remove(handle);
    try {
        all().add({handle, options.all_threads});
    } catch (...) {
        runtime::count_fault(runtime::observer_fault::no_memory);
    }
}

}  // namespace coroscope::nvtx

#endif
