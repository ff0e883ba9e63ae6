// SPDX-License-Identifier: Apache-2.0
#pragma once

// The requests of a page: all of them, the slowest first, and the order in which they get a part of
// the page's room for timelines and critical paths.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>

namespace coroscope::analysis::inline pages {

/// A list has at most this number of rows.
inline constexpr std::size_t most_request_rows = 200'000;

class request_order {
public:
    /// All arguments must outlive it.
    request_order(const trace& from, const request_list& list,
                  const std::vector<request_type>& types);

    /// The requests of the rows: places in the list, the slowest first.
    [[nodiscard]] const std::vector<std::uint32_t>& rows() const noexcept { return rows_; }

    /// The type of a request (a place in the list): a place in the list of types; -1: none.
    [[nodiscard]] std::int64_t type_of(std::uint32_t request) const;

    /// Rows with recorded work, by the right to room: the requests at the percentiles of each type,
    /// then the slowest one of each type, the second of each type, and so on.
    [[nodiscard]] std::vector<std::uint32_t> by_right() const;

    [[nodiscard]] const request_list& list() const noexcept { return list_; }
    [[nodiscard]] const request_info& request_of(std::uint32_t row) const {
        return list_.requests[rows_[row]];
    }

private:
    [[nodiscard]] bool has_work(std::uint32_t row) const;

    const trace& from_;
    const request_list& list_;
    const std::vector<request_type>& types_;
    std::unordered_map<std::string, std::int64_t> type_numbers_;
    std::vector<std::uint32_t> rows_;
};

}  // namespace coroscope::analysis::inline pages
