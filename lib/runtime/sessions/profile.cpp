// SPDX-License-Identifier: Apache-2.0
#include <coroscope/profile.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <utility>

#include <coroscope/detail/task_state.hpp>

#include "../writer/recorder.hpp"
#include "session.hpp"

namespace coroscope {
namespace {

void carry_session(std::uint32_t generation) noexcept {
    const std::uint32_t attributes = detail::carried_attributes(detail::this_thread.carried);
    detail::rebind(detail::make_carried(generation, attributes));
}

std::uint32_t carried_generation() noexcept {
    return detail::session_generation(detail::carried_session(detail::this_thread.carried));
}

// The generation of the session that a profile on the process's main thread records; 0: none.
constinit std::atomic<std::uint32_t> main_thread_session{0};

// 0 if the C library's clock would end the process, because it reads the counter.
std::int64_t monotonic_ns() noexcept {
    if (!runtime::counter_may_be_read()) return 0;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool is_main_thread() noexcept { return ::gettid() == ::getpid(); }

}  // namespace

profile::profile(const profile_options& options) noexcept : all_threads_(options.all_threads) {
    if (!options.enabled) return;
    const std::int64_t asked_ns = monotonic_ns();
    const runtime::start_result started = runtime::start_session(options);
    started_ns_ = monotonic_ns();
    generation_ = started.generation;
    last_.message = started.message;
    last_.error_number = started.error_number;
    last_.state = generation_ == 0 ? session_state::refused : session_state::recording;
    if (generation_ == 0) return;
    took_.enable_ns = started_ns_ - asked_ns;
    if (all_threads_) return;
    previous_session_ =
        runtime::outside_requests(detail::carried_session(detail::this_thread.carried));
    carry_session(generation_);
    if (is_main_thread()) main_thread_session.store(generation_, std::memory_order_release);
}

profile::~profile() { stop(); }

session_status profile::status() const noexcept {
    if (generation_ == 0) return last_;
    session_status now = runtime::session_health(generation_);
    // The message of the start, about the options, has priority over a message about the program's
    // build.
    if (*last_.message != '\0' && now.error_number == 0) now.message = last_.message;
    return now;
}

trace::buffer profile::stop() noexcept {
    if (generation_ == 0) return {};
    last_ = status();
    last_.state = session_state::stopped;
    const std::int64_t stopping_ns = monotonic_ns();
    took_.window_ns = stopping_ns - started_ns_;
    std::uint32_t expected = generation_;
    main_thread_session.compare_exchange_strong(expected, 0, std::memory_order_relaxed);
    runtime::stop_result stopped = runtime::stop_session(generation_);
    last_.lost_records =
        std::max(last_.lost_records, stopped.lost_records);  // some came after the status
    if (!all_threads_ && carried_generation() == generation_) carry_session(previous_session_);
    generation_ = 0;
    took_.disable_ns = monotonic_ns() - stopping_ns;
    if (stopped.error_number != 0) {
        last_.message = stopped.message;
        last_.error_number = stopped.error_number;
    }
    return std::move(stopped.trace);
}

void profile::toggle_collection(bool enabled) noexcept {
    if (generation_ != 0) runtime::toggle_collection(generation_, enabled);
}

profile_statistics profile::statistics() const noexcept {
    profile_statistics taken = took_;
    if (generation_ != 0) taken.window_ns = monotonic_ns() - started_ns_;
    return taken;
}

profile_child_thread::profile_child_thread() noexcept {
    join(main_thread_session.load(std::memory_order_acquire));  // pairs with the start
}

profile_child_thread::profile_child_thread(const profile& session) noexcept {
    join(session.generation_);
}

profile_child_thread::~profile_child_thread() {
    if (generation_ == 0) return;
    if (carried_generation() == generation_) carry_session(0);
}

void profile_child_thread::join(std::uint32_t generation) noexcept {
    runtime::register_thread(detail::this_thread);
    if (runtime::is_enabled(detail::this_thread)) {
        refusal_ = {session_state::refused, runtime::already_enabled, EBUSY, 0};
    } else if (runtime::find_session(generation) == nullptr) {
        refusal_ = {session_state::refused, "Profiler is not enabled in main thread.", ESRCH, 0};
    } else {
        generation_ = generation;
        carry_session(generation);
    }
}

session_status profile_child_thread::status() const noexcept {
    return generation_ == 0 ? refusal_ : runtime::session_health(generation_);
}

}  // namespace coroscope
