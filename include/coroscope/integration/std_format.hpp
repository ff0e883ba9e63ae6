// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets std::format print the current task and the current request:
//
//   std::format("[{}] no such key", coroscope::current_request());
//
// The text is that of coroscope::to_chars(). Width, fill and alignment are those of strings. Empty
// if the standard library has no <format> (before g++ 13).
// Thread-safety: as the standard library's formatters.

#include <coroscope/identity.hpp>

#include <version>

#if defined(__cpp_lib_format)

#include <format>
#include <string_view>

namespace coroscope::detail {

struct identity_std_format : std::formatter<std::string_view> {
    template <class Identity, class Context>
    auto format(const Identity& identity, Context& context) const {
        char text[identity_chars];
        const char* const end = coroscope::to_chars(text, text + sizeof text, identity);
        return std::formatter<std::string_view>::format(
            std::string_view(text, static_cast<std::size_t>(end - text)), context);
    }
};

}  // namespace coroscope::detail

template <>
struct std::formatter<coroscope::task_identity> : coroscope::detail::identity_std_format {};
template <>
struct std::formatter<coroscope::request_identity> : coroscope::detail::identity_std_format {};

#endif
