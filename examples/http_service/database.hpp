// SPDX-License-Identifier: Apache-2.0
#pragma once

// One connection with the service's schema and its prepared queries, all blocking. Not thread-safe:
// `store` lends each object to one thread at a time.

#include "sqlite.hpp"

#include <optional>
#include <string>
#include <vector>

namespace http_service {

class database {
public:
    /// Opens the file and brings the schema up. Throws `sqlite::error`.
    explicit database(const std::string& file);
    database(const database&) = delete;  // the statements point at the connection
    database& operator=(const database&) = delete;

    [[nodiscard]] std::optional<std::string> get(const std::string& key);

    /// Inserts or replaces. Throws `sqlite::error`, for one when the value breaks the schema's
    /// limit.
    void put(const std::string& key, const std::string& value);

    /// True if the key was there.
    bool erase(const std::string& key);

    /// The first keys, in order, whose value contains the text. No index helps: this reads rows
    /// until it has enough of them, so a common text is quick and a rare one reads the whole table.
    [[nodiscard]] std::vector<std::string> search(const std::string& text);

    /// Moves the contents of the write-ahead log into the database file.
    void checkpoint();

    /// Fills an empty database with the catalogue.
    void seed();

private:
    void write(const std::string& key, const std::string& value);

    sqlite::connection connection_;
    sqlite::statement get_;
    sqlite::statement put_;
    sqlite::statement erase_;
    sqlite::statement search_;
};

}  // namespace http_service
