// SPDX-License-Identifier: Apache-2.0
#include "observer_registry.hpp"

#include <algorithm>
#include <new>

#include "../carried/attribute_nodes.hpp"
#include "../writer/recorder.hpp"
#include "observer_carrying.hpp"
#include "observer_faults.hpp"

namespace coroscope::runtime::inline observers {
namespace {

// The registry's lock guards all of these but `version`.
constinit observer_entry* registered = nullptr;  // the newest
constinit observer_list* global_list = nullptr;
constinit std::atomic<std::uint64_t> version{1};
constinit observer_handle last_handle = 0;
constinit std::uint64_t seed = 0;

void replace_global(observer_list* next) noexcept {
    global_list = next;
    version.fetch_add(1, std::memory_order_release);  // pairs with observer_version()
}

void enter(observer_entry& entry) noexcept {
    entry.handle = ++last_handle;
    entry.next = registered;
    registered = &entry;
}

observer_entry* take_registered(observer_handle handle) noexcept {
    for (observer_entry** at = &registered; *at != nullptr; at = &(*at)->next) {
        if ((*at)->handle != handle) continue;
        observer_entry* found = *at;
        *at = found->next;
        return found;
    }
    return nullptr;
}

observer_entry* make_entry(observer& added) noexcept {
    detail::observer_calls*& calls = observer_access::calls(added);
    const char*& message = observer_access::message(added);
    if (*message != '\0' || calls == nullptr) return nullptr;
    auto* entry = new (std::nothrow) observer_entry(calls, observer_access::options(added));
    message =
        entry == nullptr ? "There is no memory for an observer." : "It is registered already.";
    if (entry != nullptr) calls = nullptr;
    return entry;
}

constexpr std::int32_t observed_bit = detail::gate_observed & ~detail::gate_careful;

// A context may begin to carry observers meanwhile. Then either its thread opens its gate after we
// close it, or we see that contexts carry observers and open the gates again. Pairs with
// look_for_carried_observers().
void close_gates() noexcept {
    change_standing_gate(0, observed_bit);
    if (contexts_carry_observers()) return;
    change_all_gates(0, observed_bit);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (contexts_carry_observers()) change_all_gates(detail::gate_observed, 0);
}

}  // namespace

std::uint64_t observer_version() noexcept { return version.load(std::memory_order_acquire); }

observer_list* global_observers(std::uint64_t& of_version) noexcept {
    const std::lock_guard lock(registry_mutex());
    of_version = version.load(std::memory_order_relaxed);
    return retain(global_list);
}

std::uint64_t sampling_seed() noexcept {
    const std::lock_guard lock(registry_mutex());
    return seed;
}

void close_observer_gate() noexcept {
    const bool carried = has_observers(observers_here().list);
    const std::lock_guard lock(registry_mutex());
    if (!carried && !has_observers(global_list)) change_gate(this_thread, 0, observed_bit);
}

bool observer_holds_slot() noexcept {
    const auto holds = [](const observer_entry* entry) {
        return is_live(entry) && entry->options.holds_profiler_slot;
    };
    const auto any_holds = [&](const observer_list* list) {
        return list != nullptr && std::any_of(list->begin(), list->end(), holds);
    };
    if (any_holds(observers_here().list)) return true;
    const std::lock_guard lock(registry_mutex());
    return any_holds(global_list);
}

namespace {

observer_handle register_global(observer_entry& entry) noexcept {
    observer_list* before = nullptr;
    {
        const allocating_lock lock;
        observer_list* next = make_list(global_list, &entry);
        if (next == nullptr) return 0;
        before = global_list;
        enter(entry);
        replace_global(next);
        change_standing_gate(detail::gate_observed, 0);
        change_all_gates(detail::gate_observed, 0);
    }
    release(before);
    return entry.handle;
}

observer_handle register_carried(observer_entry& entry) noexcept {
    if (register_thread(this_thread) == nullptr) return 0;
    const carried_observers here = observers_here();
    observer_list* next = make_list(here.list, &entry);
    if (next == nullptr) return 0;
    entry.carried_by = carry_observers({next, here.enabled});
    if (entry.carried_by == 0) {
        release(next);
        return 0;
    }
    const std::lock_guard lock(registry_mutex());
    enter(entry);
    return entry.handle;
}

// If memory is short, the list keeps the removed entry, and threads skip it. Returns the old list,
// or null if it stays.
observer_list* leave_global() noexcept {
    observer_list* next = make_list(global_list, nullptr);
    observer_list* before = global_list;
    const bool all_gone = !has_observers(before);
    if (next == nullptr && !all_gone) return nullptr;
    replace_global(next);
    if (all_gone) close_gates();
    return before;
}

observer_handle added_as(observer& added, observer_handle (*enter_into)(observer_entry&)) noexcept {
    observer_entry* entry = make_entry(added);
    if (entry == nullptr) return 0;
    const observer_handle handle = enter_into(*entry);
    if (handle != 0) return handle;
    observer_access::message(added) = "There is no memory for an observer.";
    release(entry);
    return 0;
}

}  // namespace
}  // namespace coroscope::runtime::inline observers

namespace coroscope {

using namespace runtime;

observer_handle add_global_observer(observer& added) noexcept {
    return added_as(added, register_global);
}
observer_handle add_thread_local_observer(observer& added) noexcept {
    return added_as(added, register_carried);
}

bool remove_observer(observer_handle handle) noexcept {
    observer_entry* entry = nullptr;
    observer_list* before = nullptr;
    {
        const allocating_lock lock;
        entry = take_registered(handle);
        if (entry != nullptr) entry->removed.store(true, std::memory_order_relaxed);
        if (entry != nullptr && entry->carried_by == 0) before = leave_global();
    }
    if (entry == nullptr) {
        count_fault(observer_fault::unknown_handle);
        return false;
    }
    if (entry->carried_by != 0 && !stop_carrying(entry->carried_by))
        leave_observers(entry->carried_by);
    release(before);
    release(entry);
    return true;
}

void seed_observer_sampling(std::uint64_t next) noexcept {
    const std::lock_guard lock(registry_mutex());
    seed = next;
    version.fetch_add(1, std::memory_order_release);  // every cache draws new countdowns
}

}  // namespace coroscope
