// SPDX-License-Identifier: Apache-2.0
#pragma once

// The labels of macros, which must be string literals: sites keep their addresses.

#include <cstddef>

namespace coroscope::detail {

/// Returns whether the source text of a macro's argument begins as a string literal does.
consteval bool is_literal(const char* source) noexcept {
    return *source == '"' || (source[0] == 'R' && source[1] == '"');
}

/// The label itself. For anything but an array it is empty, so that the message of
/// COROSCOPE_DETAIL_NEEDS_LITERAL is the only error.
template <std::size_t Size>
consteval const char* label_of(const char (&text)[Size]) noexcept {
    return text;
}
template <class Other>
consteval const char* label_of(const Other&) noexcept {
    return "";
}

}  // namespace coroscope::detail

// clang-format off
#define COROSCOPE_DETAIL_NEEDS_LITERAL(label)                                                      \
    static_assert(::coroscope::detail::is_literal(#label),                                         \
                  "a label must be a string literal; for a label made at run time write "          \
                  "`const coroscope::record_function range(label);`")
// clang-format on
#define COROSCOPE_DETAIL_LABEL(label) ::coroscope::detail::label_of(label)
