// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace coroscope::runtime {

/// One kind of misuse or shortage: counted, and told of once. Any thread.
struct fault_record {
    const char* line;  ///< for stderr, without its newline; null: it is only counted
    std::atomic<std::uint64_t> count{0};

    /// Counts one. The first in the process writes the line, with up to 256 bytes of `text` behind it.
    void note(const char* text = "") noexcept;
    [[nodiscard]] std::uint64_t seen() const noexcept {
        return count.load(std::memory_order_relaxed);
    }
};

/// The record of a kind, in an array that stands in the order of the kinds.
template <class Kind, std::size_t Count>
fault_record& record_of(fault_record (&records)[Count], Kind kind) noexcept {
    return records[static_cast<std::size_t>(kind)];
}

}  // namespace coroscope::runtime
