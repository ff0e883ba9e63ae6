// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores a source_location as one pointer. In libstdc++ and libc++, a source_location holds nothing
// but the address of static data. That address is the same at each execution of one place, so it is
// cheap to store and to compare.

#include <source_location>

namespace coroscope::detail {

static_assert(sizeof(std::source_location) == sizeof(const void*));

// A default argument of type const void* that is the place of the call;
// std::source_location::current() wraps the same builtin. Use it for functions that a coroutine
// calls in an await expression: g++ reserves room in the coroutine's frame for every argument of
// class type.
#define COROSCOPE_DETAIL_HERE __builtin_source_location()

// A default argument that is the return address of the function that contains the call.
#define COROSCOPE_DETAIL_CALLER __builtin_return_address(0)

/// Whether code_address() knows an instruction of the processor that reads its own address.
#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool has_code_address = true;
#else
inline constexpr bool has_code_address = false;
#endif

/// Returns an address in the code of the caller, behind the instruction that reads it. If the
/// caller was inlined several times, the address is in the copy that runs. Must be called only if
/// has_code_address.
[[gnu::always_inline]] inline const void* code_address() noexcept {
    const void* address = nullptr;
#if defined(__x86_64__)
    __asm__ volatile("lea 0(%%rip), %0" : "=r"(address));
#elif defined(__aarch64__)
    __asm__ volatile("adr %0, . + 4" : "=r"(address));
#endif
    return address;
}

[[gnu::always_inline]] inline const void*
location_address(const std::source_location& where) noexcept {
    return __builtin_bit_cast(const void*, where);
}
inline std::source_location location_at(const void* address) noexcept {
    return __builtin_bit_cast(std::source_location, address);
}

}  // namespace coroscope::detail
