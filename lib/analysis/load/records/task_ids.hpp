// SPDX-License-Identifier: Apache-2.0
#pragma once

// Numbers for the ids of tasks. A process gives out ids in order, so most ids of a trace lie side
// by side: a lookup finds a page of ids, and the place in it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "flat_index.hpp"
#include <coroscope/analysis/index_range.hpp>

namespace coroscope::analysis::inline records {

class task_id_index {
public:
    /// The number of `id`, or `none`.
    [[nodiscard]] std::uint32_t find(std::uint64_t id) const {
        if (id / page_ids == latest_id_) return pages_[latest_page_][id % page_ids];
        const std::uint32_t page = numbers_.find(id / page_ids);
        return page == none ? none : pages_[page][id % page_ids];
    }

    /// The number of `id`; a new id gets the next one, counted from 0.
    std::uint32_t insert(std::uint64_t id) {
        if (id / page_ids != latest_id_) {
            latest_page_ = numbers_.insert(id / page_ids);
            latest_id_ = id / page_ids;
            if (latest_page_ == pages_.size()) pages_.emplace_back().fill(none);
        }
        std::uint32_t& number = pages_[latest_page_][id % page_ids];
        if (number == none) number = size_++;
        return number;
    }

private:
    // Small, because ids may lie far apart, as those of several processes' tasks do.
    static constexpr std::size_t page_ids = 32;

    flat_index numbers_;
    std::vector<std::array<std::uint32_t, page_ids>> pages_;
    std::uint64_t latest_id_ = ~std::uint64_t{0};  // of a page; no page has this one
    std::uint32_t latest_page_ = 0;
    std::uint32_t size_ = 0;
};

}  // namespace coroscope::analysis::inline records
