// SPDX-License-Identifier: Apache-2.0
#pragma once

// A site: the constant-initialised descriptor of one place in the source. Each use of a macro makes
// one as a function-local static. Its strings must live as long as the program, as literals do.

#include <cstdint>
#include <source_location>

namespace coroscope {

/// The kind of a site. The values are those of trace::site_kind.
enum class site_kind : std::uint8_t {
    scope = 0,
    function = 1,
    await = 2,
    coroutine = 3,
    operation = 4,
    job = 5,
    resource = 6,
    request = 7,
    value = 8
};

namespace detail {

/// The label and the place of a site that is defined inside a lambda, whose name and place it must
/// not have. It has no std::source_location, because g++ takes the address of its parts anew in
/// each template, with the operator& of the argument's namespace.
struct site_place {
    constexpr site_place(const char* label_text,
                         std::source_location where = std::source_location::current()) noexcept
        : label(label_text),
          function(where.function_name()),
          file(where.file_name()),
          line(where.line()),
          column(where.column()) {}

    const char* label;
    const char* function;
    const char* file;
    std::uint32_t line;
    std::uint32_t column;
};

}  // namespace detail

/// One place in the source. Thread-safe: the runtime registers it at its first use and changes only
/// `duration_limit` afterwards.
struct site {
    constexpr site(const char* label_text, std::source_location where, site_kind what,
                   const char* category_name = "", std::uint8_t level_number = 0,
                   const char* argument_names = "") noexcept
        : site(detail::site_place(label_text, where), what, category_name, level_number,
               argument_names) {}

    constexpr site(const detail::site_place& place, site_kind what, const char* category_name,
                   std::uint8_t level_number, const char* argument_names) noexcept
        : label(place.label),
          function(place.function),
          file(place.file),
          category(category_name),
          arguments(argument_names),
          line(place.line),
          kind(what),
          level(level_number),
          column(place.column < column_limit ? static_cast<std::uint16_t>(place.column) : 0) {}

    static constexpr std::uint32_t column_limit = 1U << 16;

    const char* label;  ///< of a function: __func__, after registration its whole name
    const char* function;
    const char* file;
    const char* category;
    const char* arguments;  ///< names of captured arguments, comma separated
    std::uint32_t line;
    site_kind kind;
    std::uint8_t level;
    std::uint16_t column;  ///< 0: unknown

    // Set when the runtime registers the site. Before that no duration is below the limit, so the
    // recorder's range check sends the first record of a site to the slow path.
    std::uint64_t tag = 0;  ///< tag of this site's scope records, without the duration
    /// Ticks that fit the short record; 0: not registered, or switched off (categories.hpp).
    std::uint64_t duration_limit = 0;

    static constexpr std::uint64_t registered_limit = 1U << 27;
};

}  // namespace coroscope
