// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of SQLite that the service needs, as owning types. Neither type may be used by two
// threads at a time; they may move from thread to thread between uses.

#include <sqlite3.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace http_service::sqlite {

/// The reason of a refusal by SQLite.
class error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class connection {
public:
    /// Opens for reading and writing, creates if missing. Throws `error`.
    explicit connection(const std::string& file);

    /// Runs one or more statements without parameters or results. Throws `error`.
    void execute(const char* sql);

    /// Rows that the last INSERT, UPDATE or DELETE touched.
    [[nodiscard]] int changes() const { return sqlite3_changes(handle_.get()); }

    [[noreturn]] void fail(const std::string& what) const;

private:
    friend class statement;
    struct closer {
        void operator()(sqlite3* handle) const { sqlite3_close(handle); }
    };
    std::unique_ptr<sqlite3, closer> handle_;
};

/// A prepared statement. `start` binds, `step` walks the rows.
class statement {
public:
    statement(connection& owner, std::string_view sql);

    /// Binds the parameters ?1, ?2, … by reference: they must live until the run ends.
    template <class... Texts>
    void start(const Texts&... texts) {
        int index = 0;
        (bind(++index, texts), ...);
    }

    /// True: there is a row to read. False: the statement has run. Throws `error`.
    [[nodiscard]] bool step();

    /// The column of the current row, valid until the next step.
    [[nodiscard]] std::string_view text(int column) const;

    /// Ends the run; an open run would hold its snapshot of the database and stop checkpoints.
    void reset() noexcept { sqlite3_reset(handle_.get()); }

private:
    void bind(int index, std::string_view text);

    struct finalizer {
        void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
    };
    connection* owner_;
    std::unique_ptr<sqlite3_stmt, finalizer> handle_;
};

/// One run of a prepared statement: bound at construction, reset at the end of the block, also by
/// an exception.
class run {
public:
    template <class... Texts>
    explicit run(statement& prepared, const Texts&... texts) : prepared_{prepared} {
        prepared_.start(texts...);
    }
    run(const run&) = delete;
    run& operator=(const run&) = delete;
    ~run() { prepared_.reset(); }

    [[nodiscard]] bool step() { return prepared_.step(); }
    [[nodiscard]] std::string_view text(int column) const { return prepared_.text(column); }

private:
    statement& prepared_;
};

}  // namespace http_service::sqlite
