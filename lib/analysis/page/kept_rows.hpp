// SPDX-License-Identifier: Apache-2.0
#pragma once

// The entries of a list of the model that a page holds, as rows: all, or chosen ones.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <coroscope/analysis/index_range.hpp>

namespace coroscope::analysis::inline pages {

class kept_rows {
public:
    /// All entries of a list.
    explicit kept_rows(std::size_t size = 0) : size_(size) {}

    /// The entries whose bits are set.
    explicit kept_rows(const std::vector<bool>& chosen) : is_all_(false) {
        for (std::size_t at = 0; at < chosen.size(); ++at)
            if (chosen[at]) chosen_.push_back(static_cast<std::uint32_t>(at));
        size_ = chosen_.size();
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// The entry of a row.
    [[nodiscard]] std::uint32_t operator[](std::size_t row) const {
        return is_all_ ? static_cast<std::uint32_t>(row) : chosen_[row];
    }

    /// The row of an entry; -1: it has none.
    [[nodiscard]] std::int64_t row_of(std::uint32_t entry) const {
        if (is_all_) return entry < size_ ? static_cast<std::int64_t>(entry) : -1;
        const auto found = std::ranges::lower_bound(chosen_, entry);
        return found != chosen_.end() && *found == entry ? found - chosen_.begin() : -1;
    }

private:
    bool is_all_ = true;
    std::size_t size_ = 0;
    std::vector<std::uint32_t> chosen_;
};

}  // namespace coroscope::analysis::inline pages
