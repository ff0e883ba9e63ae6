// SPDX-License-Identifier: Apache-2.0
#pragma once

// The number of chunks that a store's threads open in one of the helper's longest sleeps, measured
// turn by turn. The helper's reserve follows it.
//
// Threads: one.

#include <algorithm>
#include <cstdint>

namespace coroscope::runtime::inline store {

class chunk_demand {
public:
    explicit constexpr chunk_demand(std::uint32_t span_ns) noexcept : span_ns_(span_ns) {}

    /// Must be called at each turn. `opened` is the number of chunks that were opened in all,
    /// `now_ns` the current time.
    constexpr void note(std::uint64_t opened, std::int64_t now_ns) noexcept {
        const std::uint64_t since = opened - opened_at_begin_;
        const auto passed_ns = static_cast<std::uint64_t>(now_ns - begin_ns_);
        if (passed_ns < span_ns_) {  // the rest of the span is still unknown
            chunks_ = std::max(last_, since);
            return;
        }
        chunks_ = last_ = (since * span_ns_ + passed_ns / 2) / passed_ns;
        opened_at_begin_ = opened;
        begin_ns_ = now_ns;
    }

    /// Returns the chunks per span: the number of the last complete span, or of the current one if
    /// that is already larger.
    constexpr std::uint64_t chunks() const noexcept { return chunks_; }

private:
    std::uint64_t span_ns_;
    std::int64_t begin_ns_ = 0;
    std::uint64_t opened_at_begin_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t chunks_ = 0;
};

}  // namespace coroscope::runtime::inline store
