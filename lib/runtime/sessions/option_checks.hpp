// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks profile_options: some invalid values prevent a session, others are replaced.
//
// Threads: any.

#include <cstdint>

#include <coroscope/profile.hpp>

namespace coroscope::runtime::inline sessions {

/// Returns `wanted`, rounded down to a valid size of chunks.
constexpr std::uint32_t usable_chunk_bytes(std::uint32_t wanted) noexcept {
    constexpr std::uint32_t least = 4096, most = 1U << 20;
    const std::uint32_t whole = wanted / least * least;
    return whole < least ? least : whole > most ? most : whole;
}

/// Returns the reason why no session can start with these options, and the remedy, as a literal;
/// null: a session can start. Does not check the limit: the session itself does so, because that
/// needs its chunks.
const char* why_no_session(const profile_options& options) noexcept;

/// Returns a message about a value that is replaced, as a literal; empty if there is none.
const char* what_is_replaced(const profile_options& options) noexcept;

}  // namespace coroscope::runtime::inline sessions
