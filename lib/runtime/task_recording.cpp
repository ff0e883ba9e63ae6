// SPDX-License-Identifier: Apache-2.0

// The recording half of task transitions. Each function writes one record on the thread where the
// transition happens; a task that the session does not know yet is announced first.

#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>

#include "attribute_nodes.hpp"
#include "frames.hpp"
#include "live_transitions.hpp"
#include "observer_registry.hpp"
#include "recorder.hpp"

namespace coroscope::detail {

namespace {

using namespace runtime;

constexpr std::uint64_t id_block = 1024;
constinit std::atomic<std::uint64_t> next_id_block{0};

// The sites of one kind that were asked for last, by address: address (48 bits) | id (16 bits) in one word.
constexpr std::size_t recent_slots = 256;
template <site_kind Kind>
constinit std::atomic<std::uint64_t> recent_sites[recent_slots];

template <site_kind Kind>
[[gnu::noinline]] std::uint32_t look_up_site(const void* location,
                                             std::atomic<std::uint64_t>& recent) noexcept {
    site* where = intern_location(location, Kind);
    const std::uint32_t id = where == nullptr ? 0 : site_id(*where);
    if (id < 1U << 16)
        recent.store(reinterpret_cast<std::uintptr_t>(location) << 16 | id,
                     std::memory_order_relaxed);
    return id;
}

template <site_kind Kind>
[[gnu::always_inline]] inline std::uint32_t recent_site_id(const void* location) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(location);
    std::atomic<std::uint64_t>& recent = recent_sites<Kind>[address / sizeof(void*) % recent_slots];
    const std::uint64_t entry = recent.load(std::memory_order_relaxed);
    if (entry >> 16 == address << 16 >> 16) [[likely]]
        return static_cast<std::uint32_t>(entry & 0xffff);
    return look_up_site<Kind>(location, recent);
}

std::uint32_t site_id_of(site* where) noexcept { return where == nullptr ? 0 : site_id(*where); }

}  // namespace

// A location of null is kept like any other: its entry is an empty slot, id 0.
std::uint32_t spawn_site_id(const task_state& task) noexcept {
    if (task.where == nullptr && (task.flags & task_fiber) != 0) [[unlikely]]
        return site_id_of(intern_operation("", "fiber"));
    return recent_site_id<site_kind::coroutine>(task.where);
}

namespace {

std::uint64_t parent_of(const task_state& task) noexcept { return task.parent >> mark_thread_bits; }

void put_in_table(const task_state& task, std::uint64_t ticks, std::uint32_t flags) noexcept {
    keep_in_task_table({task.task, ticks, parent_of(task), spawn_site_id(task), flags});
}

std::uint32_t kind_flags(const task_state& task) noexcept {
    return (task.flags & task_fiber) != 0 ? trace::spawn_fiber : 0U;
}

bool keeps_table() noexcept { return (load_gate() & gate_task_table) != 0; }

void write_spawn(char* at, task_state& task, std::uint64_t ticks, std::uint32_t flags) noexcept {
    write_record(at, ticks, make_tag(record_kind::spawn, spawn_site_id(task), flags), task.task,
                 parent_of(task));
}

// A place for a record about `task`, which the session knows from here on: one that is older is
// announced, its spawn time unknown.
[[gnu::noinline]] char* announce(task_state& task, char* at) noexcept {
    task.announced = static_cast<std::uint16_t>(this_thread.bound_session);
    const std::uint32_t flags = trace::spawn_adopted | kind_flags(task);
    write_spawn(at, task, 0, flags);
    record_carried(task.task, task.carried);
    if (keeps_table()) put_in_table(task, 0, flags);
    return reserve();
}

// `records`: how many are lost where there is no place; 0 where only the announcement is at stake.
[[gnu::always_inline]] inline char* reserve_for(task_state& task, unsigned records = 1) noexcept {
    char* at = reserve(records);
    if (at == nullptr) return nullptr;
    if (task.announced != static_cast<std::uint16_t>(this_thread.bound_session)) [[unlikely]]
        return announce(task, at);
    return at;
}

std::uint32_t end_flags(const task_state& task) noexcept {
    return (task.flags & task_exception) != 0 ? trace::finish_exception : 0U;
}

std::uint64_t record_spawn(task_state& task, bool started) noexcept {
    const std::uint64_t ticks = now();
    const std::uint32_t flags =
        kind_flags(task) | (started ? trace::spawn_started | trace::spawn_ready : 0U);
    char* at = reserve();
    if (at == nullptr) return ticks;
    task.announced = static_cast<std::uint16_t>(this_thread.bound_session);
    write_spawn(at, task, ticks, flags);
    record_carried(task.task, task.carried);
    if (keeps_table()) put_in_table(task, ticks, flags);
    return ticks;
}

std::uint64_t record_suspend(task_state& task, std::uint64_t next_mark) noexcept {
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::suspend, task.await_site, 0), task.task,
                     task_of(next_mark));
    return ticks;
}

void record_resume(task_state& task, std::uint64_t suspended_at) noexcept {
    const void* frame = frame_address(task);
    const bool handed_over = frame != nullptr && this_thread.handover_target == frame &&
                             this_thread.handover_ticks >= suspended_at;
    this_thread.handover_target = nullptr;
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks,
                     make_tag(record_kind::resume, 0, handed_over ? trace::resume_handed_over : 0U),
                     task.task, task_of(task.before.mark));
}

void record_cancel(task_state& task) noexcept {
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::cancel, 0, 0), task.task, 0);
}

std::uint64_t record_finish(task_state& task, std::uint64_t next_mark) noexcept {
    if (keeps_table()) drop_from_task_table(task.task);
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::finish, 0, end_flags(task)), task.task,
                     task_of(next_mark));
    return ticks;
}

std::uint64_t record_transfer(task_state& awaiter, task_state& awaited) noexcept {
    if (awaited.announced != awaiter.announced) reserve_for(awaited, 0);
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(awaiter))
        write_record(at, ticks, make_tag(record_kind::transfer, awaiter.await_site, 0),
                     awaiter.task, awaited.task);
    return ticks;
}

void record_finish_transfer(task_state& finished, task_state& resumed) noexcept {
    if (keeps_table()) drop_from_task_table(finished.task);
    if (finished.announced != resumed.announced) reserve_for(resumed, 0);
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(finished))
        write_record(at, ticks, make_tag(record_kind::finish_transfer, 0, end_flags(finished)),
                     finished.task, resumed.task);
}

void record_destroyed(task_state& task) noexcept {
    if (keeps_table()) drop_from_task_table(task.task);
    const std::uint64_t ticks = now();
    const bool ran = (task.flags & task_started) != 0;
    const std::uint32_t flags =
        end_flags(task) | (ran ? trace::finish_destroyed : trace::finish_cancelled);
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::finish, 0, flags), task.task,
                     task_of(this_thread.mark));
}

}  // namespace

void record_transition(task_state& task, trace::record_kind kind, std::uint32_t id,
                       std::uint32_t value, std::uint64_t other) noexcept {
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(kind, id, value), task.task, other);
}

std::uint64_t refill_task_ids() noexcept {
    const std::uint64_t first =
        next_id_block.fetch_add(1, std::memory_order_relaxed) * id_block + 1;
    this_thread.next_task = first + 1;
    return first;
}

std::uint32_t await_site_id(const void* location) noexcept {
    return recent_site_id<site_kind::await>(location);
}
std::uint32_t await_site_id(site& label) noexcept { return site_id(label); }

void spawn_active(task_state& task, bool started) noexcept {
    task.carried = retain_carried(this_thread.carried);
    task.parent |= task_of(this_thread.mark) << mark_thread_bits;
    if (task.task == 0) task.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_spawn(task, started);
    task.before.mark = is_recording(gate) ? record_spawn(task, started) : 0;
    if (!started) return;
    task.before = current_resumer();
    install_task(task);
}

namespace {

// Word by word: copied as one vector it would wait for the words that were stored just before.
[[gnu::always_inline]] inline void copy_resumer(resumer& to, const resumer& from) noexcept {
    to.mark = from.mark;
    to.carried = from.carried;
    to.frame = from.frame;
}
[[gnu::always_inline]] inline void save_resumer(resumer& to) noexcept {
    to.mark = this_thread.mark;
    to.carried = this_thread.carried;
    to.frame = this_thread.frame;
}

// What the thread goes back to when the task leaves it: a task that was not installed, because
// nothing recorded when it was resumed, leaves things as they are.
[[gnu::always_inline]] inline void take_leave(const task_state& task, resumer& before) noexcept {
    if ((task.flags & task_installed) != 0) {
        copy_resumer(before, task.before);
    } else {
        save_resumer(before);
        before.carried = carried_session(before.carried);  // it was entered without attributes
    }
}

}  // namespace

void suspend_active(task_state& task, departure& leaving) noexcept {
    take_leave(task, leaving.before);
    if (task.task == 0) task.task = new_task_id();
    keep_carried(task.carried, this_thread.carried);
    set_flags(task, 0, task_installed);
    task.suspended = true;
    this_thread.frame = nullptr;  // it may be gone by the time that something asks for it
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::suspended, task.await_site);
    leaving.ticks = is_recording(gate) ? record_suspend(task, leaving.before.mark) : 0;
    task.before.mark = leaving.ticks;
}

void cancel_active(task_state& task, const resumer& before) noexcept {
    task.before = before;
    install_task(task);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::running, task.await_site);
    if (is_recording(gate)) record_cancel(task);
}

void resume_active(task_state& task) noexcept {
    task.suspended = false;
    if ((task.flags & task_entered) != 0) return set_flags(task, 0, task_entered);
    const std::uint64_t suspended_at = task.before.mark;
    set_flags(task, task_started);
    save_resumer(task.before);
    if (task.task == 0) task.task = new_task_id();
    // The task's session first, the task itself last: a chunk that the record opens names what ran
    // before it.
    if (this_thread.carried != task.carried) [[unlikely]]
        rebind(task.carried);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show(task, async_state::running, task.await_site);
    if (is_recording(gate)) record_resume(task, suspended_at);
    install_task(task);
}

void finish_active(task_state& task, departure& leaving) noexcept {
    take_leave(task, leaving.before);
    if (task.task == 0) task.task = new_task_id();
    this_thread.frame = nullptr;
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_end(task);
    leaving.ticks = is_recording(gate) ? record_finish(task, leaving.before.mark) : 0;
    drop_carried(task.carried);
}

void transfer_active(task_state& awaiter, task_state& awaited) noexcept {
    take_leave(awaiter, awaited.before);
    if (awaiter.task == 0) awaiter.task = new_task_id();
    keep_carried(awaiter.carried, this_thread.carried);
    set_flags(awaiter, 0, task_installed);
    awaiter.suspended = true;
    set_flags(awaited, task_entered | task_started);
    if (awaited.task == 0) awaited.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_transfer(awaiter, awaited);
    awaiter.before.mark = is_recording(gate) ? record_transfer(awaiter, awaited) : 0;
    install_task(awaited);
}

void finish_transfer_active(task_state& finished, task_state& resumed) noexcept {
    take_leave(finished, resumed.before);
    if (finished.task == 0) finished.task = new_task_id();
    if (resumed.task == 0) resumed.task = new_task_id();
    set_flags(resumed, task_entered | task_started);
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_hand_back(finished, resumed);
    if (is_recording(gate)) record_finish_transfer(finished, resumed);
    drop_carried(finished.carried);
    install_task(resumed);
}

void destroy_active(task_state& task) noexcept {
    if (task.task == 0) task.task = new_task_id();
    const std::int32_t gate = load_gate();
    if (may_track(gate)) [[unlikely]]
        show_end(task);
    if (is_recording(gate)) record_destroyed(task);
    drop_carried(task.carried);
    // One that is suspended has been left, or will be by whoever destroys it from its await_suspend.
    if (this_thread.frame == &task && (task.flags & task_installed) != 0) restore(task.before);
}

void restore(const resumer& before) noexcept {
    go_on_with(before.mark, before.carried, before.frame);
}

void rebind(std::uint64_t carried) noexcept {
    const bool same_session = carried_session(this_thread.carried) == carried_session(carried);
    this_thread.carried = carried;
    if (!same_session) update_gate(this_thread);
    if (contexts_carry_observers()) [[unlikely]]
        look_for_carried_observers();
}

}  // namespace coroscope::detail

namespace coroscope::runtime {

void keep_in_task_table(const trace::task_slot& slot) noexcept {
    if (this_thread.record == nullptr) return;
    const store_use use(*this_thread.record, effective_generation(this_thread));
    if (use.owner() != nullptr && use.owner()->task_table) use.owner()->store->put_task(slot);
}

void drop_from_task_table(std::uint64_t task) noexcept {
    if (this_thread.record == nullptr) return;
    trace::task_slot slot{};
    {
        const store_use use(*this_thread.record, effective_generation(this_thread));
        if (use.owner() != nullptr && use.owner()->task_table)
            slot = use.owner()->store->take_task(task);
    }
    if (slot.task == 0) return;
    if (char* at = reserve())
        write_record(at, slot.spawn_ticks,
                     make_tag(record_kind::spawn, slot.site, slot.flags | trace::spawn_adopted),
                     slot.task, slot.parent);
    else
        keep_in_task_table(slot);  // the ring may hold records of it
}

}  // namespace coroscope::runtime
