// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notes: what else a session asks to know of a scope, written when the scope begins.

#include <cstddef>
#include <cstdint>

#include <coroscope/sequence.hpp>

namespace coroscope::runtime {

/// The stack of calls, taken before a scope begins and noted afterwards, so that the scope's time is its own.
class captured_stack {
public:
    /// Frames inside the one that `caller` returns into are the runtime's own, and left out.
    [[gnu::noinline]] explicit captured_stack(const void* caller) noexcept;

    /// Of the scope of this thread that began then.
    void note(std::uint64_t start_ticks) const noexcept;

    static constexpr std::size_t most_frames = 64;

private:
    friend struct frame_walk;
    std::size_t count_ = 0;
    std::uint64_t addresses_[most_frames];
};

/// The scope's place in a sequence of deferred work.
void note_sequence(std::uint64_t start_ticks, const deferred& place) noexcept;

class chunk_store;

/// Describes the modules that are loaded now, so that addresses can be named afterwards.
void describe_modules(chunk_store& store) noexcept;

}  // namespace coroscope::runtime
