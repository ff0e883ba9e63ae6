// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace coroscope::runtime::inline base {

/// Counts the cases of one kind of misuse or shortage, and reports the first one on stderr.
/// Thread-safe.
struct fault_record {
    const char* line;  ///< the report, without a newline; null: no report
    std::atomic<std::uint64_t> count{0};

    /// Counts a case. The first case in the process is reported: the line, followed by up to 256
    /// bytes of `text`.
    void note(const char* text = "") noexcept;
    [[nodiscard]] std::uint64_t seen() const noexcept {
        return count.load(std::memory_order_relaxed);
    }
};

/// Returns the record of a kind. `records` must be in the order of the kinds.
template <class Kind, std::size_t Count>
fault_record& record_of(fault_record (&records)[Count], Kind kind) noexcept {
    return records[static_cast<std::size_t>(kind)];
}

}  // namespace coroscope::runtime::inline base
