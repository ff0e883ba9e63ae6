// SPDX-License-Identifier: Apache-2.0
#pragma once

// A source_location as one pointer: both standard libraries hold the address of static data, which
// is the same at each pass through one place and can be kept and compared cheaply.

#include <source_location>

namespace coroscope::detail {

static_assert(sizeof(std::source_location) == sizeof(const void*));

// What std::source_location::current() wraps: where a call stands, as a default argument of type const void*.
// For functions that a coroutine calls in an await expression, because g++ keeps a place in the frame for every
// argument of class type.
#define COROSCOPE_DETAIL_HERE __builtin_source_location()

[[gnu::always_inline]] inline const void*
location_address(const std::source_location& where) noexcept {
    return __builtin_bit_cast(const void*, where);
}
inline std::source_location location_at(const void* address) noexcept {
    return __builtin_bit_cast(std::source_location, address);
}

}  // namespace coroscope::detail
