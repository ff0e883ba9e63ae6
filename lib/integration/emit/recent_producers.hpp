// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the operation that produced an address as one of its outputs. Keeps the last 65,536
// addresses at least, and twice as many at most. Forgets older ones, so that memory stays bounded
// in a program that runs for months. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace coroscope {

class recent_producers {
public:
    static constexpr std::size_t kept = 1U << 16;

    /// An operation and the index of its output. (0, -1) is unknown.
    struct producer {
        std::uint64_t id = 0;
        std::int64_t output = -1;
    };

    void keep(const void* address, const producer& by) {
        newer_.insert_or_assign(address, by);
        if (newer_.size() < kept) return;
        older_ = std::move(newer_);
        newer_ = {};
    }

    [[nodiscard]] producer find(const void* address) const {
        for (const addresses* each : {&newer_, &older_})
            if (const auto known = each->find(address); known != each->end()) return known->second;
        return {};
    }

    [[nodiscard]] std::size_t size() const noexcept { return newer_.size() + older_.size(); }

private:
    using addresses = std::unordered_map<const void*, producer>;
    addresses newer_, older_;
};

}  // namespace coroscope
