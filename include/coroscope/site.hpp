// SPDX-License-Identifier: Apache-2.0
#pragma once

// A site: the constant-initialised descriptor of one place in the source. The macros make one per
// use as a function-local static; its strings must live as long as the program (literals do).

#include <cstdint>
#include <source_location>

namespace coroscope {

/// What kind of place a site is; the values are those of trace::site_kind.
enum class site_kind : std::uint8_t {
    scope = 0,
    function = 1,
    await = 2,
    coroutine = 3,
    operation = 4,
    job = 5
};

/// One place in the source. Thread-safe: the runtime registers it on first use, all else is constant.
struct site {
    constexpr site(const char* label_text, std::source_location where, site_kind what,
                   const char* category_name = "", std::uint8_t level_number = 0,
                   const char* argument_names = "") noexcept
        : label(label_text),
          function(where.function_name()),
          file(where.file_name()),
          category(category_name),
          arguments(argument_names),
          line(where.line()),
          kind(what),
          level(level_number) {}

    const char* label;
    const char* function;
    const char* file;
    const char* category;
    const char* arguments;  ///< names of captured arguments, comma separated
    std::uint32_t line;
    site_kind kind;
    std::uint8_t level;

    // Set when the runtime registers the site. Before, no duration is below the limit, so that the
    // recorder's range check sends the first record of a site the slow way.
    std::uint64_t tag = 0;             ///< of a scope record of this site, all but its duration
    std::uint64_t duration_limit = 0;  ///< ticks that fit the short record; 0: not registered

    static constexpr std::uint64_t registered_limit = 1U << 27;
};

}  // namespace coroscope
