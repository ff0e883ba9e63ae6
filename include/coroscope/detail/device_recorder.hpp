// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seam between sessions and what records a device: a library of its own, which registers itself when it is
// loaded and needs nothing of the runtime but this header. One session records devices at a time.
//
//   session starts ──► start() ──► the recorder's threads: device_delivery ──► chunks of the session
//   a task becomes current on a thread ──► follow()          session stops ──► stop()
//
// Whatever the recorder learns of a device it writes as records of the thread that learned of it, by the
// session's policy. Nothing here throws.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/export.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::detail {

/// A line for the session's status and its trace's header, which say before it whether devices are recorded:
/// NUL-terminated, cut where it is longer.
struct device_message {
    char text[sizeof(trace::file_header::device_message)];
};

/// A stream as a trace names it.
struct device_stream {
    std::uint32_t context;
    std::uint32_t stream;
};

/// Where an event was recorded last: in which stream, and by the call with which correlation number.
struct device_event {
    std::uint32_t context = trace::device_unknown;
    std::uint32_t stream = trace::device_unknown;  ///< device_unknown: nobody knows
    std::uint32_t correlation = 0;

    bool operator==(const device_event&) const = default;
};

/// What a recorder does. All but follow() are called by the thread that starts or stops a session, one at a time.
struct device_recorder {
    const char* device;  ///< as profile_options::use_device names it

    /// Begins to record what happens from `start_ticks` on. False where it does not: the message says why. Else
    /// it says what is missing, if anything.
    bool (*start)(std::uint64_t start_ticks, device_message& message) noexcept;

    /// Nothing is recorded that begins from here on, until it is on again; nor is anything delivered in between.
    void (*collect)(bool on) noexcept;

    /// Delivers what is there and ends; what it knows to be missing it has counted when it returns. It does not
    /// wait for the device.
    void (*stop)() noexcept;

    /// This task is current on the calling thread from here on; 0: none. Called as often as somebody looks.
    void (*follow)(std::uint64_t task) noexcept;

    /// What a stream's handle stands for; trace::device_unknown where that cannot be told. `per_thread`: no handle
    /// is the thread's own stream. Called by any thread.
    device_stream (*identify)(void* stream, bool per_thread) noexcept;

    /// Where this event was recorded last. Called by any thread; the event need not exist any more.
    device_event (*find_event)(const void* event) noexcept;
};

/// Called once, by the library that records the device; `recorder` lives as long as the program.
COROSCOPE_API void register_device_recorder(const device_recorder& recorder) noexcept;

/// Now, on the clock of sessions; and one moment on all clocks.
COROSCOPE_API std::uint64_t session_ticks() noexcept;
COROSCOPE_API trace::clock_point session_clock_point() noexcept;

/// While it lives the calling thread writes into the session that records devices. On any thread, one at a time
/// on each; not in a signal handler.
class device_delivery {
public:
    COROSCOPE_API device_delivery() noexcept;
    COROSCOPE_API ~device_delivery();
    device_delivery(const device_delivery&) = delete;
    device_delivery& operator=(const device_delivery&) = delete;

    /// False where no session records devices (any more): then nothing below does anything.
    bool open() const noexcept { return generation_ != 0; }

    /// Writes a device record. One that finds no room counts as lost on this thread.
    COROSCOPE_API void write(std::uint64_t start_ticks, std::uint32_t site,
                             const trace::device_body& body) noexcept;

    /// Counts texts that were too long for a site.
    COROSCOPE_API void count_cut_text() noexcept;

    COROSCOPE_API void name_device(std::uint32_t device, const char* name) noexcept;
    COROSCOPE_API void name_stream(std::uint32_t context, std::uint32_t stream,
                                   const char* name) noexcept;

    /// Adds to what the trace says is lost, and tells why: the first message stays.
    COROSCOPE_API void count_lost(std::uint64_t records) noexcept;
    COROSCOPE_API void tell(const device_message& message) noexcept;

private:
    void write_name(std::uint64_t of, std::uint32_t id, const char* name) noexcept;

    std::uint32_t generation_;
    std::uint64_t carried_before_ = 0;
};

/// Id of the site with this name, of kind operation; made on first sight and kept for good. Names beyond
/// trace::payload_limit are cut. 0 where there is no room for more sites.
COROSCOPE_API std::uint32_t device_site(const char* name, std::size_t size) noexcept;

}  // namespace coroscope::detail
