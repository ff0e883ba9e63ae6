// SPDX-License-Identifier: Apache-2.0
#pragma once

// What std::move and std::exchange do, for the headers that every program includes: <utility> would be the dearest
// of all that they have.

#include <type_traits>

namespace coroscope::detail {

/// As std::move.
template <class T>
[[nodiscard]] constexpr std::remove_reference_t<T>&& moved(T&& from) noexcept {
    return static_cast<std::remove_reference_t<T>&&>(from);
}

/// What `from` was; from now on it is T{}, and keeps nothing.
template <class T>
[[nodiscard]] constexpr T taken(T& from) noexcept {
    T was = static_cast<T&&>(from);
    from = T{};
    return was;
}

}  // namespace coroscope::detail
