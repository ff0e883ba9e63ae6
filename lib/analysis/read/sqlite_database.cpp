// SPDX-License-Identifier: Apache-2.0
#include "sqlite_database.hpp"

#include <utility>

namespace coroscope::analysis::reading {
namespace {

std::string reason(sqlite3* handle) {
    const int code = sqlite3_errcode(handle);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return "is locked: another program is still writing it";
    return std::string("is a damaged database: ") + sqlite3_errmsg(handle);
}

/// A path as SQLite's file names read it. What follows two slashes is the name of a host, so that is given, empty.
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

/// Reads the first page: opening does not.
bool is_readable(sqlite3* handle) {
    return sqlite3_exec(handle, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr) ==
           SQLITE_OK;
}

}  // namespace

result<sqlite_database> sqlite_database::open(const std::string& path) {
    constexpr int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
    // A database whose write-ahead log cannot be opened is read as it stands.
    for (const char* how : {"?mode=ro", "?immutable=1"}) {
        sqlite3* handle = nullptr;
        const std::string name = file_name(path) + how;
        const int opened = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
        sqlite_database database(handle);
        if (opened == SQLITE_OK && is_readable(handle)) return database;
        if (sqlite3_errcode(handle) != SQLITE_CANTOPEN) return failure{reason(handle)};
    }
    return failure{"cannot be opened as a database"};
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

void sqlite_rows::fail(const std::string& what) {
    const std::int64_t row = sqlite3_column_int64(statement_.get(), 0);
    database_.fail("table " + table_ + ", row " + std::to_string(row) + ": " + what);
}

}  // namespace coroscope::analysis::reading
