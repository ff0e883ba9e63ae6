// SPDX-License-Identifier: Apache-2.0

#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>

#include "attribute_nodes.hpp"
#include "frames.hpp"
#include "live_transitions.hpp"
#include "observer_registry.hpp"
#include "recent_sites.hpp"
#include "recorder.hpp"
#include "session_return.hpp"
#include "task_recording.hpp"

namespace coroscope::detail {

namespace {

using namespace runtime;

constinit std::atomic<std::uint64_t> next_id_block{0};

template <site_kind Kind>
[[gnu::noinline]] std::uint32_t look_up_site(const void* location) noexcept {
    site* where = intern_location(location, Kind);
    const std::uint32_t id = where == nullptr ? 0 : site_id(*where);
    recent_sites<Kind>::keep(location, id);
    return id;
}

template <site_kind Kind>
[[gnu::always_inline]] inline std::uint32_t site_id_at(const void* location) noexcept {
    std::uint32_t id = 0;
    return recent_sites<Kind>::find(location, id) ? id : look_up_site<Kind>(location);
}

std::uint32_t site_id_of(site* where) noexcept { return where == nullptr ? 0 : site_id(*where); }

}  // namespace

std::uint32_t spawn_site_id(const task_state& task) noexcept {
    if (task.where == nullptr && (task.flags & task_fiber) != 0) [[unlikely]]
        return site_id_of(intern_operation("", "fiber"));
    return site_id_at<site_kind::coroutine>(task.where);
}

namespace {

std::uint64_t parent_of(const task_state& task) noexcept { return task.parent >> mark_thread_bits; }

std::uint32_t kind_flags(const task_state& task) noexcept {
    return (task.flags & task_fiber) != 0 ? trace::spawn_fiber : 0U;
}

bool keeps_table() noexcept { return (load_gate() & gate_task_table) != 0; }

// Its site's id first: a place that was found before a stop would outlast the definitions.
void record_start(task_state& task, std::uint64_t ticks, std::uint32_t flags) noexcept {
    const std::uint32_t site = spawn_site_id(task);
    char* at = reserve();
    if (at == nullptr) return;
    task.announced = static_cast<std::uint16_t>(this_thread.bound_session);
    write_record(at, ticks, make_tag(record_kind::spawn, site, flags), task.task, parent_of(task));
    record_carried(task.task, task.carried);
    if (keeps_table()) keep_in_task_table({task.task, ticks, parent_of(task), site, flags});
}

// A place for a record about `task`, which the session knows from here on: one that is older is
// announced, its spawn time unknown.
[[gnu::noinline]] char* announce(task_state& task) noexcept {
    record_start(task, 0, trace::spawn_adopted | kind_flags(task));
    return reserve();
}

// `records`: how many are lost where there is no place; 0 where only the announcement is at stake.
[[gnu::always_inline]] inline char* reserve_for(task_state& task, unsigned records = 1) noexcept {
    char* at = reserve(records);
    if (at == nullptr) return nullptr;
    if (task.announced != static_cast<std::uint16_t>(this_thread.bound_session)) [[unlikely]]
        return announce(task);
    return at;
}

}  // namespace

std::uint64_t record_spawn(task_state& task, bool started) noexcept {
    const std::uint64_t ticks = now();
    const std::uint32_t when = started ? trace::spawn_started | trace::spawn_ready : 0U;
    record_start(task, ticks, kind_flags(task) | when);
    return ticks;
}

std::uint64_t record_suspend(task_state& task, const resumer& next) noexcept {
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::suspend, task.await_site, 0), task.task,
                     task_of(next.mark));
    repeat_carried(task_of(next.mark), next.carried);
    return ticks;
}

void record_resume(task_state& task, std::uint64_t suspended_at) noexcept {
    const void* frame = frame_address(task);
    const bool handed_over = frame != nullptr && this_thread.handover_target == frame &&
                             this_thread.handover_ticks >= suspended_at;
    this_thread.handover_target = nullptr;
    const context_change under_way;
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks,
                     make_tag(record_kind::resume, 0, handed_over ? trace::resume_handed_over : 0U),
                     task.task, task_of(task.before.mark));
    repeat_carried(task.task, task.carried);
}

void record_cancel(task_state& task) noexcept {
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::cancel, 0, 0), task.task, 0);
}

std::uint64_t record_finish(task_state& task, const resumer& next) noexcept {
    if (keeps_table()) drop_from_task_table(task.task, task.carried);
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::finish, 0, end_flags(task)), task.task,
                     task_of(next.mark));
    repeat_carried(task_of(next.mark), next.carried);
    return ticks;
}

std::uint64_t record_transfer(task_state& awaiter, task_state& awaited) noexcept {
    if (awaited.announced != awaiter.announced) reserve_for(awaited, 0);
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(awaiter))
        write_record(at, ticks, make_tag(record_kind::transfer, awaiter.await_site, 0),
                     awaiter.task, awaited.task);
    repeat_carried(awaited.task, awaited.carried);
    return ticks;
}

void record_finish_transfer(task_state& finished, task_state& resumed) noexcept {
    if (keeps_table()) drop_from_task_table(finished.task, finished.carried);
    if (finished.announced != resumed.announced) reserve_for(resumed, 0);
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(finished))
        write_record(at, ticks, make_tag(record_kind::finish_transfer, 0, end_flags(finished)),
                     finished.task, resumed.task);
    repeat_carried(resumed.task, resumed.carried);
}

// In its own session, whoever destroys it: where it runs, that is the thread's.
void record_destroyed(task_state& task) noexcept {
    const bool runs_here = (task.flags & task_installed) != 0;
    const session_switch own(carried_session(runs_here ? this_thread.carried : task.carried));
    if (!is_recording()) return;
    if (keeps_table()) drop_from_task_table(task.task, task.carried);
    const std::uint64_t ticks = now();
    const bool ran = (task.flags & task_started) != 0;
    const std::uint32_t flags =
        end_flags(task) | (ran ? trace::finish_destroyed : trace::finish_cancelled);
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::finish, 0, flags), task.task,
                     task_of(this_thread.mark));
}

void record_transition(task_state& task, trace::record_kind kind, std::uint32_t id,
                       std::uint32_t value, std::uint64_t other) noexcept {
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(kind, id, value), task.task, other);
}

std::uint64_t refill_task_ids() noexcept {
    const std::uint64_t first =
        next_id_block.fetch_add(1, std::memory_order_relaxed) * task_id_block + 1;
    this_thread.next_task = first + 1;
    return first;
}

std::uint32_t await_site_id(const void* location) noexcept {
    return site_id_at<site_kind::await>(location);
}
std::uint32_t await_site_id(site& label) noexcept { return site_id(label); }

}  // namespace coroscope::detail

namespace coroscope::runtime {
namespace {

// Room in one chunk for a task's start once more, for what may be told of its context and the next one's, and for
// its end: a ring that has overwritten the first would still hold the last.
char* reserve_for_end(std::uint64_t carried) noexcept {
    constexpr std::size_t usual_attributes = 1024;
    const std::size_t together =
        4 * long_record_bytes + (detail::carried_attributes(carried) != 0 ? usual_attributes : 0);
    char* at = reserve();
    const bool fits = at == nullptr || at + together <= load_limit();
    return fits ? at : refill_bytes(this_thread, together);
}

}  // namespace

void keep_in_task_table(const trace::task_slot& slot) noexcept {
    if (this_thread.record == nullptr) return;
    const store_use use(*this_thread.record, effective_generation(this_thread));
    if (use.owner() != nullptr && use.owner()->task_table) use.owner()->store->put_task(slot);
}

void drop_from_task_table(std::uint64_t task, std::uint64_t carried) noexcept {
    if (this_thread.record == nullptr) return;
    trace::task_slot slot{};
    {
        const store_use use(*this_thread.record, effective_generation(this_thread));
        if (use.owner() != nullptr && use.owner()->task_table)
            slot = use.owner()->store->take_task(task);
    }
    if (slot.task == 0) return;
    char* at = reserve_for_end(carried);
    if (at == nullptr) return keep_in_task_table(slot);  // the ring may hold records of it
    write_record(at, slot.spawn_ticks,
                 make_tag(record_kind::spawn, slot.site, slot.flags | trace::spawn_adopted),
                 slot.task, slot.parent);
    record_carried(task, carried);
}

}  // namespace coroscope::runtime
