// SPDX-License-Identifier: Apache-2.0
#include "observation_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "../base/compiler_barrier.hpp"
#include "observer_faults.hpp"

namespace coroscope::detail {
namespace {

using runtime::observer_cache;

constexpr std::uint32_t usual_capacity = 4;
constexpr std::uint32_t most_free = 64;

observation* make_observation(std::uint32_t capacity) noexcept {
    const std::size_t bytes = sizeof(observation) + capacity * sizeof(started_observer);
    void* memory = ::operator new(bytes, std::nothrow);
    if (memory == nullptr) {
        count_fault(runtime::observer_fault::no_memory);
        return nullptr;
    }
    return new (memory) observation(capacity);
}

}  // namespace

// Replaces an observation that has too little room by one that has enough.
observation* take_observation(observer_cache& cache, std::uint32_t capacity) noexcept {
    while (observation* seen = cache.free) {
        cache.free = seen->next;
        --cache.free_count;
        if (seen->capacity >= capacity) return new (seen) observation(seen->capacity);
        free_observation(seen);
    }
    // A scope in the program's own operator new would need another observation.
    cache.changing = true;
    runtime::compiler_barrier();
    observation* made = make_observation(std::max(capacity, usual_capacity));
    runtime::compiler_barrier();
    cache.changing = false;
    return made;
}

void give_back(observation* seen, observer_cache* cache) noexcept {
    delete[] seen->long_name;
    delete seen->outputs;
    if (cache == nullptr || cache->changing || cache->free_count == most_free)
        return free_observation(seen);
    seen->next = cache->free;
    cache->free = seen;
    ++cache->free_count;
}

void free_observation(observation* seen) noexcept { ::operator delete(seen); }

void keep_name(observation& seen) noexcept {
    std::size_t kept = seen.facts.name_size;
    char* to = seen.short_name;
    if (kept >= sizeof seen.short_name) {
        to = seen.long_name = new (std::nothrow) char[kept + 1];
        if (to == nullptr) {
            count_fault(runtime::observer_fault::no_memory);
            to = seen.short_name;
            kept = sizeof seen.short_name - 1;
        }
    }
    if (kept != 0) std::memcpy(to, seen.facts.name, kept);
    to[kept] = '\0';
    seen.facts.name = to;
    seen.facts.name_size = kept;
}

}  // namespace coroscope::detail

namespace coroscope::runtime::inline observers {

void drop_observer_cache(detail::thread_record& record) noexcept {
    observer_cache* cache = record.observers;
    if (cache == nullptr) return;
    cache->changing = true;
    compiler_barrier();
    while (detail::observation* seen = cache->free) {
        cache->free = detail::next_of(*seen);
        detail::free_observation(seen);
    }
    release(cache->global);
    release(cache->carried);
    record.observers = nullptr;
    delete cache;
}

}  // namespace coroscope::runtime::inline observers
