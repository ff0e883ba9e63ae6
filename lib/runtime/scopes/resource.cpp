// SPDX-License-Identifier: Apache-2.0
#include <coroscope/resource.hpp>

#include <iterator>

#include <coroscope/trace/resource_format.hpp>

#include "../writer/recorder.hpp"
#include "resource_holders.hpp"

namespace coroscope::detail {

using namespace runtime;

namespace {

// The categories of resources' sites, by resource_kind. Their addresses are part of the sites'
// keys.
constexpr const char* kind_names[] = {"mutex", "semaphore", "pool", "channel", "other", "future"};

const char* name_of(resource_kind kind) noexcept {
    constexpr auto unknown = static_cast<std::size_t>(resource_kind::other);
    const auto index = static_cast<std::size_t>(kind);
    return kind_names[index < std::size(kind_names) ? index : unknown];
}

// Returns the id of the resource's site, which is registered at the first record.
std::uint32_t site_of(resource_state& of) noexcept {
    const std::uint32_t known = __atomic_load_n(&of.site, __ATOMIC_RELAXED);
    if (known != 0) return known;
    const char* const kind = name_of(of.kind);
    const bool named = of.name != nullptr && *of.name != '\0';
    site* const made = intern_resource(named ? of.name : kind, kind);
    const std::uint32_t id = made == nullptr ? 0 : site_id(*made);
    __atomic_store_n(&of.site, id, __ATOMIC_RELAXED);
    return id;
}

// Numbers resources in the order of their first records. Of two threads that number one at the same
// time, the later one takes the other's number.
std::uint32_t instance_of(resource_state& of) noexcept {
    static constinit std::uint32_t last = 0;
    std::uint32_t number = __atomic_load_n(&of.instance, __ATOMIC_RELAXED);
    if (number != 0) return number;
    const std::uint32_t next = __atomic_add_fetch(&last, 1U, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&of.instance, &number, next, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    return number != 0 ? number : next;
}

// Returns the mark of the current task and thread, or 0 if nothing records: without a session a
// thread does not know its task.
std::uint64_t recorded_mark() noexcept {
    return register_thread(this_thread) != nullptr && is_recording() ? this_thread.mark : 0;
}

// The bits of resource_state::shared of a resource that several can have.
enum : std::uint32_t {
    handed_on = 1U << 0,        // a task released an element of another task
    held_by_threads = 1U << 1,  // code outside tasks acquired it
};

// Anybody may take from a channel or make room in it. A semaphore of capacity 0 is a signal.
bool has_several_holders(const resource_state& of) noexcept {
    return !of.exclusive && of.kind != resource_kind::channel &&
           (of.kind != resource_kind::semaphore || of.capacity != 0);
}

bool is_known_of(const resource_state& of, std::uint32_t what) noexcept {
    return (__atomic_load_n(&of.shared, __ATOMIC_RELAXED) & what) != 0;
}
void learn(resource_state& of, std::uint32_t what) noexcept {
    if (!is_known_of(of, what)) __atomic_fetch_or(&of.shared, what, __ATOMIC_RELAXED);
}

// The same thread may do unrelated work between an acquisition and a release, so only tasks are
// remembered.
void add_holder(resource_state& of, std::uint64_t mark, std::uint64_t acquired) noexcept {
    __atomic_store_n(&of.waiting, 1U, __ATOMIC_RELAXED);  // from now on releases are noted
    if (trace::mark_task(mark) == 0) return learn(of, held_by_threads);
    if (!is_known_of(of, handed_on)) remember_holder(instance_of(of), mark, acquired);
}

// Returns whether the releaser should have been found among the holders.
bool is_expected_holder(const resource_state& of, std::uint64_t mark) noexcept {
    const bool notes_all = __atomic_load_n(&of.holder, __ATOMIC_RELAXED) != 0;
    if (!notes_all || of.capacity == 0 || of.capacity > most_holders) return false;
    if (trace::mark_task(mark) == 0) return !is_known_of(of, held_by_threads);
    return !is_older_than_session(mark);
}

void end_hold(resource_state& of, std::uint64_t mark) noexcept {
    const bool is_found =
        trace::mark_task(mark) != 0 && remember_release(instance_of(of), mark, now());
    if (!is_found && is_expected_holder(of, mark)) learn(of, handed_on);
}

void take_ended_hold(resource_state& of, trace::resource_wait_body& wait) noexcept {
    if (is_known_of(of, handed_on)) return;
    const ended_hold found = find_ended_hold(instance_of(of), wait.start, wait.waiter);
    wait.holder = found.holder;
    wait.releaser = found.releaser;
    wait.released = found.released;
}

void take_release(resource_state& of, wait_end how, trace::resource_wait_body& wait) noexcept {
    if (how == wait_end::gave_up) return;
    if (has_several_holders(of)) return take_ended_hold(of, wait);
    if (!of.exclusive) return;
    const std::uint64_t released = __atomic_load_n(&of.released, __ATOMIC_RELAXED);
    if (released <= wait.start) return;
    // It is unknown whether the writer's release or a later release of a sharer ended the wait.
    if (how == wait_end::acquired && __atomic_load_n(&of.shared, __ATOMIC_RELAXED) != 0) return;
    wait.released = released;
    wait.releaser = __atomic_load_n(&of.releaser, __ATOMIC_RELAXED);
}

std::uint32_t flags_of(const resource_state& of, wait_end how) noexcept {
    const bool notes_holders =
        has_several_holders(of) && __atomic_load_n(&of.holder, __ATOMIC_RELAXED) != 0;
    const std::uint32_t noted =
        (notes_holders ? trace::resource_wait_holders_noted : 0U) |
        (has_several_holders(of) && is_known_of(of, handed_on) ? trace::resource_wait_handed_on
                                                               : 0U);
    switch (how) {
        case wait_end::shared: return noted | trace::resource_wait_shared;
        case wait_end::gave_up: return noted | trace::resource_wait_gave_up;
        case wait_end::acquired: break;
    }
    return noted;
}

}  // namespace

begun_resource_wait begin_resource_wait(resource_state& of) noexcept {
    if (register_thread(this_thread) == nullptr || !is_recording()) return {};
    // Must come before the clock is read. A holder that does not see this wait yet then notes no
    // release, or one before the wait's start, which is ignored.
    if (of.exclusive) __atomic_fetch_add(&of.waiting, 1U, __ATOMIC_SEQ_CST);
    return {now(), of.exclusive ? __atomic_load_n(&of.holder, __ATOMIC_RELAXED) : 0};
}

void end_resource_wait(resource_state& of, const begun_resource_wait& begun,
                       wait_end how) noexcept {
    trace::resource_wait_body wait{};
    wait.start = begun.start;
    wait.holder = begun.holder;
    wait.waiter = recorded_mark();
    take_release(of, how, wait);
    if (of.exclusive) {
        __atomic_fetch_sub(&of.waiting, 1U, __ATOMIC_RELAXED);
        if (how == wait_end::acquired) __atomic_store_n(&of.holder, wait.waiter, __ATOMIC_RELAXED);
    }
    if (this_thread.record == nullptr) return count_unregistered(1);
    if (wait.waiter == 0) return;  // no session records here any more
    const std::uint64_t end = now();
    wait.site = site_of(of);
    wait.instance = instance_of(of);
    if (has_several_holders(of) && how == wait_end::acquired) add_holder(of, wait.waiter, end);
    write_fact(end, trace::make_resource_wait_id(flags_of(of, how), of.capacity), wait);
}

void note_resource_holder(resource_state& of) noexcept {
    const std::uint64_t mark = recorded_mark();
    if (of.exclusive) return __atomic_store_n(&of.holder, mark, __ATOMIC_RELAXED);
    if (mark == 0 || !has_several_holders(of)) return;
    __atomic_store_n(&of.holder, 1U, __ATOMIC_RELAXED);  // acquisitions without a wait are noted
    add_holder(of, mark, now());
}

void note_resource_release(resource_state& of) noexcept {
    if (!of.exclusive) {
        const std::uint64_t mark = recorded_mark();
        if (mark != 0 && has_several_holders(of)) end_hold(of, mark);
        return;
    }
    __atomic_store_n(&of.releaser, recorded_mark(), __ATOMIC_RELAXED);
    __atomic_store_n(&of.released, now(), __ATOMIC_RELAXED);
    __atomic_store_n(&of.shared, 0U, __ATOMIC_RELAXED);
    __atomic_store_n(&of.holder, std::uint64_t{0}, __ATOMIC_RELAXED);
}

}  // namespace coroscope::detail
