// SPDX-License-Identifier: Apache-2.0
#pragma once

// emitter: the common part of emit_nvtx and emit_itt. While an emitter is on, an observer shows
// each scope that begins to a vendor's tool as it happens; nothing is recorded.
//
//   coroscope::emit_nvtx emit;  // this thread and its work, until the end of the block
//
// An emitter that takes a session's place excludes sessions: on one thread only one of the two may
// be on ("Profiler is already enabled on this thread."). Nothing throws: if the emitter is not on,
// message() has the reason. Only one thread may use it. It must be stopped on the thread or in the
// task that started it.

#include <coroscope/detail/export.hpp>
#include <coroscope/observer.hpp>

namespace coroscope {

/// Options of an emitter.
struct emit_options {
    bool enabled = true;  ///< false: the emitter does nothing
    /// Show inputs: their sizes, and the operations that produced them.
    bool record_shapes = false;
    bool all_threads = false;  ///< for the whole process, not only this thread and its work
    bool tasks = false;        ///< NVTX: also show spawned tasks
};

namespace detail {

/// The differences between emitters.
struct emitter_kind {
    /// returns null if Coroscope was built without it
    observer (*make)(const emit_options& options);
    const char* absent;
    const char* entered_twice;
    bool takes_place_of_session;
    /// Further work at a switch; may be null.
    void (*switched)(bool on, const emit_options& options, observer_handle handle) noexcept;
};

}  // namespace detail

/// The base of the emitters; see above.
class emitter {
public:
    emitter(const emitter&) = delete;
    emitter& operator=(const emitter&) = delete;

    /// Starts the emitter, also after stop(). Refused if it is on.
    COROSCOPE_API void start() noexcept;
    /// Stops the emitter. Scopes that are shown already still get their end.
    COROSCOPE_API void stop() noexcept;
    bool active() const noexcept { return handle_ != 0; }
    /// The reason why the last start was refused: a literal; else empty.
    const char* message() const noexcept { return message_; }

protected:
    COROSCOPE_API emitter(const detail::emitter_kind& kind, const emit_options& options) noexcept;
    ~emitter() { stop(); }

private:
    const detail::emitter_kind& kind_;
    emit_options options_;
    observer_handle handle_ = 0;
    const char* message_ = "";
};

}  // namespace coroscope
