// SPDX-License-Identifier: Apache-2.0
#include "task_recording.hpp"

#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>

#include "../carried/attribute.hpp"
#include "../carried/attribute_nodes.hpp"
#include "../carried/session_return.hpp"
#include "../writer/recent_sites.hpp"
#include "../writer/recorder.hpp"
#include "frames.hpp"
#include "left_out.hpp"
#include "overdue_resumes.hpp"

namespace coroscope::detail {

namespace {

using namespace runtime;

constinit std::atomic<std::uint64_t> next_id_block{0};

template <site_kind Kind>
[[gnu::noinline]] std::uint32_t look_up_site(const void* location,
                                             std::uint32_t frame_bytes) noexcept {
    site* where = intern_location(location, Kind, frame_bytes);
    const std::uint32_t id = where == nullptr ? 0 : site_id(*where);
    recent_sites<Kind>::keep(location, id);
    return id;
}

template <site_kind Kind>
[[gnu::always_inline]] inline std::uint32_t site_id_at(const void* location,
                                                       std::uint32_t frame_bytes = 0) noexcept {
    std::uint32_t id = 0;
    return recent_sites<Kind>::find(location, id) ? id : look_up_site<Kind>(location, frame_bytes);
}

std::uint32_t site_id_of(site* where) noexcept { return where == nullptr ? 0 : site_id(*where); }

[[gnu::noinline]] std::uint32_t look_up_spawn(const task_state& task, const void* key,
                                              const task_origin& origin) noexcept {
    // Each address is the end of an instruction. Lookups in debug information need an address
    // inside the instruction.
    const coroutine_facts facts{static_cast<std::uint32_t>(frame_bytes(task)), origin.inside - 1,
                                origin.caller - 1};
    site* const where = origin.caller == 0
                            ? intern_location(task.where, site_kind::coroutine, facts.frame_bytes)
                            : intern_spawn(task.where, facts);
    const std::uint32_t id = site_id_of(where);
    recent_sites<site_kind::coroutine>::keep(key, id);
    return id;
}

}  // namespace

std::uint32_t spawn_site_id(const task_state& task) noexcept {
    if (task.where == nullptr && (task.flags & task_fiber) != 0) [[unlikely]]
        return site_id_of(intern_operation("", "fiber"));
    return site_id_at<site_kind::coroutine>(task.where,
                                            static_cast<std::uint32_t>(frame_bytes(task)));
}

std::uint32_t spawn_site_id(const task_state& task, const task_origin& origin) noexcept {
    if (origin.inside == 0) return spawn_site_id(task);
    const void* const key = spawn_key(origin);
    std::uint32_t id = 0;
    return recent_sites<site_kind::coroutine>::find(key, id) ? id
                                                             : look_up_spawn(task, key, origin);
}

namespace {

std::uint64_t parent_of(const task_state& task) noexcept { return task.parent >> mark_thread_bits; }

std::uint32_t kind_flags(const task_state& task) noexcept {
    return (task.flags & task_fiber) != 0 ? trace::spawn_fiber : 0U;
}

bool keeps_table() noexcept { return (load_gate() & gate_task_table) != 0; }

// The site must be looked up before the place is reserved. Otherwise a stop in between could end
// the session's definitions, and the record would name a site that the trace does not define.
void record_start(task_state& task, std::uint32_t site, std::uint64_t ticks,
                  std::uint32_t flags) noexcept {
    char* at = reserve();
    if (at == nullptr) return;
    task.announced = announcement(task);
    write_record(at, ticks, make_tag(record_kind::spawn, site, flags), task.task, parent_of(task));
    record_carried(task.task, task.carried);
    if (keeps_table()) keep_in_task_table({task.task, ticks, parent_of(task), site, flags});
}

// Returns a place for a record about `task`. If the session does not know the task, records its
// start first, with an unknown spawn time, unless the task is left out.
[[gnu::noinline]] char* announce(task_state& task) noexcept {
    if (is_announced(task)) return reserve();
    if (is_left_out(carried_session(task.carried))) return nullptr;
    record_start(task, spawn_site_id(task), 0, trace::spawn_adopted | kind_flags(task));
    return reserve();
}

// Returns a place for a record about `task`, or null. `records` counts as lost if there is no
// place; it must be 0 if the caller only announces the task.
[[gnu::always_inline]] inline char* reserve_for(task_state& task, unsigned records = 1) noexcept {
    char* at = reserve(records);
    if (at == nullptr) return nullptr;
    if (!knows(task.announced)) [[unlikely]]
        return announce(task);
    return at;
}

}  // namespace

std::uint64_t record_spawn(task_state& task, const task_origin& origin, bool started) noexcept {
    const std::uint64_t ticks = now();
    const std::uint32_t when = started ? trace::spawn_started | trace::spawn_ready : 0U;
    record_start(task, spawn_site_id(task, origin), ticks, kind_flags(task) | when);
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

void record_resume(task_state& task, std::uint64_t suspended_at, std::uint32_t flags) noexcept {
    flags |= is_expected(task, suspended_at) ? trace::resume_handed_over
                                             : call_flags(task, suspended_at);
    this_thread.handover_target = nullptr;
    const context_change under_way;
    const std::uint64_t ticks = now();
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::resume, 0, flags), task.task,
                     task_of(task.before.mark));
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

// Records into the session of the task, whichever thread destroys it. If the task runs on this
// thread, that is the thread's session.
void record_destroyed(task_state& task) noexcept {
    const bool runs_here = (task.flags & task_installed) != 0;
    const session_switch own(session_of_end(task, runs_here ? this_thread.carried : task.carried));
    if (!is_recording()) return;
    if (keeps_table()) drop_from_task_table(task.task, task.carried);
    const std::uint64_t ticks = now();
    const bool ran = (task.flags & task_started) != 0;
    const std::uint32_t flags = end_flags(task) | service_flag() |
                                (ran ? trace::finish_destroyed : trace::finish_cancelled);
    if (char* at = reserve_for(task))
        write_record(at, ticks, make_tag(record_kind::finish, 0, flags), task.task,
                     task_of(this_thread.mark));
}

void record_outcome(std::uint64_t task, trace::await_outcome outcome) noexcept {
    runtime::write_fact(
        now(), trace::fact_id(trace::fact_kind::await_outcome, static_cast<std::uint32_t>(outcome)),
        trace::await_outcome_body{task, 0});
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

namespace coroscope::runtime::inline tasks {
namespace {

// Reserves room in one chunk for a repeated start of the task, for the records of its context and
// the next one's, and for its end. In different chunks a ring could overwrite the start and keep
// the end.
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

void name_in_task_table(std::uint64_t task, std::uint32_t site) noexcept {
    if (this_thread.record == nullptr) return;
    const store_use use(*this_thread.record, effective_generation(this_thread));
    if (use.owner() == nullptr || !use.owner()->task_table) return;
    trace::task_slot slot = use.owner()->store->take_task(task);
    if (slot.task == 0) return;
    slot.site = site;
    slot.flags |= trace::spawn_named;
    use.owner()->store->put_task(slot);
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
    const std::uint32_t flags =
        (slot.flags & ~std::uint32_t{trace::spawn_started}) | trace::spawn_adopted;
    write_record(at, slot.spawn_ticks, make_tag(record_kind::spawn, slot.site, flags), slot.task,
                 slot.parent);
    record_carried(task, carried);
}

}  // namespace coroscope::runtime::inline tasks
