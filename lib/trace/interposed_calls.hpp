// SPDX-License-Identifier: Apache-2.0
#pragma once

// The connection between the preloaded library coroscope-interpose, which sees the program's calls
// of the C library, and the recorder. Neither links the other: the recorder looks for the function
// below by its name, so that a program with a static recorder is served, too. Until the recorder
// has called it, the library passes every call on.

#include <cstdint>

#include <coroscope/trace/blocking_format.hpp>

namespace coroscope::trace {

/// The recorder's functions. Both are signal-safe, allocate nothing and keep errno. They may be
/// called on any thread and at any time after the connection.
struct call_recorder {
    /// Returns the time in ticks, or 0 if the call must not be recorded.
    std::uint64_t (*begin)() noexcept;
    /// The call has returned. `began` is the result of begin(), and not 0. `descriptor` is negative
    /// if the call has none.
    void (*end)(std::uint64_t began, blocked_function function, int descriptor) noexcept;
};

/// The name of void(const call_recorder*), exported by the library. The argument must stay valid.
/// A change of call_recorder changes the number.
inline constexpr const char* connect_calls_name = "coroscope_connect_calls_1";

}  // namespace coroscope::trace
