// SPDX-License-Identifier: Apache-2.0
#pragma once

// A peer: another way to note that a stretch of code began and ended. Each is a program of its own whose
// rows have the peer's loop as the subject and ours, in the same process, as the floor: a ratio above 1 says
// how much more the peer costs. docs/performance.md says how to add one.

#include "../harness.hpp"

namespace bench {

/// A scope of ours around nothing: recorded while a session runs.
std::uint64_t our_scopes(std::uint64_t operations);

std::uint64_t empty_loop(std::uint64_t operations);

/// `subject` beside a recorded scope of ours.
constexpr row recording_peer(const char* name, burst subject, unsigned threads = 1,
                             void (*settle)() = nullptr) {
    return {name, subject, our_scopes, empty_loop, session_trace::open, threads, 10'000, settle};
}

/// `subject` beside a scope of ours while no session runs.
constexpr row inactive_peer(const char* name, burst subject) {
    return {name, subject, our_scopes, empty_loop};
}

}  // namespace bench
