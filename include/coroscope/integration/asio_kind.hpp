// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of Asio's operations, found by their names. Asio creates most operations with literals,
// so that the compiler makes the comparisons. This header must not include a header of Asio.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/executor.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::asio {

/// The kind of an operation, by its names.
enum class operation_kind : std::uint8_t {
    other,
    work,  ///< passed to an executor: ready when it is created
    timer,
};

/// Whether `given` is `name`, alone or followed by properties: a pool's work is
/// "execute(blk=never,rel=fork)".
template <std::size_t Size>
[[gnu::always_inline]] constexpr bool is_name(const char* given,
                                              const char (&name)[Size]) noexcept {
    constexpr std::size_t end = Size - 1;
    return __builtin_strncmp(given, name, end) == 0 && (given[end] == '\0' || given[end] == '(');
}

/// Returns the kind for the names of the type and of the operation, both NUL-terminated.
[[gnu::always_inline]] constexpr operation_kind kind_of(const char* type,
                                                        const char* operation) noexcept {
    if (asio::is_name(operation, "execute") || asio::is_name(operation, "post") ||
        asio::is_name(operation, "dispatch") || asio::is_name(operation, "defer"))
        return operation_kind::work;
    return asio::is_name(type, "deadline_timer") ? operation_kind::timer : operation_kind::other;
}

/// The knowledge about an executor that the type of an operation gives.
enum class context_type : std::uint8_t {
    unseen,  ///< a context: the operation belongs to a timer, a socket, …
    seen,    ///< the type is that of the context
    strand,  ///< the operation belongs to a strand on the context
};

[[gnu::always_inline]] constexpr context_type type_of(const char* type) noexcept {
    if (__builtin_strcmp(type, "strand_executor") == 0 || __builtin_strcmp(type, "strand") == 0)
        return context_type::strand;
    return __builtin_strcmp(type, "io_context") == 0 ||
                   __builtin_strcmp(type, "thread_pool") == 0 ||
                   __builtin_strcmp(type, "system_executor") == 0
               ? context_type::seen
               : context_type::unseen;
}

/// As type_of(), out of line, for code in which the compiler does not see the name.
COROSCOPE_API context_type find_type(const char* type) noexcept;

/// Selects type_of(), without a comparison at run time, if the name is a literal; else find_type().
[[gnu::always_inline]] inline context_type type_of_created(const char* type) noexcept {
    return __builtin_constant_p(*type) != 0 ? asio::type_of(type) : asio::find_type(type);
}

/// The key of a context in the runtime's table of executors. An operation whose type is that of
/// the context has another key than one whose type is not.
[[gnu::always_inline]] inline std::uintptr_t context_key(const void* context,
                                                         context_type seen) noexcept {
    return reinterpret_cast<std::uintptr_t>(context) +
           (seen == context_type::seen ? coroscope::detail::typed_step : 0);
}

/// As kind_of(), out of line, for code in which the compiler does not see the names.
COROSCOPE_API operation_kind find_kind(const char* type, const char* operation) noexcept;

/// Selects kind_of(), without a comparison at run time, if both names are literals; else
/// find_kind().
[[gnu::always_inline]] inline operation_kind kind_of_created(const char* type,
                                                             const char* operation) noexcept {
    return __builtin_constant_p(*type) != 0 && __builtin_constant_p(*operation) != 0
               ? asio::kind_of(type, operation)
               : asio::find_kind(type, operation);
}

}  // namespace coroscope::asio
