// SPDX-License-Identifier: Apache-2.0
#pragma once

// The keys of the table of sites that have no static descriptor, and the numbers of kinds.

#include <cstdint>

#include <coroscope/site.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline writer {

// Site records store a kind by its number, so both enumerations must agree.
constexpr bool is_same(site_kind one, trace::site_kind other) noexcept {
    return static_cast<std::uint8_t>(one) == static_cast<std::uint8_t>(other);
}
static_assert(is_same(site_kind::scope, trace::site_kind::scope) &&
              is_same(site_kind::function, trace::site_kind::function) &&
              is_same(site_kind::await, trace::site_kind::await) &&
              is_same(site_kind::coroutine, trace::site_kind::coroutine) &&
              is_same(site_kind::operation, trace::site_kind::operation) &&
              is_same(site_kind::job, trace::site_kind::job) &&
              is_same(site_kind::resource, trace::site_kind::resource) &&
              is_same(site_kind::request, trace::site_kind::request) &&
              is_same(site_kind::value, trace::site_kind::value));

/// The key of a source location. One location may be both an await site and a coroutine, so the key
/// has the kind in its low bits, which are free.
inline const void* interned_key(const void* address, site_kind kind) noexcept {
    return static_cast<const char*>(address) + static_cast<int>(kind);
}

inline std::uintptr_t word(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address);
}

/// A key for three addresses.
inline const void* mixed_key(std::uintptr_t one, std::uintptr_t two,
                             std::uintptr_t three) noexcept {
    constexpr std::uintptr_t spread = 0x9e3779b97f4a7c15U;
    return reinterpret_cast<const void*>(((one * spread ^ two) * spread ^ three) * spread | 1);
}

}  // namespace coroscope::runtime::inline writer
