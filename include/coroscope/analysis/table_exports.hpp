// SPDX-License-Identifier: Apache-2.0
#pragma once

// A native trace as tables: CSV, NDJSON (a JSON object per line) and an SQLite database.
// docs/reference/exports.md describes the tables and their columns.
//
// The rows of a table have the column `id`, which counts from 1; columns that are named after
// another table, or after a role of its rows ("parent", "waker"), have the `id` of a row there.
// Times are nanoseconds, moments count from the session's start. What is unknown or does not apply
// is NULL, an empty cell or null. Texts become valid UTF-8.
//
// Every export writes row by row: beside the loaded trace it needs eight bytes per scope.
// Thread-safe for different traces; a trace is only read.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The form of rows of text.
enum class rows_form : std::uint8_t { csv, ndjson };

/// Returns the names of the tables, in their order in a database.
[[nodiscard]] COROSCOPE_API std::vector<std::string_view> data_table_names();

/// Writes the rows of a table and returns their number. CSV has a line of column names first.
/// `guard_formulas`: a text that a spreadsheet would take for a formula gets an apostrophe in
/// front. Fails if there is no such table, or if the sink fails.
[[nodiscard]] COROSCOPE_API written export_table(const trace& from, std::string_view table,
                                                 rows_form form, const byte_sink& sink,
                                                 bool guard_formulas = false);

/// Writes a database with all tables, their indices and views, as PATH.tmp, and renames it to PATH.
/// Returns the number of rows. Fails if the file cannot be written; then there is no file.
[[nodiscard]] COROSCOPE_API written export_sqlite(const trace& from, const std::string& path);

}  // namespace coroscope::analysis
