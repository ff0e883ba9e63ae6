// SPDX-License-Identifier: Apache-2.0
#include "sqlite_database.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace coroscope::analysis::inline reading {
namespace {

std::string reason(sqlite3* handle) {
    const int code = sqlite3_errcode(handle);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return "is locked: another program is still writing it";
    if (code == SQLITE_NOMEM) return "does not fit into memory";
    if (code == SQLITE_TOOBIG) return "computes a value that is longer than the file";
    return std::string("is a damaged database: ") + sqlite3_errmsg(handle);
}

/// Converts a path to a URI for SQLite. In a URI two slashes begin the name of a host, so an
/// absolute path gets an empty host.
std::string file_name(const std::string& path) {
    std::string name = path.starts_with('/') ? "file://" : "file:";
    for (const char letter : path) {
        if (letter == '%' || letter == '?' || letter == '#') {
            constexpr std::string_view digits = "0123456789ABCDEF";
            const auto byte = static_cast<unsigned char>(letter);
            name += '%';
            name += digits[byte >> 4];
            name += digits[byte & 0xf];
        } else {
            name += letter;
        }
    }
    return name;
}

/// Returns whether the file is a database. SQLite reads its first page only for a query, not when
/// it opens the file.
bool is_readable(sqlite3* handle) {
    return sqlite3_exec(handle, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr) ==
           SQLITE_OK;
}

/// Bounds the size of values: a stored value cannot be longer than the file.
void bound_values(sqlite3* handle, std::uintmax_t file_bytes) {
    constexpr std::uintmax_t least = std::uintmax_t{1} << 16;  // for texts of the schema
    constexpr std::uintmax_t most = 1'000'000'000;             // SQLite's own limit
    const std::uintmax_t bytes = std::clamp(file_bytes, least, most);
    sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, static_cast<int>(bytes));
}

/// Returns whether the database's header says that it uses a write-ahead log. SQLite creates files
/// beside such a database.
bool has_log(const std::string& path) {
    constexpr std::size_t read_version = 19;  // offset in the header
    constexpr char log = 2;
    std::array<char, read_version + 1> header{};
    std::ifstream input(path, std::ios::binary);
    return input.read(header.data(), header.size()) && header[read_version] == log;
}

std::uintmax_t size_of(const std::string& path) {
    std::error_code unknown;
    const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
    return unknown ? 0 : bytes;
}

}  // namespace

std::optional<failure> sqlite_database::check_schema() {
    if (finds("SELECT 1 FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%'", {}, {}))
        return failure{"has a virtual table, which no profiler writes"};
    if (finds("SELECT 1 FROM sqlite_master AS each, pragma_table_xinfo(each.name) AS info "
              "WHERE each.type = 'table' AND info.hidden != 0",
              {}, {}))
        return failure{"has a column that is computed, which no profiler writes"};
    return std::nullopt;
}

// If a database has a log that is not empty, a copy is read, because SQLite would write files
// beside the database. If the log is missing or empty, the file alone is complete.
result<sqlite_database> sqlite_database::open(const std::string& path) {
    std::optional<private_copy> copied;
    std::string how = file_name(path) + "?mode=ro";
    if (has_log(path)) {
        how = file_name(path) + "?immutable=1";
        if (size_of(path + "-wal") != 0) {
            copied = private_copy::of({path, path + "-wal"});
            if (!copied)
                return failure{"cannot be copied, which its write-ahead log makes necessary"};
            how = file_name(copied->first()) + "?mode=rw";
        }
    }
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    sqlite3* handle = nullptr;
    const int opened = sqlite3_open_v2(how.c_str(), &handle, flags, nullptr);
    sqlite_database database(handle);
    database.copied_ = std::move(copied);
    if (opened != SQLITE_OK || !is_readable(handle)) {
        if (sqlite3_errcode(handle) == SQLITE_CANTOPEN)
            return failure{"cannot be opened as a database"};
        return failure{reason(handle)};
    }
    bound_values(handle, size_of(path) + size_of(path + "-wal"));
    if (auto wrong = database.check_schema()) return *std::move(wrong);
    return database;
}

result<sqlite_database> sqlite_database::adopt(std::string bytes) {
    sqlite3* handle = nullptr;
    const int opened =
        sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    sqlite_database database(handle);
    database.bytes_ = std::move(bytes);
    auto* const data = reinterpret_cast<unsigned char*>(database.bytes_.data());
    const auto size = static_cast<sqlite3_int64>(database.bytes_.size());
    if (opened != SQLITE_OK || sqlite3_deserialize(handle, "main", data, size, size,
                                                   SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        return failure{"does not fit into memory"};
    if (!is_readable(handle)) return failure{reason(handle)};
    bound_values(handle, database.bytes_.size());
    if (auto wrong = database.check_schema()) return *std::move(wrong);
    return database;
}

bool sqlite_database::finds(const char* query, const std::string& first,
                            const std::string& second) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(handle_.get(), query, -1, &statement, nullptr);
    sqlite3_bind_text(statement, 1, first.c_str(), -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(statement, 2, second.c_str(), -1, SQLITE_TRANSIENT);
    const bool found = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return found;
}

bool sqlite_database::has_table(const std::string& table) {
    return finds("SELECT 1 FROM sqlite_master WHERE type = ?2 AND name = ?1", table, "table");
}

bool sqlite_database::has_column(const std::string& table, const std::string& column) {
    return finds("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", table, column);
}

void sqlite_database::fail(std::string message) {
    if (!problem_) problem_ = failure{std::move(message)};
}

sqlite_rows::sqlite_rows(sqlite_database& database, std::string table, const std::string& query)
    : database_(database), table_(std::move(table)) {
    sqlite3_stmt* statement = nullptr;
    sqlite3* const handle = database_.handle_.get();
    if (sqlite3_prepare_v2(handle, query.c_str(), -1, &statement, nullptr) != SQLITE_OK)
        database_.fail("table " + table_ + ": " + sqlite3_errmsg(handle));
    statement_.reset(statement);
}

bool sqlite_rows::next() {
    is_odd_ = false;
    if (database_.problem()) return false;
    const int stepped = sqlite3_step(statement_.get());
    if (stepped == SQLITE_ROW) return true;
    if (stepped != SQLITE_DONE)
        database_.fail("table " + table_ + ": " + reason(database_.handle_.get()));
    return false;
}

std::int64_t sqlite_rows::integer(int column) {
    if (sqlite3_column_type(statement_.get(), column) != SQLITE_INTEGER)
        fail(std::string("column ") + sqlite3_column_name(statement_.get(), column) +
             " is no whole number");
    return sqlite3_column_int64(statement_.get(), column);
}

std::optional<std::int64_t> sqlite_rows::maybe_integer(int column) {
    if (sqlite3_column_type(statement_.get(), column) == SQLITE_NULL) return std::nullopt;
    return integer(column);
}

std::string_view sqlite_rows::text(int column) {
    const auto* const bytes = sqlite3_column_text(statement_.get(), column);
    if (bytes == nullptr) return {};
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

void sqlite_rows::fail(const std::string& what, const std::string& more) {
    if (is_odd_) return;
    is_odd_ = true;
    database_.note_odd_row(table_, sqlite3_column_int64(statement_.get(), 0), what, more);
}

void sqlite_database::note_odd_row(const std::string& table, std::int64_t row,
                                   const std::string& what, const std::string& more) {
    std::string message = "table " + table + ", row " + std::to_string(row) + ": " + what;
    if (!more.empty()) message.append(": ").append(more);
    if (refuses_odd_rows_)
        fail(std::move(message));
    else
        odd_.add(table, what, row, std::move(message));
}

}  // namespace coroscope::analysis::inline reading
