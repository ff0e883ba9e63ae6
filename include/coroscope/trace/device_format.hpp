// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the trace's records of devices hold: see format.hpp, of which this is a part.

#include <cstdint>

namespace coroscope::trace {

/// What a device did, or was asked for.
enum class device_activity : std::uint8_t {
    kernel = 1,
    copy = 2,
    set = 3,
    runtime_call = 4,     ///< a call of the runtime's interface, by a thread of the program
    driver_call = 5,      ///< of the driver's
    synchronization = 6,  ///< a thread waited, or a stream was made to
    overhead = 7,         ///< of whatever records the device
    allocated = 8,        ///< memory of a device; a moment
    released = 9,
    dependency =
        10,  ///< a moment: from here on a stream waits for what another one had been asked for
};

/// What is not known of an activity, its stream say.
inline constexpr std::uint32_t device_unknown = 0xffff'ffff;

/// Who waits, and for what of the stream (a device_wait's value).
enum class device_wait_kind : std::uint32_t {
    stream =
        0,  ///< a task's next suspension, for all that the stream had been asked for at that moment
    event =
        1,  ///< the same, for what it had been asked for before the call that recorded an event. That call's
    ///< correlation number stands above the context; the stream is device_unknown where nobody knows it
    range =
        2,  ///< a range, for all up to that moment. The serial of its label stands above the context
};
constexpr std::uint64_t device_wait_word(std::uint32_t context, std::uint32_t number) noexcept {
    return std::uint64_t{number} << 32 | context;
}

/// The body of a device record.
struct device_body {
    std::uint64_t end_ticks;
    std::uint64_t task;  ///< in whose context it was asked for; 0: outside tasks, or unknown
    std::uint64_t
        os_thread_id;     ///< of calls, and of what is recorded by a thread: which one; else 0
    std::uint64_t bytes;  ///< copied, set, allocated or released
    std::uint64_t queued_ticks;  ///< a kernel's: when it came to the device's queue; 0: unknown
    std::uint64_t address;       ///< of memory that was allocated or released
    std::uint32_t correlation;   ///< the same in a call and in what it asked for; 0: none
    std::uint32_t device;        ///< its index; device_unknown
    std::uint32_t context;       ///< device_unknown
    std::uint32_t stream;        ///< device_unknown
    device_activity what;
    std::uint8_t reserved[3];
    // Of a dependency: the other stream, device_unknown where nobody knows it, and the call up to which it is waited for.
    std::uint32_t awaited_context;
    std::uint32_t awaited_stream;
    std::uint32_t awaited_correlation;
};
static_assert(sizeof(device_body) == 80);

}  // namespace coroscope::trace
