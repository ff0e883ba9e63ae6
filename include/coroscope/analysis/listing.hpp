// SPDX-License-Identifier: Apache-2.0
#pragma once

// A listing: columns and rows of figures, independent of the output format. One listing yields the
// text for people and the CSV and JSON for programs, so they cannot disagree.
//
// Thread-safety: plain structs and pure functions, safe on any thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/result.hpp>
#include <coroscope/analysis/units.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The kind of a column's cells.
enum class cell_kind : std::uint8_t {
    text,
    source,    ///< text whose end matters more than its beginning
    sentence,  ///< text that is not cut
    count,
    number,      ///< not whole
    hundredths,  ///< of one: 125 is written as "1.25"
    time,        ///< nanoseconds
    outline,     ///< text that the column "depth" indents, for people only
    /// nanoseconds since the session's start; the text has enough digits to distinguish any two
    moment,
};

/// An inapplicable cell, such as the parent of a root task. Written as "-", empty and null.
struct not_applicable {};

/// A sum with some unknown terms. Written as "12+", and for programs as the number.
struct at_least {
    std::int64_t figure = 0;
};

/// Text, or a number that may be unknown. A double is for columns of kind `number` only.
using listing_cell = std::variant<std::string, optional_ns, not_applicable, at_least, double>;

struct listing_column {
    std::string heading;  ///< for people
    std::string key;      ///< for programs: the CSV header, the JSON member and the sort key
    cell_kind kind = cell_kind::text;
};

struct listing {
    std::vector<listing_column> columns;
    std::vector<std::vector<listing_cell>> rows;  ///< one cell per column
};

/// The form of a listing.
struct listing_options {
    /// The key of a column of numbers, largest first; empty: in the given order.
    std::string sort_by{};
    std::int64_t row_limit = -1;  ///< -1: no limit
    time_unit unit = time_unit::automatic;
    std::size_t max_text_column_width = 55;
    std::size_t max_source_column_width = 75;
    /// CSV: puts an apostrophe before a text that a spreadsheet would treat as a formula.
    bool guard_formulas = false;
    /// Text: the greatest length of a line; 0: no limit. With a limit, columns that matter least
    /// are left out, as are those without a known figure other than 0, times have three significant
    /// digits, names are cut in the middle, and a line below the rows names what was left out.
    std::size_t line_width = 0;
};

/// The form of an output.
enum class output_format : std::uint8_t { text, csv, json };

/// Returns the valid values of `sort_by`, separated by ", ". The "_ns" at the end of a key is left
/// out; it may be given.
[[nodiscard]] COROSCOPE_API std::string sort_keys_of(const listing& list);

/// Sorts the rows and cuts them to the limit. Fails if the key is unknown.
[[nodiscard]] COROSCOPE_API result<listing> arranged(listing list, const listing_options& options);

/// Writes the whole listing in its order. Text has headings, CSV has a header line, and JSON is an
/// array of objects. Unknown is "unknown", empty and null; "+" means "at least". All three are
/// valid UTF-8 without control characters except line feeds.
[[nodiscard]] COROSCOPE_API std::string to_text(const listing& list,
                                                const listing_options& options = {});
[[nodiscard]] COROSCOPE_API std::string to_csv(const listing& list);
[[nodiscard]] COROSCOPE_API std::string to_csv(const listing& list, const listing_options& options);
[[nodiscard]] COROSCOPE_API std::string to_json(const listing& list);

}  // namespace coroscope::analysis
