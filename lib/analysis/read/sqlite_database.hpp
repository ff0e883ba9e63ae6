// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database that is read and not believed: what is asked for may be missing, be of another type, or be
// damaged. The first problem is kept, with its table and row; after it there are no rows.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include <coroscope/analysis/result.hpp>

namespace coroscope::analysis::reading {

inline constexpr std::string_view sqlite_magic{"SQLite format 3\0", 16};

class sqlite_database {
public:
    static result<sqlite_database> open(const std::string& path);
    /// Takes the bytes of a database over.
    static result<sqlite_database> adopt(std::string bytes);

    [[nodiscard]] bool has_table(const std::string& table);
    [[nodiscard]] bool has_column(const std::string& table, const std::string& column);
    [[nodiscard]] const std::optional<failure>& problem() const { return problem_; }
    void fail(std::string message);

private:
    friend class sqlite_rows;
    struct close {
        void operator()(sqlite3* database) const { sqlite3_close(database); }
    };
    explicit sqlite_database(sqlite3* opened) : handle_(opened) {}
    bool finds(const char* query, const std::string& first, const std::string& second);

    std::string bytes_;  // outlives the handle
    std::unique_ptr<sqlite3, close> handle_;
    std::optional<failure> problem_;
};

/// The rows that a query gives, one at a time. The query's first column is the row's number in `table`, by which
/// a problem is named.
class sqlite_rows {
public:
    sqlite_rows(sqlite_database& database, std::string table, const std::string& query);

    /// False behind the last row, and after a problem.
    bool next();
    /// A column's whole number. Another value is a problem of the database, and 0.
    std::int64_t integer(int column);
    /// nullopt where the column is NULL.
    std::optional<std::int64_t> maybe_integer(int column);
    /// Empty where it is NULL; valid until the next row.
    std::string_view text(int column);
    /// A problem of this row.
    void fail(const std::string& what);

private:
    struct finalize {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

    sqlite_database& database_;
    std::string table_;
    std::unique_ptr<sqlite3_stmt, finalize> statement_;
};

}  // namespace coroscope::analysis::reading
