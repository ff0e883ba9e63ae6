// SPDX-License-Identifier: Apache-2.0
#include "live_transitions.hpp"

#include <atomic>

#include "../devices/devices.hpp"
#include "frames.hpp"
#include "live_tasks.hpp"
#include "task_recording.hpp"

namespace coroscope::runtime::inline tasks {
namespace {

using detail::task_state;

constinit std::atomic<transition_listener> listeners[2] = {nullptr, nullptr};

// Returns whether there is no listener.
bool is_quiet() noexcept { return !may_track(detail::load_gate()); }

void tell(task_transition what, std::uint64_t task, std::uint64_t other,
          std::uint32_t site) noexcept {
    for (const auto& each : listeners)
        if (const transition_listener told = each.load(std::memory_order_relaxed))
            told(what, task, other, site);
}

void tell_runs(std::uint64_t task) noexcept {
    tell(task_transition::resume, task, 0, 0);
    constexpr std::int32_t unknown = detail::gate_unknown & ~detail::gate_careful;
    if ((detail::load_gate() & (detail::gate_devices | unknown)) != 0) follow_task(task);
}

void tell_state(std::uint64_t task, async_state state, std::uint32_t await_site) noexcept {
    if (state == async_state::suspended) return tell(task_transition::suspend, task, 0, await_site);
    tell_runs(task);
}

live_origin origin_of(const task_state& task) noexcept {
    return {task.task, task.parent >> detail::mark_thread_bits, detail::spawn_site_id(task)};
}

live_slot* show_at(const task_state& task, async_state state, std::uint32_t await_site,
                   std::int64_t now_ns) noexcept {
    return show_live(task.task, state, await_site, now_ns, [&task] { return origin_of(task); });
}

}  // namespace

void add_transition_listener(transition_listener listener) noexcept {
    for (auto& each : listeners) {
        transition_listener nobody = nullptr;
        if (each.compare_exchange_strong(nobody, listener, std::memory_order_relaxed)) return;
    }
}

void remove_transition_listener(transition_listener listener) noexcept {
    for (auto& each : listeners) {
        transition_listener present = listener;
        each.compare_exchange_strong(present, nullptr, std::memory_order_relaxed);
    }
}

void show_spawn(const task_state& task, bool started) noexcept {
    if (is_quiet()) return;
    const live_origin origin = origin_of(task);
    tell(task_transition::spawn, origin.task, origin.parent, origin.spawn_site);
    if (started) tell_runs(origin.task);
    if (!tracks_live()) return;
    add_live(origin, started ? async_state::running : async_state::spawned, live_now());
}

void show(const task_state& task, async_state state, std::uint32_t await_site) noexcept {
    if (is_quiet()) return;
    tell_state(task.task, state, await_site);
    if (tracks_live()) show_at(task, state, await_site, live_now());
}

void show_end(const task_state& task) noexcept { show_ended(task.task); }

void show_transfer(const task_state& awaiter, const task_state& awaited) noexcept {
    if (is_quiet()) return;
    tell(task_transition::suspend, awaiter.task, 0, awaiter.await_site);
    tell_runs(awaited.task);
    if (!tracks_live()) return;
    const std::int64_t now_ns = live_now();
    show_at(awaiter, async_state::suspended, awaiter.await_site, now_ns);
    live_slot* slot = show_at(awaited, async_state::running, awaited.await_site, now_ns);
    if (slot != nullptr) set_live_awaiter(*slot, awaiter.task);
}

void show_hand_back(const task_state& finished, const task_state& resumed) noexcept {
    show_end(finished);
    show(resumed, async_state::running, resumed.await_site);
}

void show_spawned(std::uint64_t task, std::uint64_t parent, std::uint32_t site) noexcept {
    if (is_quiet()) return;
    tell(task_transition::spawn, task, parent, site);
    if (tracks_live()) add_live({task, parent, site}, async_state::spawned, live_now());
}

void show_suspended(std::uint64_t task, std::uint32_t await_site) noexcept {
    if (is_quiet()) return;
    tell(task_transition::suspend, task, 0, await_site);
    if (tracks_live())
        show_live(task, async_state::suspended, await_site, live_now(),
                  [task] { return live_origin{task, 0, 0}; });
}

// The await that it was suspended in stays: it came back from there.
void show_running(std::uint64_t task) noexcept {
    if (is_quiet()) return;
    tell_runs(task);
    if (!tracks_live()) return;
    live_task known{};
    const std::uint32_t last = read_live(task, known) ? known.await_site : 0;
    show_live(task, async_state::running, last, live_now(),
              [task] { return live_origin{task, 0, 0}; });
}

void show_awaiter(std::uint64_t task, std::uint64_t awaiter) noexcept {
    live_slot* slot = tracks_live() ? find_live(task) : nullptr;
    if (slot != nullptr) set_live_awaiter(*slot, awaiter);
}

void show_named(std::uint64_t task, std::uint32_t site) noexcept {
    live_slot* slot = tracks_live() ? find_live(task) : nullptr;
    if (slot != nullptr) set_live_spawn_site(*slot, site);
}

void show_ended(std::uint64_t task) noexcept {
    if (is_quiet()) return;
    tell(task_transition::finish, task, 0, 0);
    if (tracks_live()) end_live(task);
}

}  // namespace coroscope::runtime::inline tasks
