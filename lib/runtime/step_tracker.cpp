// SPDX-License-Identifier: Apache-2.0
#include <coroscope/step_tracker.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

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

// Lives as long as the process: threads may step while it ends.
std::recursive_mutex& mutex() noexcept {
    alignas(std::recursive_mutex) static unsigned char place[sizeof(std::recursive_mutex)];
    static auto* const made = ::new (static_cast<void*>(place)) std::recursive_mutex;
    return *made;
}

constinit requester_entry* requesters = nullptr;
constinit observer_slot observers[observer_limit];
constinit std::int64_t current_step = -1;

requester_entry** place_of(const char* name) noexcept {
    requester_entry** at = &requesters;
    while (*at != nullptr && std::strcmp((*at)->name, name) != 0) at = &(*at)->next;
    return at;
}

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

void tell_observers(std::int64_t delta) noexcept {
    for (const observer_slot& each : observers) {
        if (each.called != nullptr) each.called(each.data, current_step, delta);
    }
}

}  // namespace

void init(const char* requester) noexcept {
    const std::lock_guard lock(mutex());
    start_counting(requester);
}

bool erase(const char* requester) noexcept {
    const std::lock_guard lock(mutex());
    requester_entry** const place = place_of(requester);
    requester_entry* const gone = *place;
    if (gone == nullptr) return false;
    *place = gone->next;
    std::free(gone);
    return true;
}

step_count increment(const char* requester, std::uint32_t steps) noexcept {
    const std::lock_guard lock(mutex());
    requester_entry* mine = *place_of(requester);
    if (mine == nullptr) mine = start_counting(requester);
    if (mine == nullptr) return {current_step, 0, "There is no memory to count this step."};
    mine->steps += steps;
    std::int64_t most = current_step;
    for (const requester_entry* each = requesters; each != nullptr; each = each->next)
        most = std::max(most, each->steps);
    const std::int64_t delta = most - current_step;
    if (delta == 0) return {current_step, 0, ""};
    current_step = most;
    tell_observers(delta);
    return {most, delta, delta > 1 ? "Profiler step count has increased more than 1" : ""};
}

std::int64_t current() noexcept {
    const std::lock_guard lock(mutex());
    return current_step;
}

int add_observer(observer called, void* data) noexcept {
    const std::lock_guard lock(mutex());
    for (int at = 0; at < observer_limit; ++at) {
        if (observers[at].called != nullptr) continue;
        observers[at] = {called, data};
        return at + 1;
    }
    return 0;
}

bool remove_observer(int handle) noexcept {
    const std::lock_guard lock(mutex());
    if (handle < 1 || handle > observer_limit || observers[handle - 1].called == nullptr)
        return false;
    observers[handle - 1] = {};
    return true;
}

}  // namespace coroscope::step_tracker
