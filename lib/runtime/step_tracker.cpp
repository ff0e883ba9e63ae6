// SPDX-License-Identifier: Apache-2.0
#include <coroscope/step_tracker.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <coroscope/detail/thread_state.hpp>

#include "forked_steps.hpp"

namespace coroscope::step_tracker {
namespace {

// Small and few: a list, whose entries end with their requester's name.
struct requester_entry {
    requester_entry* next;
    std::int64_t steps;
    char name[1];
};

struct observer_slot {
    observer called = nullptr;
    void* data = nullptr;
};

constinit std::mutex mutex;
constinit std::atomic<const void*> holder{
    nullptr};  // the thread that has it, by its state's address

// Observers are called under the lock, and may call the tracker. Not a recursive mutex: in a forked child that is locked by
// a thread which is not there.
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
constinit std::int64_t told_step = -1;  // the last one that observers were called for
constinit bool telling = false;

requester_entry** place_of(const char* name) noexcept {
    requester_entry** at = &requesters;
    while (*at != nullptr && std::strcmp((*at)->name, name) != 0) at = &(*at)->next;
    return at;
}

// Who gives no name is the requester "".
const char* named(const char* requester) noexcept { return requester == nullptr ? "" : requester; }

// Counts from the current step; null where there is no memory.
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

// What an observer adds is told when all have heard of what came before: each hears of every step, in order.
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

namespace coroscope::runtime {

void lock_steps() noexcept {
    if (!step_tracker::is_held_here()) step_tracker::mutex.lock();
}
void unlock_steps() noexcept {
    if (!step_tracker::is_held_here()) step_tracker::mutex.unlock();
}

}  // namespace coroscope::runtime
