// SPDX-License-Identifier: Apache-2.0
#include "database.hpp"

#include "catalogue.hpp"

#include <coroscope/coroscope.hpp>

namespace http_service {

namespace {

// The log is checkpointed by the janitor, not by whichever request happens to make it too long.
constexpr const char* set_up = R"(
    PRAGMA busy_timeout = 5000;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA wal_autocheckpoint = 0;
    CREATE TABLE IF NOT EXISTS entries (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL,
        CONSTRAINT value_fits CHECK (length(CAST(value AS BLOB)) <= 16384)
    ) WITHOUT ROWID;
)";

constexpr const char* put_query = "INSERT INTO entries (key, value) VALUES (?1, ?2) ON CONFLICT "
                                  "(key) DO UPDATE SET value = excluded.value";

sqlite::connection open(const std::string& file) {
    sqlite::connection result{file};
    result.execute(set_up);
    return result;
}

}  // namespace

database::database(const std::string& file)
    : connection_{open(file)},
      get_{connection_, "SELECT value FROM entries WHERE key = ?1"},
      put_{connection_, put_query},
      erase_{connection_, "DELETE FROM entries WHERE key = ?1"},
      search_{connection_,
              "SELECT key FROM entries WHERE instr(value, ?1) > 0 ORDER BY key LIMIT 20"} {}

std::optional<std::string> database::get(const std::string& key) {
    COROSCOPE("sqlite.get");
    sqlite::run query{get_, key};
    if (!query.step()) {
        return std::nullopt;
    }
    return std::string{query.text(0)};
}

void database::put(const std::string& key, const std::string& value) {
    COROSCOPE("sqlite.put");
    write(key, value);
}

void database::write(const std::string& key, const std::string& value) {
    sqlite::run query{put_, key, value};
    while (query.step()) {
    }
}

bool database::erase(const std::string& key) {
    COROSCOPE("sqlite.erase");
    sqlite::run query{erase_, key};
    while (query.step()) {
    }
    return connection_.changes() > 0;
}

std::vector<std::string> database::search(const std::string& text) {
    COROSCOPE("sqlite.search");
    std::vector<std::string> keys;
    sqlite::run query{search_, text};
    while (query.step()) {
        keys.emplace_back(query.text(0));
    }
    return keys;
}

void database::checkpoint() {
    COROSCOPE("sqlite.checkpoint");
    connection_.execute("PRAGMA wal_checkpoint(PASSIVE)");
}

void database::seed() {
    COROSCOPE("sqlite.seed");  // one scope for all rows: single ones do not matter
    sqlite::statement any{connection_, "SELECT 1 FROM entries LIMIT 1"};
    if (sqlite::run query{any}; query.step()) {
        return;
    }
    connection_.execute("BEGIN");
    for (std::size_t index = 0; index < catalogue::size; ++index) {
        write(catalogue::key(index), catalogue::value(index));
    }
    connection_.execute("COMMIT");
    checkpoint();
}

}  // namespace http_service
