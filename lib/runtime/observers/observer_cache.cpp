// SPDX-License-Identifier: Apache-2.0
#include "observer_cache.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "../base/compiler_barrier.hpp"
#include "observer_faults.hpp"

namespace coroscope::runtime::inline observers {
namespace {

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t next_random(std::uint64_t& state) noexcept {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

// The number of trials up to the first success, from 1, by inversion: 1 + floor(ln u / ln(1 - p)),
// u in (0, 1].
std::uint32_t draw_countdown(std::uint64_t& state, double probability) noexcept {
    constexpr double most = std::numeric_limits<std::uint32_t>::max();
    const double u = (static_cast<double>(next_random(state) >> 11) + 1) * 0x1p-53;
    return static_cast<std::uint32_t>(
        std::min(1 + std::floor(std::log(u) / std::log1p(-probability)), most));
}

// In place of a cache while its memory is allocated: the program's malloc may have a scope.
constinit observer_cache cache_being_made{.changing = true};

observer_cache* make_cache(detail::thread_record& record) noexcept {
    record.observers = &cache_being_made;
    compiler_barrier();
    record.observers = new (std::nothrow) observer_cache;
    if (record.observers == nullptr) count_fault(observer_fault::no_memory);
    return record.observers;
}

// Takes the list's reference over.
sampled_list* sample(observer_list* list) noexcept {
    if (list == nullptr) return nullptr;
    void* memory = ::operator new(sizeof(sampled_list) + list->size * sizeof(observer_countdowns),
                                  std::nothrow);
    if (memory == nullptr) {
        count_fault(observer_fault::no_memory);
        release(list);
        return nullptr;
    }
    auto* sampled = new (memory) sampled_list{{1}, list};
    for (std::uint32_t at = 0; at < list->size; ++at)
        new (sampled->countdowns() + at) observer_countdowns{};
    return sampled;
}

std::uint64_t first_state(std::uint32_t thread) noexcept {
    const std::uint64_t seed = sampling_seed();
    if (seed != 0) return seed;
    return detail::monotonic_ticks() ^ std::uint64_t{thread} << 40;
}

// The old list is released last, because the destructor of one of its callables may have scopes.
void bring_up_to_date(observer_cache& cache, std::uint32_t thread) noexcept {
    cache.changing = true;
    compiler_barrier();
    sampled_list* before = cache.global;
    sampled_list* carried = cache.carried;
    cache.global = sample(global_observers(cache.version));
    cache.carried = nullptr;
    cache.random = first_state(thread);
    compiler_barrier();
    cache.changing = false;
    release(before);
    release(carried);
}

}  // namespace

void release(sampled_list* sampled) noexcept {
    if (sampled == nullptr) return;
    if (sampled->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;  // pairs with itself
    release(sampled->list);
    ::operator delete(sampled);
}

observer_cache* current_cache(detail::thread_record& record) noexcept {
    observer_cache* cache = record.observers != nullptr ? record.observers : make_cache(record);
    if (cache == nullptr || cache->changing) return nullptr;
    if (cache->version != observer_version()) bring_up_to_date(*cache, record.id);
    return cache;
}

sampled_list* carried_here(observer_cache& cache, observer_list* list) noexcept {
    if (list == nullptr) return nullptr;
    if (cache.carried != nullptr && cache.carried->list == list) return cache.carried;
    cache.changing = true;
    compiler_barrier();
    sampled_list* before = cache.carried;
    cache.carried = sample(retain(list));
    compiler_barrier();
    cache.changing = false;
    release(before);
    return cache.carried;
}

bool is_sampled(observer_cache& cache, std::uint32_t& countdown, double probability) noexcept {
    if (probability >= 1) return true;
    if (probability <= 0) return false;
    if (countdown == 0) countdown = draw_countdown(cache.random, probability);
    return --countdown == 0;
}

}  // namespace coroscope::runtime::inline observers
