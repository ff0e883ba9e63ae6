// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pairs the b and e events of asynchronous events by category, id, scope and name.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline chrome {

/// The members that the b and the e of an event share.
struct async_key {
    std::uint32_t category = none;  // indices into event_list's texts
    std::uint32_t id = none;
    std::uint32_t scope = none;
    std::uint32_t process = none;  ///< `none` for ids that all processes share
    std::uint32_t name = none;     ///< `none` if an end names no event
    bool operator==(const async_key&) const = default;
};

struct async_key_hash {
    std::size_t operator()(const async_key& key) const noexcept {
        std::uint64_t mixed = (std::uint64_t{key.category} << 32 | key.id) * 0x9e37'79b9'7f4a'7c15U;
        mixed ^= (std::uint64_t{key.scope} << 32 | key.process) * 0xff51'afd7'ed55'8ccdU;
        mixed = (mixed ^ mixed >> 29 ^ key.name) * 0xc4ce'b9fe'1a85'ec53U;
        return mixed ^ (mixed >> 32);
    }
};

class open_events {
public:
    void begin(const async_key& key, std::uint32_t row) {
        by_key_[key].push_back(row);
        last_[without_name(key)].push_back({row, key.name});
    }
    /// Ends an event and returns its row: the open one with the key that began last. If the key has
    /// no name, events of any name count.
    std::uint32_t end(async_key key) {
        const auto last = last_.find(without_name(key));
        if (last == last_.end()) return none;
        std::vector<begun>& names = last->second;
        if (key.name == none) key.name = names.back().name;
        const auto found = by_key_.find(key);
        if (found == by_key_.end()) return none;
        const std::uint32_t row = take_last(found->second);
        if (found->second.empty()) by_key_.erase(found);
        if (row >= ended_.size()) ended_.resize(row + std::size_t{1});
        ended_[row] = true;
        // Ended rows below the last one are removed later, so that no call searches all open rows.
        while (!names.empty() && has_ended(names.back().row)) names.pop_back();
        if (names.empty()) last_.erase(last);
        return row;
    }

    /// Returns the rows without an end.
    [[nodiscard]] std::vector<std::uint32_t> left() const {
        std::vector<std::uint32_t> rows;
        for (const auto& each : by_key_)
            rows.insert(rows.end(), each.second.begin(), each.second.end());
        return rows;
    }

private:
    struct begun {
        std::uint32_t row;
        std::uint32_t name;
    };

    [[nodiscard]] bool has_ended(std::uint32_t row) const {
        return row < ended_.size() && ended_[row];
    }

    static async_key without_name(async_key key) {
        key.name = none;
        return key;
    }

    static std::uint32_t take_last(std::vector<std::uint32_t>& rows) {
        if (rows.empty()) return none;
        const std::uint32_t row = rows.back();
        rows.pop_back();
        return row;
    }

    std::unordered_map<async_key, std::vector<std::uint32_t>, async_key_hash> by_key_;
    std::unordered_map<async_key, std::vector<begun>, async_key_hash> last_;  // keys without names
    std::vector<bool> ended_;                                                 // by row
};

}  // namespace coroscope::analysis::inline chrome
