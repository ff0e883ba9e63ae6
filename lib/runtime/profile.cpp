// SPDX-License-Identifier: Apache-2.0
#include <coroscope/profile.hpp>

#include <unistd.h>

#include <atomic>
#include <cerrno>

#include <coroscope/detail/task_state.hpp>

#include "recorder.hpp"
#include "session.hpp"

namespace coroscope {
namespace {

void carry_session(std::uint32_t generation) noexcept {
    const std::uint32_t attributes = detail::carried_attributes(detail::this_thread.carried);
    detail::rebind(detail::make_carried(generation, attributes));
}

// Of the session that a profile on the process's main thread records, 0 if there is none.
constinit std::atomic<std::uint32_t> main_thread_session{0};

bool is_main_thread() noexcept { return ::gettid() == ::getpid(); }

}  // namespace

profile::profile(const profile_options& options) noexcept : all_threads_(options.all_threads) {
    if (!options.enabled) return;
    const runtime::start_result started = runtime::start_session(options);
    generation_ = started.generation;
    last_.message = started.message;
    last_.error_number = started.error_number;
    last_.state = generation_ == 0 ? session_state::refused : session_state::recording;
    if (generation_ == 0 || all_threads_) return;
    previous_session_ = detail::carried_session(detail::this_thread.carried);
    carry_session(generation_);
    if (is_main_thread()) main_thread_session.store(generation_, std::memory_order_release);
}

profile::~profile() { stop(); }

session_status profile::status() const noexcept {
    if (generation_ == 0) return last_;
    session_status now = runtime::session_health(generation_);
    return now;
}

trace::buffer profile::stop() noexcept {
    if (generation_ == 0) return {};
    last_ = runtime::session_health(generation_);
    last_.state = session_state::stopped;
    std::uint32_t expected = generation_;
    main_thread_session.compare_exchange_strong(expected, 0, std::memory_order_relaxed);
    trace::buffer trace = runtime::stop_session(generation_);
    if (!all_threads_ && detail::carried_session(detail::this_thread.carried) == generation_)
        carry_session(previous_session_);
    generation_ = 0;
    return trace;
}

profile_child_thread::profile_child_thread() noexcept {
    join(main_thread_session.load(std::memory_order_acquire));  // pairs with the start
}

profile_child_thread::profile_child_thread(const profile& session) noexcept {
    join(session.generation_);
}

profile_child_thread::~profile_child_thread() {
    if (generation_ == 0) return;
    if (detail::carried_session(detail::this_thread.carried) == generation_) carry_session(0);
}

void profile_child_thread::join(std::uint32_t generation) noexcept {
    runtime::register_thread(detail::this_thread);
    if (runtime::effective_session(detail::this_thread) != nullptr) {
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
