// SPDX-License-Identifier: Apache-2.0
#include <coroscope/step_tracker.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <coroscope/detail/thread_state.hpp>

#include "../base/forks.hpp"
#include "../base/own_mutex.hpp"

namespace coroscope::step_tracker {
namespace {

// Requesters are few, so they are in a list. Each entry ends with its requester's name.
struct requester_entry {
    requester_entry* next;
    std::int64_t steps;
    char name[1];
};

struct observer_slot {
    observer called = nullptr;
    void* data = nullptr;
};

constinit runtime::own_mutex mutex;
constinit std::atomic<const void*> holder{
    nullptr};  // the thread that has it, by its state's address

// Returns whether this thread holds the lock. Observers are called under the lock and may call the
// tracker. A recursive mutex would not do: in a forked child its owner would be a thread that does
// not exist there.
bool is_held_here() noexcept {
    return holder.load(std::memory_order_relaxed) == &detail::this_thread;
}

class step_lock {
public:
    step_lock() noexcept : nested_(is_held_here()) {
        if (nested_) return;
        mutex.lock();
        holder.store(&detail::this_thread, std::memory_order_relaxed);
    }
    step_lock(const step_lock&) = delete;
    step_lock& operator=(const step_lock&) = delete;
    ~step_lock() {
        if (nested_) return;
        holder.store(nullptr, std::memory_order_relaxed);
        mutex.unlock();
    }

private:
    bool nested_;
};

constinit requester_entry* requesters = nullptr;
constinit observer_slot observers[observer_limit];
constinit std::int64_t current_step = -1;
constinit std::int64_t told_step = -1;  // the last step that observers have seen
constinit bool telling = false;

requester_entry** place_of(const char* name) noexcept {
    requester_entry** at = &requesters;
    while (*at != nullptr && std::strcmp((*at)->name, name) != 0) at = &(*at)->next;
    return at;
}

// A requester without a name has the name "".
const char* named(const char* requester) noexcept { return requester == nullptr ? "" : requester; }

// Finds or adds a requester, which counts from the current step. Returns null if memory is short.
requester_entry* start_counting(const char* name) noexcept {
    requester_entry** const place = place_of(name);
    if (*place == nullptr) {
        void* memory = std::malloc(sizeof(requester_entry) + std::strlen(name));
        if (memory == nullptr) return nullptr;
        auto* added = static_cast<requester_entry*>(memory);
        added->next = nullptr;
        std::memcpy(added->name, name, std::strlen(name) + 1);
        *place = added;
    }
    (*place)->steps = current_step;
    return *place;
}

void tell_each(std::int64_t step, std::int64_t delta) noexcept {
    for (const observer_slot& each : observers) {
        if (each.called != nullptr) each.called(each.data, step, delta);
    }
}

// A step that an observer adds is reported after all observers have seen the steps before it: each
// sees every step, in order.
void tell_observers() noexcept {
    if (telling) return;
    telling = true;
    while (told_step != current_step) {
        const std::int64_t delta = current_step - told_step;
        told_step = current_step;
        tell_each(told_step, delta);
    }
    telling = false;
}

}  // namespace

namespace {

// The lock for forks. An observer of steps may fork, and its thread holds the lock already.
struct lock_unless_held {
    static void lock() noexcept {
        if (!is_held_here()) mutex.lock();
    }
    static void unlock() noexcept {
        if (!is_held_here()) mutex.unlock();
    }
};
constinit lock_unless_held steps_lock;

constinit runtime::fork_guest steps_around_forks =
    runtime::guest_with<steps_lock>(runtime::fork_rank::steps);
[[gnu::constructor(101)]] void join_steps() noexcept { runtime::join_forks(steps_around_forks); }

}  // namespace

void init(const char* requester) noexcept {
    const step_lock lock;
    start_counting(named(requester));
}

bool erase(const char* requester) noexcept {
    const step_lock lock;
    requester_entry** const place = place_of(named(requester));
    requester_entry* const gone = *place;
    if (gone == nullptr) return false;
    *place = gone->next;
    std::free(gone);
    return true;
}

step_count increment(const char* requester, std::uint32_t steps) noexcept {
    const step_lock lock;
    requester_entry* mine = *place_of(named(requester));
    if (mine == nullptr) mine = start_counting(named(requester));
    if (mine == nullptr) return {current_step, 0, "There is no memory to count this step."};
    mine->steps += steps;
    std::int64_t most = current_step;
    for (const requester_entry* each = requesters; each != nullptr; each = each->next)
        most = std::max(most, each->steps);
    const std::int64_t delta = most - current_step;
    if (delta == 0) return {current_step, 0, ""};
    current_step = most;
    tell_observers();
    return {current_step, delta, delta > 1 ? "Profiler step count has increased more than 1" : ""};
}

std::int64_t current() noexcept {
    const step_lock lock;
    return current_step;
}

int add_observer(observer called, void* data) noexcept {
    const step_lock lock;
    for (int at = 0; at < observer_limit; ++at) {
        if (observers[at].called != nullptr) continue;
        observers[at] = {called, data};
        return at + 1;
    }
    return 0;
}

bool remove_observer(int handle) noexcept {
    const step_lock lock;
    if (handle < 1 || handle > observer_limit || observers[handle - 1].called == nullptr)
        return false;
    observers[handle - 1] = {};
    return true;
}

}  // namespace coroscope::step_tracker
