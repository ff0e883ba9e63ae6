// SPDX-License-Identifier: Apache-2.0
#pragma once

// The forms of a comparison of runs (comparison.hpp): a listing, text, JSON, and Markdown for a
// pull request.
//
// Thread-safety: pure functions, safe on any thread.

#include <cstdint>
#include <string>

#include <coroscope/analysis/comparison.hpp>
#include <coroscope/analysis/listing.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The rows of text and Markdown.
struct comparison_options {
    bool all = false;             ///< also the rows that are the same, and all unclear rows
    std::int64_t row_limit = -1;  ///< -1: no limit
};

/// Returns all rows, with every figure.
[[nodiscard]] COROSCOPE_API listing list_comparison(const comparison& of);

/// Returns the changed rows, the unclear rows with the largest effects, the certainty, and the
/// notes.
[[nodiscard]] COROSCOPE_API std::string comparison_text(const comparison& of,
                                                        const comparison_options& options = {});
[[nodiscard]] COROSCOPE_API std::string comparison_markdown(const comparison& of,
                                                            const comparison_options& options = {});

/// Returns an object with the titles of the runs, the notes and the rows. docs/how-to/comparing.md
/// describes the members.
[[nodiscard]] COROSCOPE_API std::string comparison_json(const comparison& of);

/// Returns the numbers of rows: "1 is slower, none is faster; 12 the same, 3 unclear, 1 new, none
/// gone".
[[nodiscard]] COROSCOPE_API std::string comparison_sentence(const comparison& of);

}  // namespace coroscope::analysis
