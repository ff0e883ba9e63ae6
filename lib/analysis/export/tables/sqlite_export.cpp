// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table_exports.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <sqlite3.h>

#include "../../text/utf8.hpp"
#include "../file_sink.hpp"
#include "data_tables.hpp"
#include "sqlite_schema.hpp"

namespace coroscope::analysis {
namespace {

/// A database that is written once. After the first error nothing more is written.
class new_database {
public:
    explicit new_database(const std::string& path) {
        std::remove(path.c_str());
        status_ = sqlite3_open_v2(path.c_str(), &handle_,
                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
        // Without a journal: a file that was not finished is removed.
        run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = "
            "EXCLUSIVE;");
    }
    new_database(const new_database&) = delete;
    new_database& operator=(const new_database&) = delete;
    ~new_database() { sqlite3_close(handle_); }

    void run(const std::string& statements) {
        if (status_ == SQLITE_OK)
            status_ = sqlite3_exec(handle_, statements.c_str(), nullptr, nullptr, nullptr);
    }

    void note(int status) noexcept {
        if (status_ == SQLITE_OK && status != SQLITE_OK) status_ = status;
    }

    [[nodiscard]] sqlite3* handle() const noexcept { return handle_; }
    [[nodiscard]] bool good() const noexcept { return status_ == SQLITE_OK; }

    /// The message of the first error.
    [[nodiscard]] std::string message() const {
        const int error = sqlite3_system_errno(handle_);
        return error != 0 ? std::generic_category().message(error) : sqlite3_errstr(status_);
    }

    /// Returns whether all was written.
    [[nodiscard]] bool close() {
        const int status = sqlite3_close(handle_);
        if (status == SQLITE_OK) handle_ = nullptr;
        note(status);
        return good();
    }

private:
    sqlite3* handle_ = nullptr;
    int status_ = SQLITE_OK;
};

std::string_view sqlite_type(column_type type) {
    switch (type) {
        case column_type::integer: return "INTEGER";
        case column_type::real: return "REAL";
        case column_type::text: break;
    }
    return "TEXT";
}

std::string creation_of(const data_table& table) {
    std::string columns;
    for (const data_column& each : table.columns)
        columns += fmt::format("{}{} {}{}", columns.empty() ? "" : ", ", each.name,
                               sqlite_type(each.type), each.name == "id" ? " PRIMARY KEY" : "");
    return fmt::format("CREATE TABLE {} ({});", table.name, columns);
}

class sqlite_table_rows final : public row_sink {
public:
    sqlite_table_rows(new_database& to, const data_table& table) : to_(to) {
        std::string places;
        for (std::size_t at = 0; at < table.columns.size(); ++at) places += at == 0 ? "?" : ",?";
        const std::string insertion = fmt::format("INSERT INTO {} VALUES ({})", table.name, places);
        if (to_.good())
            to_.note(sqlite3_prepare_v2(to_.handle(), insertion.c_str(), -1, &statement_, nullptr));
    }
    sqlite_table_rows(const sqlite_table_rows&) = delete;
    sqlite_table_rows& operator=(const sqlite_table_rows&) = delete;
    ~sqlite_table_rows() { sqlite3_finalize(statement_); }

    void integer(std::int64_t value) override {
        if (to_.good()) to_.note(sqlite3_bind_int64(statement_, ++column_, value));
    }
    void real(double value) override {
        if (!std::isfinite(value)) return null();
        if (to_.good()) to_.note(sqlite3_bind_double(statement_, ++column_, value));
    }
    void text(std::string_view value) override {
        if (!to_.good()) return;
        const std::string clean = printable_lines(value);
        to_.note(sqlite3_bind_text64(statement_, ++column_, clean.data(), clean.size(),
                                     SQLITE_TRANSIENT, SQLITE_UTF8));
    }
    void null() override {
        if (to_.good()) to_.note(sqlite3_bind_null(statement_, ++column_));
    }
    void end_row() override {
        column_ = 0;
        if (!to_.good()) return;
        const int stepped = sqlite3_step(statement_);
        to_.note(stepped == SQLITE_DONE ? SQLITE_OK : stepped);
        to_.note(sqlite3_reset(statement_));
        ++rows_;
    }
    [[nodiscard]] bool failed() const noexcept override { return !to_.good(); }
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

private:
    new_database& to_;
    sqlite3_stmt* statement_ = nullptr;
    int column_ = 0;
    std::uint64_t rows_ = 0;
};

written write_database(const trace& from, const std::string& path) {
    new_database to(path);
    std::uint64_t rows = 0;
    to.run(fmt::format("PRAGMA user_version = {}; BEGIN;", sqlite_schema_version));
    for (const data_table& table : all_data_tables()) {
        to.run(creation_of(table));
        sqlite_table_rows into(to, table);
        table.write(from, into);
        rows += into.rows();
    }
    to.run(std::string(sqlite_indices));
    to.run(std::string(sqlite_views));
    to.run("COMMIT;");
    if (!to.good()) return failure{to.message()};
    if (!to.close()) return failure{to.message()};
    return rows;
}

}  // namespace

written export_sqlite(const trace& from, const std::string& path) {
    const std::string unfinished = path + ".tmp";
    return put_in_place(write_database(from, unfinished), unfinished, path);
}

}  // namespace coroscope::analysis
