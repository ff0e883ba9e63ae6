// SPDX-License-Identifier: Apache-2.0
#pragma once

// std::move and std::exchange for the headers that every program includes: <utility> would be the
// most expensive header of all.

#include <type_traits>

namespace coroscope::detail {

/// As std::move.
template <class T>
[[nodiscard]] constexpr std::remove_reference_t<T>&& moved(T&& from) noexcept {
    return static_cast<std::remove_reference_t<T>&&>(from);
}

/// Returns the value of `from` and sets `from` to T{}.
template <class T>
[[nodiscard]] constexpr T taken(T& from) noexcept {
    T was = static_cast<T&&>(from);
    from = T{};
    return was;
}

}  // namespace coroscope::detail
