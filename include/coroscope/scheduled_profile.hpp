// SPDX-License-Identifier: Apache-2.0
#pragma once

// scheduled_profile: records the steps of a program that a schedule selects (torch:
// profile(schedule=…, on_trace_ready=…) and its step()).
//
//   const coroscope::schedule plan({.wait = 9, .warmup = 1, .active = 2});
//   const auto keep_trace = [](coroscope::finished_cycle& cycle) { keep(std::move(cycle.trace)); };
//   coroscope::scheduled_profile profiler({.all_threads = true}, plan, keep_trace);
//   profiler.start();
//   for (const batch& each : batches) {
//       train(each);
//       profiler.step();
//   }
//   profiler.stop();
//
// Each cycle is a session of its own, in memory. The steps of a warm-up are recorded and then
// thrown away, so that threads and sites are registered and memory is there when the first active
// step begins. With a schedule, each recorded step lies in a range "ProfilerStep#N".
//
// Not thread-safe: one thread must call start(), step() and stop(). A refused start does nothing,
// as for a profile; status() has the reason. An exception of on_trace_ready leaves step() or
// stop(), after the end of the session.

#include <cstdint>

#include <coroscope/detail/exceptions.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/profile.hpp>
#include <coroscope/schedule.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope {

/// The argument of on_trace_ready.
struct finished_cycle {
    trace::buffer trace;
    std::uint64_t number = 0;  ///< of the cycle, from 1
    std::uint64_t last_step = 0;
    std::int64_t prepare_ns = 0;  ///< cost of the warm-up: start and stop of its session
    profile_statistics took;
};

}  // namespace coroscope

#if COROSCOPE_ENABLED

namespace coroscope::detail {

/// All of a scheduled_profile but the handler. start() makes one allocation, and refuses if memory
/// is short.
class scheduled_session {
public:
    COROSCOPE_API scheduled_session(const profile_options& options, const schedule& plan) noexcept;
    COROSCOPE_API ~scheduled_session();
    scheduled_session(const scheduled_session&) = delete;
    scheduled_session& operator=(const scheduled_session&) = delete;

    COROSCOPE_API void start() noexcept;

    /// Ends the step. Returns true if a cycle ended with it; the caller must then call begin_step()
    /// after it has used `cycle`.
    COROSCOPE_API bool end_step(finished_cycle& cycle) noexcept;
    COROSCOPE_API void begin_step() noexcept;

    /// Ends the session. Returns true if a cycle was being recorded.
    COROSCOPE_API bool stop(finished_cycle& cycle) noexcept;

    COROSCOPE_API void toggle_collection(bool enabled) noexcept;
    COROSCOPE_API session_status status() const noexcept;

    std::uint64_t step_number() const noexcept { return step_; }
    profiler_action current_action() const noexcept { return action_; }

private:
    struct running;
    void open() noexcept;
    void take(finished_cycle& cycle) noexcept;
    void enter(profiler_action next) noexcept;

    profile_options options_;
    schedule plan_;
    running* running_ = nullptr;
    session_status status_{};
    std::uint64_t step_ = 0;
    std::uint64_t cycles_ = 0;
    std::int64_t prepare_ns_ = 0;
    profiler_action action_ = profiler_action::none;
    bool started_ = false;
};

}  // namespace coroscope::detail

#else

namespace coroscope::detail {
inline namespace disabled {

/// Counts the steps and records nothing.
class scheduled_session {
public:
    scheduled_session(const profile_options&, const schedule&) noexcept {}
    void start() noexcept { started_ = true; }
    bool end_step(finished_cycle&) noexcept {
        if (started_) ++step_;
        return false;
    }
    void begin_step() noexcept {}
    bool stop(finished_cycle&) noexcept {
        started_ = false;
        return false;
    }
    void toggle_collection(bool) noexcept {}
    session_status status() const noexcept { return compiled_out; }
    std::uint64_t step_number() const noexcept { return step_; }
    profiler_action current_action() const noexcept { return profiler_action::none; }

private:
    std::uint64_t step_ = 0;
    bool started_ = false;
};

}  // namespace disabled
}  // namespace coroscope::detail

#endif

namespace coroscope {
namespace detail {

/// Drops the traces.
struct ignore_cycle {
    void operator()(finished_cycle&) const noexcept {}
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// A profile whose sessions follow a schedule; see above. `OnTraceReady` must be callable with a
/// finished_cycle&.
template <class OnTraceReady = detail::ignore_cycle>
class [[nodiscard]] scheduled_profile {
public:
    /// `on_trace_ready(finished_cycle&)` is called on the thread of step() or stop(), outside the
    /// session.
    explicit scheduled_profile(const profile_options& options, const schedule& plan = {},
                               OnTraceReady on_trace_ready = {})
        : session_(options, plan), on_trace_ready_(detail::moved(on_trace_ready)) {}

    /// Ends as stop() does, and drops an exception of the handler.
    ~scheduled_profile() {
        COROSCOPE_DETAIL_TRY { stop(); }
        COROSCOPE_DETAIL_CATCH(...) { return; }
    }
    scheduled_profile(const scheduled_profile&) = delete;
    scheduled_profile& operator=(const scheduled_profile&) = delete;

    /// Begins step 0. A second start is refused: "Profiler context manager is not reentrant".
    void start() noexcept { session_.start(); }

    /// Ends a step and begins the next one. Does nothing before start() and after stop().
    void step() {
        finished_cycle cycle;
        if (session_.end_step(cycle)) {
            const resumption next{session_};
            on_trace_ready_(cycle);
        } else {
            session_.begin_step();
        }
    }

    /// Ends the session. Passes a cycle that is being recorded to the handler, and drops a warm-up.
    void stop() {
        finished_cycle cycle;
        if (session_.stop(cycle)) on_trace_ready_(cycle);
    }

    /// As profile::toggle_collection, for the cycle that is being recorded.
    void toggle_collection(bool enabled) noexcept { session_.toggle_collection(enabled); }

    session_status status() const noexcept { return session_.status(); }
    std::uint64_t step_number() const noexcept { return session_.step_number(); }
    profiler_action current_action() const noexcept { return session_.current_action(); }

private:
    // The step must begin even if the handler throws.
    struct resumption {
        detail::scheduled_session& session;
        ~resumption() { session.begin_step(); }
    };

    detail::scheduled_session session_;
    OnTraceReady on_trace_ready_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
