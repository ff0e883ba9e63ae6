// SPDX-License-Identifier: Apache-2.0
#pragma once

// The rows of a database that cannot be taken, counted by table and reason.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/result.hpp>

namespace coroscope::analysis::inline reading {

class odd_rows {
public:
    [[nodiscard]] bool any() const { return !reasons_.empty(); }
    /// Counts a row that is left out. `message` is the full error message about the row.
    void add(const std::string& table, const std::string& why, std::int64_t row,
             std::string message);
    /// Returns the first odd row as a failure. Precondition: any().
    [[nodiscard]] failure first() const { return failure{first_}; }
    /// Adds a warning for each reason, which names the table and the first row.
    void warn_of(std::vector<std::string>& warnings) const;

private:
    struct reason {
        std::string table;
        std::string why;
        std::int64_t first_row = 0;
        std::uint64_t count = 0;
    };

    std::string first_;
    std::vector<reason> reasons_;  // few, so that a search is cheap
};

}  // namespace coroscope::analysis::inline reading
