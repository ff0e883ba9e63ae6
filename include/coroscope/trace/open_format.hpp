// SPDX-License-Identifier: Apache-2.0
#pragma once

// Chunks of kind open: scopes that have begun and not ended. See also docs/reference/format.md.
//
// A chunk of this kind is an array of places. The value of a place's tag has scope_flags (7 bits)
// and above them a check (20 bits), a hash of the other fields. If a place is read while it is
// written, its fields may belong to two scopes; the check is then wrong. The check is also wrong in
// most damaged places.

#include <cstdint>

#include <coroscope/trace/format.hpp>

namespace coroscope::trace {

/// One scope that has begun and not ended. The writer must write the tag last when the scope
/// begins, and clear it first when the scope ends. A tag of 0 is a free place.
struct open_scope {
    std::uint64_t start;   ///< ticks
    std::uint64_t tag;     ///< kind scope | site | scope_flags, and above them the check
    std::uint64_t task;    ///< current task at the start; 0: none
    std::uint32_t thread;  ///< logical id of the thread of the start
    std::uint32_t order;   ///< counts the scopes that began on the thread, modulo 2^32
};
static_assert(sizeof(open_scope) == 32);

inline constexpr unsigned open_check_shift = 7;
inline constexpr std::uint32_t open_flags_mask = (1U << open_check_shift) - 1;
static_assert(scope_range <= open_flags_mask && scope_range << 1U > open_flags_mask);

/// Returns the tag of an open scope. `scope` is the tag without the check; the other fields are
/// those of `place`.
constexpr std::uint64_t make_open_tag(std::uint64_t scope, const open_scope& place) noexcept {
    constexpr std::uint64_t spread = 0x9e37'79b9'7f4a'7c15;
    const std::uint64_t whose = std::uint64_t{place.thread} << 32 | place.order;
    const std::uint64_t mixed = (place.start ^ scope << 20) + (whose << 9 | whose >> 55) +
                                (place.task << 40 | place.task >> 24);
    return scope | mixed * spread >> 44 << (tag_value_shift + open_check_shift);
}

/// Returns whether the tag's check is right.
constexpr bool is_sound(const open_scope& place) noexcept {
    constexpr std::uint64_t check = ~std::uint64_t{0} << (tag_value_shift + open_check_shift);
    return trace::tag_kind(place.tag) == record_kind::scope &&
           trace::make_open_tag(place.tag & ~check, place) == place.tag;
}

}  // namespace coroscope::trace
