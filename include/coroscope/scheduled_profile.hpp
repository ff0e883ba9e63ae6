// SPDX-License-Identifier: Apache-2.0
#pragma once

// scheduled_profile: records the steps of a program that a schedule picks (torch: profile(schedule=…,
// on_trace_ready=…) and its step()).
//
//   coroscope::scheduled_profile profiler({.all_threads = true}, coroscope::schedule({.wait = 9, .warmup = 1, .active = 2}),
//                                         [](coroscope::finished_cycle& cycle) { keep(std::move(cycle.trace)); });
//   profiler.start();
//   for (const batch& each : batches) {
//       train(each);
//       profiler.step();
//   }
//   profiler.stop();
//
// Each cycle is a session of its own, in memory. Steps of a warm-up are recorded like the others and
// thrown away, so that threads, sites and memory are known when the first active step begins. With a
// schedule, each recorded step lies in a range "ProfilerStep#N".
//
// Not thread-safe: start(), step() and stop() are called on one thread. Refuses like a profile: what it
// could not do stands in status(). What on_trace_ready throws leaves step() and stop(), after the
// session is over.

#include <cstdint>

#include <coroscope/detail/exceptions.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/profile.hpp>
#include <coroscope/schedule.hpp>
#include <coroscope/trace/buffer.hpp>

namespace coroscope {

/// What on_trace_ready is given.
struct finished_cycle {
    trace::buffer trace;
    std::uint64_t number = 0;  ///< of the cycle, from 1
    std::uint64_t last_step = 0;
    std::int64_t prepare_ns = 0;  ///< the warm-up's cost: to start and stop its session
    profile_statistics took;
};

namespace detail {

/// All but the handler. One allocation, at start(); without memory it refuses.
class scheduled_session {
public:
    COROSCOPE_API scheduled_session(const profile_options& options, const schedule& plan) noexcept;
    COROSCOPE_API ~scheduled_session();
    scheduled_session(const scheduled_session&) = delete;
    scheduled_session& operator=(const scheduled_session&) = delete;

    COROSCOPE_API void start() noexcept;

    /// Ends the step. True where a cycle ended with it: take it, then go on with begin_step().
    COROSCOPE_API bool end_step(finished_cycle& cycle) noexcept;
    COROSCOPE_API void begin_step() noexcept;

    /// Ends everything. True where a cycle was being recorded.
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

/// Where nobody wants the traces.
struct ignore_cycle {
    void operator()(finished_cycle&) const noexcept {}
};

}  // namespace detail

template <class OnTraceReady = detail::ignore_cycle>
class scheduled_profile {
public:
    /// `on_trace_ready(finished_cycle&)` is called on the thread of step() or stop(), outside the session.
    explicit scheduled_profile(const profile_options& options, const schedule& plan = {},
                               OnTraceReady on_trace_ready = {})
        : session_(options, plan), on_trace_ready_(detail::moved(on_trace_ready)) {}

    /// Ends like stop(), and drops what the handler throws.
    ~scheduled_profile() {
        COROSCOPE_DETAIL_TRY { stop(); }
        COROSCOPE_DETAIL_CATCH(...) { return; }
    }
    scheduled_profile(const scheduled_profile&) = delete;
    scheduled_profile& operator=(const scheduled_profile&) = delete;

    /// Begins step 0. Refused where it has begun: "Profiler context manager is not reentrant".
    void start() noexcept { session_.start(); }

    /// One step is done, the next one begins. Does nothing before start() and after stop().
    void step() {
        finished_cycle cycle;
        if (session_.end_step(cycle)) {
            const resumption next{session_};
            on_trace_ready_(cycle);
        } else {
            session_.begin_step();
        }
    }

    /// Ends; a cycle that is being recorded is handed over, a warm-up is thrown away.
    void stop() {
        finished_cycle cycle;
        if (session_.stop(cycle)) on_trace_ready_(cycle);
    }

    /// As profile::toggle_collection, of the cycle that is being recorded.
    void toggle_collection(bool enabled) noexcept { session_.toggle_collection(enabled); }

    session_status status() const noexcept { return session_.status(); }
    std::uint64_t step_number() const noexcept { return session_.step_number(); }
    profiler_action current_action() const noexcept { return session_.current_action(); }

private:
    // The step goes on, whatever the handler throws.
    struct resumption {
        detail::scheduled_session& session;
        ~resumption() { session.begin_step(); }
    };

    detail::scheduled_session session_;
    OnTraceReady on_trace_ready_;
};

}  // namespace coroscope
