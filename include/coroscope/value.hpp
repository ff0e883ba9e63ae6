// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values of the program over time, such as the length of a queue.
//
//   COROSCOPE_VALUE("queue.length", queue.size());
//
// Each call records the number and its moment, in 32 bytes. Trace viewers show the values of a
// label as a counter track, and `coroscope values` shows their count, minimum, mean, 99th
// percentile and maximum, by place and by the innermost scope around it.
//
// The label must be a string literal. The number must be of an integer, floating-point or
// enumeration type. It is evaluated only if a session may record here, so it must not have side
// effects. Views show it with the precision of a double.
//
// Thread-safety: any thread may record a value at any time. The macro is a statement; it is
// noexcept except for the evaluation of the number. It allocates nothing, takes no lock and makes
// no system call.

#include <cstdint>
#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/thread_state.hpp>
#include <coroscope/macro.hpp>
#include <coroscope/site.hpp>

namespace coroscope::detail {

/// Records a value now. `is_double`: `bits` are those of a double, else of an int64.
COROSCOPE_API void record_value(site& where, std::uint64_t bits, bool is_double) noexcept;

template <class Number>
void record_number(site& where, Number number) noexcept {
    if constexpr (std::is_enum_v<Number>) {
        detail::record_number(where, static_cast<std::underlying_type_t<Number>>(number));
    } else if constexpr (std::is_floating_point_v<Number>) {
        detail::record_value(where, __builtin_bit_cast(std::uint64_t, static_cast<double>(number)),
                             true);
    } else {
        static_assert(std::is_integral_v<Number>, "COROSCOPE_VALUE needs a number");
        constexpr std::uint64_t limit = ~std::uint64_t{0} >> 1;
        if constexpr (std::is_unsigned_v<Number> && sizeof(Number) > 4) {
            if (number > limit) return detail::record_number(where, static_cast<double>(number));
        }
        detail::record_value(where, static_cast<std::uint64_t>(number), false);
    }
}

}  // namespace coroscope::detail

#if COROSCOPE_ENABLED

#define COROSCOPE_VALUE(label, ...)                                                                \
    do {                                                                                           \
        COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                     \
        COROSCOPE_DETAIL_SITE(coroscope_site, COROSCOPE_DETAIL_LABEL(label), value, "", 0, "");    \
        if (::coroscope::detail::compiled_in("", 0) &&                                             \
            ::coroscope::detail::hardly_ever(                                                      \
                ::coroscope::detail::wants_scopes(::coroscope::detail::load_gate())))              \
            ::coroscope::detail::record_number(coroscope_site, (__VA_ARGS__));                     \
    } while (false)

#else

#define COROSCOPE_VALUE(label, ...)                                                                \
    COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                         \
    COROSCOPE_DETAIL_CHECK(__VA_ARGS__)

#endif
