// SPDX-License-Identifier: Apache-2.0
#pragma once

// Assertions on a recorded block, for tests of a program.
//
//     coroscope::profile session({.all_threads = true});
//     serve_some_requests();
//     const coroscope::analysis::recorded_block recorded(session.stop());
//     CHECK(expect_no_blocking(recorded, "resizing", 5ms));                       // doctest
//     CHECK(expect_no_finding(recorded, coroscope::analysis::finding_severity::error));
//     const auto on_time = expect_queued_p99(recorded, "GET /item", 20ms);
//     EXPECT_TRUE(on_time) << on_time;                                            // GoogleTest
//
// If an expectation is not met, its message is one line: the problem, its place, and the next step.
// An expectation is not met if the recording cannot prove it, for example if records were lost, or
// if the recording has no job of the executor or no request of the type. The exception is
// expect_no_finding(): a rule of check() that lacks facts does not run, so it has no finding.
//
// Thread-safety: pure functions, safe on any thread.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/findings.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope::analysis {

/// The answer to an expectation. Test frameworks print it by `<<`.
struct expectation {
    bool met = false;
    std::string message;  ///< empty if it is met

    explicit operator bool() const noexcept { return met; }

    template <class Stream>
    friend Stream& operator<<(Stream& to, const expectation& of) {
        to << (of.met ? "met" : of.message.c_str());
        return to;
    }
};

/// The loaded trace of a block of a test.
class recorded_block {
public:
    /// Loads the trace that profile::stop() returned. If `bytes` is not a trace, for example if the
    /// session could not record, no expectation is met, and each message has the reason.
    COROSCOPE_API explicit recorded_block(const coroscope::trace::buffer& bytes);
    /// Takes a loaded trace, for example from a file.
    COROSCOPE_API explicit recorded_block(trace loaded);

    [[nodiscard]] const trace& loaded() const noexcept { return loaded_; }

    /// Returns the reason why the recording proves nothing: it could not be loaded, is damaged, or
    /// lost records. Returns an empty string if there is no reason.
    [[nodiscard]] const std::string& doubt() const noexcept { return doubt_; }

private:
    trace loaded_;
    std::string doubt_;
};

/// Expects that each job of the executor held its thread for at most `limit`, computing or blocked.
/// Preempted time does not count, as far as it is known. `executor` is the name of the executor. If
/// it has no name, `executor` is its kind and number, such as "thread_pool 2". The kind alone means
/// all executors of that kind.
[[nodiscard]] COROSCOPE_API expectation expect_no_blocking(const recorded_block& recorded,
                                                           std::string_view executor,
                                                           std::chrono::nanoseconds limit);

/// Expects that 99 of 100 whole requests of that type were queued for at most `limit` (nearest
/// rank). The time is that of the task in which the request began.
[[nodiscard]] COROSCOPE_API expectation expect_queued_p99(const recorded_block& recorded,
                                                          std::string_view request,
                                                          std::chrono::nanoseconds limit);

/// Expects that 99 of 100 whole requests of that type took at most `limit`.
[[nodiscard]] COROSCOPE_API expectation expect_wall_p99(const recorded_block& recorded,
                                                        std::string_view request,
                                                        std::chrono::nanoseconds limit);

/// Expects that check() has no finding of this severity or a worse one. A rule that lacks facts
/// does not run; `check(recorded.loaded()).not_run` lists these rules.
[[nodiscard]] COROSCOPE_API expectation expect_no_finding(const recorded_block& recorded,
                                                          finding_severity least);

}  // namespace coroscope::analysis
