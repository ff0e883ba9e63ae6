// SPDX-License-Identifier: Apache-2.0
#pragma once

// The waits for locks of the C library, by lock.

#include <cstdint>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The waits for a lock with one place of the waiters, or with one place of the holders.
struct lock_place {
    std::uint32_t scope = none;       ///< its name: index into trace::strings
    std::uint32_t spawn_site = none;  ///< of the task: index into trace::sites
    std::uint64_t waits = 0;
    std::int64_t total_ns = 0;
};

/// The waits for one lock in one way: as a reader, as a writer, …
struct lock_statistics {
    std::uint64_t address = 0;
    coroscope::trace::lock_kind kind = coroscope::trace::lock_kind::unknown;
    /// The recorder saw these waits by looking at blocked threads from time to time. Others are
    /// missing, and a wait may be longer than shown.
    bool samples = false;
    std::uint64_t gave_up = 0;  ///< waits that ended without the lock
    std::int64_t total_ns = 0;
    percentiles length;                 ///< its count is the number of waits
    lock_place waiter;                  ///< the place that waited longest
    lock_place holder;                  ///< the holders' place that caused the longest waiting
    std::uint64_t unknown_holders = 0;  ///< waits whose holder is unknown
    lock_wait worst;
};

/// Returns one entry per lock and way of waiting, the longest total first. If waits were recorded
/// one by one, samples of these waits are left out.
[[nodiscard]] COROSCOPE_API std::vector<lock_statistics> statistics_of_locks(const trace& loaded);

/// "mutex"; "unknown" for a kind that this version does not know.
[[nodiscard]] COROSCOPE_API std::string_view
name_of_lock(coroscope::trace::lock_kind kind) noexcept;

}  // namespace coroscope::analysis
