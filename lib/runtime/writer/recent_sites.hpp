// SPDX-License-Identifier: Apache-2.0
#pragma once

// A cache of the sites of source locations that were looked up last, in front of the table of
// sites.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sites.hpp"

namespace coroscope::runtime::inline writer {

/// The cache for one kind of site. An entry is one word: address (48 bits) | id (16 bits). A null
/// location is not special: its entry is an empty slot, with the id 0.
template <site_kind Kind>
class recent_sites {
public:
    /// Returns false if the location is not in the cache.
    [[gnu::always_inline]] static bool find(const void* location, std::uint32_t& id) noexcept {
        const std::uint64_t entry = slot_of(location).load(std::memory_order_relaxed);
        const std::uint64_t found = entry ^ (reinterpret_cast<std::uintptr_t>(location) << 16);
        id = static_cast<std::uint32_t>(found);
        return found < 1U << 16;
    }

    static void keep(const void* location, std::uint32_t id) noexcept {
        if (id < 1U << 16)
            slot_of(location).store(reinterpret_cast<std::uintptr_t>(location) << 16 | id,
                                    std::memory_order_relaxed);
    }

    /// Empties the cache. After a library was unloaded, another library's data may be at the cached
    /// addresses.
    static void forget() noexcept {
        for (std::atomic<std::uint64_t>& each : kept) each.store(0, std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t slots = 256;
    // Locations are aligned. Most keys of coroutines are hashed (spawn_key()).
    static constexpr std::uintptr_t distance = Kind == site_kind::coroutine ? 1 : sizeof(void*);

    [[gnu::always_inline]] static std::atomic<std::uint64_t>&
    slot_of(const void* location) noexcept {
        return kept[reinterpret_cast<std::uintptr_t>(location) / distance % slots];
    }

    static constinit inline std::atomic<std::uint64_t> kept[slots]{};
};

}  // namespace coroscope::runtime::inline writer
