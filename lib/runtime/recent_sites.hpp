// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sites of source locations that were asked for last: one look instead of the table of sites.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sites.hpp"

namespace coroscope::runtime {

/// Of one kind, by address: address (48 bits) | id (16 bits) in one word. A location of null is kept like any other: its
/// entry is an empty slot, id 0.
template <site_kind Kind>
class recent_sites {
public:
    /// False where the location is not among them.
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

    /// All of them: what stands at an address may be another library's by now.
    static void forget() noexcept {
        for (std::atomic<std::uint64_t>& each : kept) each.store(0, std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t slots = 256;

    [[gnu::always_inline]] static std::atomic<std::uint64_t>&
    slot_of(const void* location) noexcept {
        return kept[reinterpret_cast<std::uintptr_t>(location) / sizeof(void*) % slots];
    }

    static constinit inline std::atomic<std::uint64_t> kept[slots]{};
};

}  // namespace coroscope::runtime
