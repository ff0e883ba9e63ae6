// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the names say that Asio gives to its operations. They are literals where it creates one, so that nothing is
// compared while the program runs. No header of Asio is needed here.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope::asio {

/// What the names say of an operation.
enum class operation_kind : std::uint8_t {
    other,
    work,  ///< handed to an executor: ready when it is created
    timer,
};

/// The name alone, or with properties behind it: a pool's work is "execute(blk=never,rel=fork)".
template <std::size_t Size>
[[gnu::always_inline]] constexpr bool is_name(const char* given,
                                              const char (&name)[Size]) noexcept {
    constexpr std::size_t end = Size - 1;
    return __builtin_strncmp(given, name, end) == 0 && (given[end] == '\0' || given[end] == '(');
}

/// By the names of its type and of itself, both ended by a zero.
[[gnu::always_inline]] constexpr operation_kind kind_of(const char* type,
                                                        const char* operation) noexcept {
    if (is_name(operation, "execute") || is_name(operation, "post") ||
        is_name(operation, "dispatch") || is_name(operation, "defer"))
        return operation_kind::work;
    return is_name(type, "deadline_timer") ? operation_kind::timer : operation_kind::other;
}

/// The same in a call, for code in which the compiler does not see the names.
COROSCOPE_API operation_kind find_kind(const char* type, const char* operation) noexcept;

/// The one or the other: without a comparison where both names are literals.
[[gnu::always_inline]] inline operation_kind kind_of_created(const char* type,
                                                             const char* operation) noexcept {
    return __builtin_constant_p(*type) != 0 && __builtin_constant_p(*operation) != 0
               ? kind_of(type, operation)
               : find_kind(type, operation);
}

}  // namespace coroscope::asio
