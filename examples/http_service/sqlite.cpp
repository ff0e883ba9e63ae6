// SPDX-License-Identifier: Apache-2.0
#include "sqlite.hpp"

namespace http_service::sqlite {

connection::connection(const std::string& file) {
    // NOMUTEX: a connection has one user at a time, so SQLite's own lock per connection would guard
    // nothing.
    constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    sqlite3* raw = nullptr;
    const int status = sqlite3_open_v2(file.c_str(), &raw, flags, nullptr);
    handle_.reset(raw);  // SQLite hands out a handle to close on failure, too
    if (status != SQLITE_OK) {
        fail("cannot open");
    }
}

void connection::execute(const char* sql) {
    if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail("cannot execute");
    }
}

void connection::fail(const std::string& what) const {
    throw error{what + ": " + sqlite3_errmsg(handle_.get())};
}

statement::statement(connection& owner, std::string_view sql) : owner_{&owner} {
    sqlite3_stmt* raw = nullptr;
    const int status =
        sqlite3_prepare_v3(owner.handle_.get(), sql.data(), static_cast<int>(sql.size()),
                           SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    handle_.reset(raw);
    if (status != SQLITE_OK) {
        owner.fail("cannot prepare");
    }
}

void statement::bind(int index, std::string_view text) {
    const int status = sqlite3_bind_text64(handle_.get(), index, text.data(), text.size(),
                                           SQLITE_STATIC, SQLITE_UTF8);
    if (status != SQLITE_OK) {
        owner_->fail("cannot bind");
    }
}

bool statement::step() {
    const int status = sqlite3_step(handle_.get());
    if (status != SQLITE_ROW && status != SQLITE_DONE) {
        owner_->fail("query failed");
    }
    return status == SQLITE_ROW;
}

std::string_view statement::text(int column) const {
    const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
    const int size = sqlite3_column_bytes(handle_.get(), column);
    return {data != nullptr ? data : "", static_cast<std::size_t>(size)};
}

}  // namespace http_service::sqlite
