// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface between sessions and the recorder of a device. The recorder is a library of its
// own, which registers itself when it is loaded and must use nothing else of the runtime. One
// session records devices at a time.
//
//   session starts ─► start() ─► the recorder's threads: device_delivery ─► chunks of the session
//   a task becomes current on a thread ─► follow()         session stops ─► stop()
//
// The recorder writes everything that it learns of the device as records of the thread that learned
// it, under the session's overflow policy. Nothing here throws.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/export.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::detail {

/// A line for the session's status and the trace's header, after the state of device recording.
/// NUL-terminated; a longer text is cut.
struct device_message {
    char text[sizeof(trace::file_header::device_message)];
};

/// A stream, as a trace names it.
struct device_stream {
    std::uint32_t context;
    std::uint32_t stream;
};

/// The last recording of an event: its stream, and the correlation number of the call that recorded
/// it.
struct device_event {
    std::uint32_t context = trace::device_unknown;
    std::uint32_t stream = trace::device_unknown;  ///< device_unknown: unknown
    std::uint32_t correlation = 0;

    bool operator==(const device_event&) const = default;
};

/// The functions of a recorder. The thread that starts or stops a session calls start(), collect()
/// and stop(), one at a time. Any thread may call the others at any time.
struct device_recorder {
    const char* device;  ///< as in profile_options::use_device

    /// Begins to record activities from `start_ticks` on. Returns false if it cannot; `message`
    /// then has the reason. Else `message` names the parts that are missing, if any.
    bool (*start)(std::uint64_t start_ticks, device_message& message) noexcept;

    /// Switches recording. While it is off, the recorder must not record activities that begin, and
    /// must not deliver records.
    void (*collect)(bool on) noexcept;

    /// Delivers the remaining records and ends. On return the recorder must have counted the
    /// records that it knows to be lost. It must not wait for the device.
    void (*stop)() noexcept;

    /// `task` is current on the calling thread from now on; 0: none. May be called again with the
    /// same task.
    void (*follow)(std::uint64_t task) noexcept;

    /// Returns the stream behind a handle; trace::device_unknown if it cannot be found.
    /// `per_thread`: a null handle is the thread's own stream. Any thread may call it.
    device_stream (*identify)(void* stream, bool per_thread) noexcept;

    /// Returns the last recording of this event. Any thread may call it. The event may be destroyed
    /// already.
    device_event (*find_event)(const void* event) noexcept;
};

/// Must be called once, by the library that records the device. `recorder` must live as long as the
/// program.
COROSCOPE_API void register_device_recorder(const device_recorder& recorder) noexcept;

/// The current time on the clock of sessions, and the current moment on all clocks.
COROSCOPE_API std::uint64_t session_ticks() noexcept;
COROSCOPE_API trace::clock_point session_clock_point() noexcept;

/// While it lives, the calling thread writes into the session that records devices. Any thread may
/// use it, but only one at a time per thread, and not in a signal handler.
class device_delivery {
public:
    COROSCOPE_API device_delivery() noexcept;
    COROSCOPE_API ~device_delivery();
    device_delivery(const device_delivery&) = delete;
    device_delivery& operator=(const device_delivery&) = delete;

    /// Returns false if no session records devices (any more). Then the functions below do nothing.
    bool open() const noexcept { return generation_ != 0; }

    /// Writes a device record. If there is no room, the record counts as lost on this thread.
    COROSCOPE_API void write(std::uint64_t start_ticks, std::uint32_t site,
                             const trace::device_body& body) noexcept;

    /// Counts a text that was too long for a site.
    COROSCOPE_API void count_cut_text() noexcept;

    COROSCOPE_API void name_device(std::uint32_t device, const char* name) noexcept;
    COROSCOPE_API void name_stream(std::uint32_t context, std::uint32_t stream,
                                   const char* name) noexcept;

    /// count_lost() adds to the trace's count of lost device records. tell() gives the reason; only
    /// the first message is kept.
    COROSCOPE_API void count_lost(std::uint64_t records) noexcept;
    COROSCOPE_API void tell(const device_message& message) noexcept;

private:
    void write_name(std::uint64_t of, std::uint32_t id, const char* name) noexcept;

    std::uint32_t generation_;
    std::uint64_t carried_before_ = 0;
};

/// Returns the id of the site with this name, of kind operation. The first call with a name makes
/// the site, which is kept until the process ends. Names longer than trace::payload_limit are cut.
/// Returns 0 if there is no room for more sites.
COROSCOPE_API std::uint32_t device_site(const char* name, std::size_t size) noexcept;

}  // namespace coroscope::detail
