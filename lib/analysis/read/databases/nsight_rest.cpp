// SPDX-License-Identifier: Apache-2.0
#include "nsight_rest.hpp"

#include <algorithm>
#include <string_view>

namespace coroscope::analysis::inline databases {
namespace {

std::vector<std::string> tables_with_intervals(sqlite_database& database) {
    std::vector<std::string> names;
    sqlite_rows rows(database, "sqlite_master",
                     "SELECT rowid, name FROM sqlite_master AS each WHERE type = 'table' AND "
                     "(SELECT COUNT(*) FROM pragma_table_info(each.name) AS info "
                     "WHERE info.name IN ('start', 'end')) = 2 ORDER BY name");
    while (rows.next()) names.emplace_back(rows.text(1));
    return names;
}

/// Quotes a name for use in a query.
std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char letter : name) text.append(letter == '"' ? 2 : 1, letter);
    return text + "\"";
}

std::int64_t count_rows(sqlite_database& database, const std::string& table) {
    sqlite_rows rows(database, table, "SELECT COUNT(*) FROM " + quoted(table));
    return rows.next() ? rows.integer(0) : 0;
}

}  // namespace

void warn_of_other_tables(sqlite_database& database, std::span<const char* const> read,
                          std::vector<std::string>& warnings) {
    std::string others;
    for (const std::string& table : tables_with_intervals(database)) {
        if (std::ranges::find(read, std::string_view(table)) != read.end()) continue;
        const std::int64_t count = count_rows(database, table);
        if (count == 0) continue;
        others += others.empty() ? "" : ", ";
        others.append(table).append(" (").append(std::to_string(count)).append(")");
    }
    if (!others.empty())
        warnings.push_back("tables with intervals that are not read, with their rows: " + others);
}

}  // namespace coroscope::analysis::inline databases
