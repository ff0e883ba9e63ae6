// SPDX-License-Identifier: Apache-2.0
#include "cache.hpp"

#include <coroscope/coroscope.hpp>

#include <iterator>

namespace http_service {

cache::cache(std::size_t capacity, clock::duration time_to_live)
    : capacity_{capacity}, time_to_live_{time_to_live} {}

cache::lookup_result cache::lookup(std::string_view key) {
    COROSCOPE("cache.lookup");
    const std::lock_guard lock{mutex_};
    const auto found = by_key_.find(key);
    if (found == by_key_.end() || found->second->expiry <= clock::now()) {
        return {std::nullopt, version_of(key)};
    }
    by_recency_.splice(by_recency_.begin(), by_recency_, found->second);
    return {found->second->value, version_of(key)};
}

void cache::fill(const std::string& key, const std::string& value, std::uint64_t version) {
    COROSCOPE("cache.fill");
    const std::lock_guard lock{mutex_};
    if (version_of(key) != version) {
        return;
    }
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
        drop(found->second);
    }
    if (by_recency_.size() >= capacity_) {
        drop(std::prev(by_recency_.end()));
    }
    by_recency_.push_front({key, value, clock::now() + time_to_live_});
    by_key_.emplace(by_recency_.front().key, by_recency_.begin());
}

void cache::invalidate(std::string_view key) {
    COROSCOPE("cache.invalidate");
    const std::lock_guard lock{mutex_};
    ++version_of(key);
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
        drop(found->second);
    }
}

std::size_t cache::evict_expired() {
    COROSCOPE("cache.evict_expired");
    const std::lock_guard lock{mutex_};
    const auto now = clock::now();
    const std::size_t before = by_recency_.size();
    for (auto position = by_recency_.begin(); position != by_recency_.end();) {
        const auto current = position++;
        if (current->expiry <= now) {
            drop(current);
        }
    }
    return before - by_recency_.size();
}

std::size_t cache::size() const {
    const std::lock_guard lock{mutex_};
    return by_recency_.size();
}

void cache::drop(entries::iterator position) {
    by_key_.erase(position->key);
    by_recency_.erase(position);
}

std::uint64_t& cache::version_of(std::string_view key) {
    return versions_[std::hash<std::string_view>{}(key) % versions_.size()];
}

}  // namespace http_service
