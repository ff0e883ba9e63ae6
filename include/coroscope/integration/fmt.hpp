// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lets fmt, and loggers on top of it, print the current task and the current request:
//
//   fmt::print("[{}] no such key\n", coroscope::current_request());
//
// The text is that of coroscope::to_chars(). Width, fill and alignment are those of fmt's strings.
// Thread-safety: as fmt's formatters.

#include <coroscope/identity.hpp>

#include <fmt/format.h>

namespace coroscope::detail {

struct identity_fmt_format : fmt::formatter<fmt::string_view> {
    template <class Identity, class Context>
    auto format(const Identity& identity, Context& context) const {
        char text[identity_chars];
        const char* const end = coroscope::to_chars(text, text + sizeof text, identity);
        return fmt::formatter<fmt::string_view>::format(
            fmt::string_view(text, static_cast<std::size_t>(end - text)), context);
    }
};

}  // namespace coroscope::detail

template <>
struct fmt::formatter<coroscope::task_identity> : coroscope::detail::identity_fmt_format {};
template <>
struct fmt::formatter<coroscope::request_identity> : coroscope::detail::identity_fmt_format {};
