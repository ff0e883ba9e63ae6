// SPDX-License-Identifier: Apache-2.0
#pragma once

// A peer: another means to record the begin and the end of a stretch of code. Each peer is a
// program of its own. Its rows have the peer's loop as the subject and ours, in the same process,
// as the floor: a ratio above 1 is the higher cost of the peer. docs/contributing/benchmarks.md
// describes how to add one.

#include "../harness.hpp"

namespace bench {

/// Empty scopes of ours, which are recorded while a session runs.
std::uint64_t our_scopes(std::uint64_t operations);

std::uint64_t empty_loop(std::uint64_t operations);

/// A row with `subject` beside recorded scopes of ours.
constexpr row recording_peer(const char* name, burst subject, unsigned threads = 1,
                             void (*settle)() = nullptr) {
    return {name, subject, our_scopes, empty_loop, session_trace::open, threads, 10'000, settle};
}

/// A row with `subject` beside scopes of ours without a session.
constexpr row inactive_peer(const char* name, burst subject) {
    return {name, subject, our_scopes, empty_loop};
}

}  // namespace bench
