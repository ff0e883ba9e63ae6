// SPDX-License-Identifier: Apache-2.0
#pragma once

// Notes: optional facts of a scope that a session asks for, written when the scope begins.

#include <cstddef>
#include <cstdint>

#include <coroscope/sequence.hpp>

namespace coroscope::runtime::inline scopes {

/// The call stack of a scope. It is taken before the scope begins and recorded afterwards, so that
/// the scope's time does not include the unwinding.
class captured_stack {
public:
    /// `caller` is the return address in the frame at which the stack begins. Frames inside it
    /// belong to the runtime and are left out. If no frame has this address, all frames are kept.
    [[gnu::noinline]] explicit captured_stack(const void* caller) noexcept;

    /// Records the stack for the scope that began on this thread at `start_ticks`.
    void note(std::uint64_t start_ticks) const noexcept;

    static constexpr std::size_t most_frames = 64;

private:
    friend struct frame_walk;
    std::size_t count_ = 0;
    std::uint64_t addresses_[most_frames + 1];  // and the reason why frames are missing
};

/// Records the place in a sequence of deferred work, for the scope that began at `start_ticks`.
void note_sequence(std::uint64_t start_ticks, const deferred& place) noexcept;

}  // namespace coroscope::runtime::inline scopes
