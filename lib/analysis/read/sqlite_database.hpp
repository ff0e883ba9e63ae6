// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a database that is not trusted: a value may be missing, of another type, or damaged. A row
// with such a value is odd. It is left out and counted; in strict mode it is a problem of the
// database. The first problem is kept, with its table and row; after it there are no rows.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include <coroscope/analysis/result.hpp>

#include "odd_rows.hpp"
#include "private_copy.hpp"

namespace coroscope::analysis::inline reading {

inline constexpr std::string_view sqlite_magic{"SQLite format 3\0", 16};

class sqlite_database {
public:
    static result<sqlite_database> open(const std::string& path);
    /// Opens a database in memory and takes ownership of its bytes.
    static result<sqlite_database> adopt(std::string bytes);

    [[nodiscard]] bool has_table(const std::string& table);
    [[nodiscard]] bool has_column(const std::string& table, const std::string& column);
    [[nodiscard]] const std::optional<failure>& problem() const { return problem_; }
    void fail(std::string message);

    /// Sets whether an odd row is a problem. Initially it is not.
    void refuse_odd_rows(bool refused) { refuses_odd_rows_ = refused; }
    [[nodiscard]] bool refuses_odd_rows() const { return refuses_odd_rows_; }
    [[nodiscard]] const odd_rows& odd() const { return odd_; }
    /// Counts an odd row under the reason `what`, or fails because of it. `more` describes the
    /// row's value.
    void note_odd_row(const std::string& table, std::int64_t row, const std::string& what,
                      const std::string& more);

private:
    friend class sqlite_rows;
    struct close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    explicit sqlite_database(sqlite3* opened) : handle_(opened) {}
    bool finds(const char* query, const std::string& first, const std::string& second);

    /// Refuses schemas that can make values larger than the file.
    [[nodiscard]] std::optional<failure> check_schema();

    std::string bytes_;                   // this and the next member must outlive the handle
    std::optional<private_copy> copied_;  // of a database with a write-ahead log
    std::unique_ptr<sqlite3, close> handle_;
    std::optional<failure> problem_;
    odd_rows odd_;
    bool refuses_odd_rows_ = false;
};

/// The rows of a query's result, one at a time. The query's first column must be the row's number
/// in `table`, which messages about problems contain.
class sqlite_rows {
public:
    sqlite_rows(sqlite_database& database, std::string table, const std::string& query);

    /// Moves to the next row. Returns false after the last row, and after a problem.
    bool next();
    /// Returns whether anything was wrong with this row so far. The caller must leave out such a
    /// row.
    [[nodiscard]] bool is_odd() const { return is_odd_; }
    /// Returns a column's integer. Any other value makes the row odd, and 0 is returned.
    std::int64_t integer(int column);
    /// The same, but returns nullopt for NULL.
    std::optional<std::int64_t> maybe_integer(int column);
    /// Returns a column's text, or an empty text for NULL. Valid until the next row.
    std::string_view text(int column);
    /// Makes this row odd, for the reason `what`. `more` describes the row's value.
    void fail(const std::string& what, const std::string& more = {});

private:
    struct finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

    sqlite_database& database_;
    std::string table_;
    bool is_odd_ = false;
    std::unique_ptr<sqlite3_stmt, finalize> statement_;
};

}  // namespace coroscope::analysis::inline reading
