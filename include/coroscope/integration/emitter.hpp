// SPDX-License-Identifier: Apache-2.0
#pragma once

// emitter: what emit_nvtx and emit_itt have in common. While it is on, each scope that begins is shown
// to a vendor's tool as it happens, by an observer; nothing is recorded.
//
//   coroscope::emit_nvtx emit;          // this thread and the work that it starts, to the end of the block
//
// It takes the place of a session: of both, one is on at a time ("Profiler is already enabled on this thread.").
// Nothing throws: where it is not on, message() says why. Used by one thread; stopped on the thread or in the task
// that started it.

#include <coroscope/detail/export.hpp>
#include <coroscope/observer.hpp>

namespace coroscope {

struct emit_options {
    bool enabled = true;  ///< false: it does nothing
    bool record_shapes =
        false;                 ///< show inputs: their sizes and the operations that they come from
    bool all_threads = false;  ///< of the whole process, not of this thread and what it starts
    bool tasks = false;        ///< NVTX: show tasks that are spawned, too
};

namespace detail {

/// What is different between emitters.
struct emitter_kind {
    observer (*make)(const emit_options& options);  ///< null: Coroscope was built without it
    const char* absent;
    const char* entered_twice;
    bool takes_place_of_session;
    /// What else is to be done; may be null.
    void (*switched)(bool on, const emit_options& options, observer_handle handle) noexcept;
};

}  // namespace detail

class emitter {
public:
    emitter(const emitter&) = delete;
    emitter& operator=(const emitter&) = delete;

    /// Starts again what was stopped. Refused where it is on.
    COROSCOPE_API void start() noexcept;
    /// Scopes that are shown already have their end.
    COROSCOPE_API void stop() noexcept;
    bool active() const noexcept { return handle_ != 0; }
    /// Why the last start was refused; a literal, else empty.
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
