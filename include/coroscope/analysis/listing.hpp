// SPDX-License-Identifier: Apache-2.0
#pragma once

// A listing: columns and rows of figures, told apart from how they are written. One listing gives
// the text that people read and the CSV and JSON that programs read, and they cannot disagree.
// Plain structs and pure functions; safe on any thread.

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

/// What the cells of a column hold.
enum class cell_kind : std::uint8_t {
    text,
    source,    ///< text whose end matters more than its beginning
    sentence,  ///< text that is not cut
    count,
    time,     ///< nanoseconds
    outline,  ///< text that the column "depth" indents, for people only
};

/// What a row has no figure for, as a root task has no parent. Written "-", empty and null.
struct not_applicable {};

/// A sum of which some terms are unknown. Written "12+", and to programs as the number.
struct at_least {
    std::int64_t figure = 0;
};

/// Text, or a number that may be unknown.
using listing_cell = std::variant<std::string, optional_ns, not_applicable, at_least>;

struct listing_column {
    std::string heading;  ///< for people
    std::string key;      ///< for programs: the CSV's header, the JSON's member and what to sort by
    cell_kind kind = cell_kind::text;
};

struct listing {
    std::vector<listing_column> columns;
    std::vector<std::vector<listing_cell>> rows;  ///< one cell per column
};

struct listing_options {
    std::string
        sort_by{};  ///< the key of a column of numbers, largest first; empty: in the order given
    std::int64_t row_limit = -1;  ///< -1: no limit
    time_unit unit = time_unit::automatic;
    std::size_t max_text_column_width = 55;
    std::size_t max_source_column_width = 75;
};

enum class output_format : std::uint8_t { text, csv, json };

/// The keys that `sort_by` takes, separated by ", ".
[[nodiscard]] COROSCOPE_API std::string sort_keys_of(const listing& list);

/// Sorts the rows and cuts them to the limit. Fails where the key is unknown.
[[nodiscard]] COROSCOPE_API result<listing> arranged(listing list, const listing_options& options);

/// The whole listing, in its order. Text has headings, CSV a header line;
/// JSON is an array of objects. Unknown is "unknown", empty and null; "+" says "at least".
[[nodiscard]] COROSCOPE_API std::string to_text(const listing& list,
                                                const listing_options& options = {});
[[nodiscard]] COROSCOPE_API std::string to_csv(const listing& list);
[[nodiscard]] COROSCOPE_API std::string to_json(const listing& list);

}  // namespace coroscope::analysis
