// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waits for resources: facts of kind resource_wait, in chunks of kind `records`. The thread that
// acquired the resource writes one, with the moment of the acquisition as its first word. Resources
// that are acquired without a wait leave no record. See also docs/reference/format.md.

#include <cstdint>

#include <coroscope/trace/fact_format.hpp>

namespace coroscope::trace {

// clang-format off: tables with a remark beside each row
/// One wait for a resource. A mark is 0 if it is unknown.
struct resource_wait_body {
    std::uint32_t site;       ///< the resource's name; kind of site: resource
    std::uint32_t instance;   ///< tells resources of one name apart: a number from 1
    std::uint64_t start;      ///< ticks
    std::uint64_t waiter;     ///< mark: current at the end of the wait
    std::uint64_t holder;     ///< mark: held the resource when the wait began
    std::uint64_t releaser;   ///< mark: released it last before the end of the wait
    std::uint64_t released;   ///< ticks of that release, which lies within the wait; 0: unknown
};
static_assert(sizeof(resource_wait_body) == 48);

/// The bits of a resource_wait above the kind of the fact (fact_bits_of).
enum resource_wait_bits : std::uint32_t {
    resource_wait_gave_up = 1U << 0,  ///< it ended without the resource
    resource_wait_shared = 1U << 1,   ///< it asked for a share, which does not exclude other shares
    /// Acquisitions without a wait are noted: a releaser that is not the holder did not acquire it.
    resource_wait_holders_noted = 1U << 2,
    /// A task released an element of another task: no wait for this resource shows a holder.
    resource_wait_handed_on = 1U << 3,
};
inline constexpr unsigned resource_capacity_shift = 8;  ///< above the flags: the capacity
/// Greater capacities are written as this one. 0: unknown.
inline constexpr std::uint32_t resource_capacity_limit = 0xffff;
// clang-format on

constexpr std::uint32_t make_resource_wait_id(std::uint32_t flags,
                                              std::uint32_t capacity) noexcept {
    const std::uint32_t kept =
        capacity < resource_capacity_limit ? capacity : resource_capacity_limit;
    return trace::fact_id(fact_kind::resource_wait, flags | kept << resource_capacity_shift);
}
constexpr std::uint32_t resource_capacity_of(std::uint32_t id) noexcept {
    return trace::fact_bits_of(id) >> resource_capacity_shift;
}

}  // namespace coroscope::trace
