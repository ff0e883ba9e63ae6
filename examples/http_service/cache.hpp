// SPDX-License-Identifier: Apache-2.0
#pragma once

// The read cache in front of the store: least recently used goes first, and no entry outlives its
// time to live. Any thread may call any member; each holds the one mutex for a short, bounded time.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace http_service {

/// Writers invalidate and only readers fill, so two writers of one key need no order between them.
/// A reader that missed carries the key's version to the database and back; a write in between
/// makes its fill a no-op, so a value that was read before the write never lands in the cache after
/// it.
class cache {
public:
    using clock = std::chrono::steady_clock;

    struct lookup_result {
        std::optional<std::string> value;
        std::uint64_t version;  ///< for `fill`, if the value is missing
    };

    cache(std::size_t capacity, clock::duration time_to_live);

    [[nodiscard]] lookup_result lookup(std::string_view key);
    void fill(const std::string& key, const std::string& value, std::uint64_t version);
    void invalidate(std::string_view key);

    /// Drops expired entries and returns their number.
    std::size_t evict_expired();

    [[nodiscard]] std::size_t size() const;

private:
    struct entry {
        std::string key;
        std::string value;
        clock::time_point expiry;
    };
    using entries = std::list<entry>;

    void drop(entries::iterator position);
    [[nodiscard]] std::uint64_t& version_of(std::string_view key);

    const std::size_t capacity_;
    const clock::duration time_to_live_;
    mutable std::mutex mutex_;
    entries by_recency_;  ///< most recently used first
    std::unordered_map<std::string_view, entries::iterator>
        by_key_;  ///< views of the entries' own keys
    std::array<std::uint64_t, 256>
        versions_{};  ///< keys share slots: a collision only costs a fill
};

}  // namespace http_service
