// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bodies of device records. This header is a part of format.hpp.

#include <cstdint>

namespace coroscope::trace {

/// The kind of a device record: an activity of a device, or a request for one.
enum class device_activity : std::uint8_t {
    kernel = 1,
    copy = 2,
    set = 3,
    runtime_call = 4,     ///< a call into the runtime's interface, by a thread of the program
    driver_call = 5,      ///< a call into the driver's interface
    synchronization = 6,  ///< a thread waited, or a stream had to wait
    overhead = 7,         ///< of the recorder of the device
    allocated = 8,        ///< memory of a device; a moment
    released = 9,
    /// A moment: from here on a stream waits for the earlier work of another stream.
    dependency = 10,
};

/// An unknown number in a device record, such as an unknown stream.
inline constexpr std::uint32_t device_unknown = 0xffff'ffff;

/// The waiter of a device_wait record, and the awaited part of the stream's work (the tag's value).
enum class device_wait_kind : std::uint32_t {
    /// A task's next suspension waits for all earlier work of the stream.
    stream = 0,
    /// A task's next suspension waits for the work before the call that recorded an event. The
    /// call's correlation number is above the context. If the stream is unknown, it is
    /// device_unknown.
    event = 1,
    /// A range waits for all earlier work of the stream. The serial of its label is above the
    /// context.
    range = 2,
};
constexpr std::uint64_t device_wait_word(std::uint32_t context, std::uint32_t number) noexcept {
    return std::uint64_t{number} << 32 | context;
}

/// The body of a device record.
struct device_body {
    std::uint64_t end_ticks;
    std::uint64_t task;  ///< the task whose context requested it; 0: none, or unknown
    /// Of calls and of other records of a thread: the thread; else 0.
    std::uint64_t os_thread_id;
    std::uint64_t bytes;         ///< copied, set, allocated or released
    std::uint64_t queued_ticks;  ///< of a kernel: when it reached the device's queue; 0: unknown
    std::uint64_t address;       ///< of memory that was allocated or released
    std::uint32_t correlation;   ///< the same in a call and its requested work; 0: none
    std::uint32_t device;        ///< index, or device_unknown
    std::uint32_t context;       ///< device_unknown
    std::uint32_t stream;        ///< device_unknown
    device_activity what;
    std::uint8_t reserved[3];
    // Of a dependency: the awaited stream, or device_unknown, and the call before which its work is
    // awaited.
    std::uint32_t awaited_context;
    std::uint32_t awaited_stream;
    std::uint32_t awaited_correlation;
};
static_assert(sizeof(device_body) == 80);

}  // namespace coroscope::trace
