// SPDX-License-Identifier: Apache-2.0
#pragma once

// The common part of the recorder's functions that the preloaded library coroscope-interpose calls.

#include <atomic>
#include <cstdint>

namespace coroscope::runtime::inline scopes {

/// Hands `recorder` to the function of the preloaded library with that name, which must be a
/// void(const Recorder*). Returns false if the library is not loaded.
bool connect_interposed(const char* name, const void* recorder) noexcept;

/// Returns whether this thread may report now: it is outside the recorder, and a report would not
/// begin the recording of a forked child.
bool may_report_interposed() noexcept;

/// Returns the time in ticks, or 0 if the thread's session does not record the feature, or this
/// thread may not report now.
std::uint64_t begin_interposed(std::uint64_t feature) noexcept;

/// Converts a length of time to ticks. Measures the rate of ticks at each use, until enough time
/// has passed for an exact rate.
class threshold_ticks {
public:
    void begin(std::uint64_t length_ns) noexcept;
    std::uint64_t at(std::uint64_t now_ticks) noexcept;

private:
    std::uint64_t length_ns_ = 0;
    std::uint64_t began_ticks_ = 0;
    std::int64_t began_ns_ = 0;
    std::atomic<std::uint64_t> known_{0};
};

}  // namespace coroscope::runtime::inline scopes
