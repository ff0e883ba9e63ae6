// SPDX-License-Identifier: Apache-2.0
#include <coroscope/profile.hpp>

#include <coroscope/detail/task_state.hpp>

#include "recorder.hpp"
#include "session.hpp"

namespace coroscope {
namespace {

void carry_session(std::uint32_t generation) noexcept {
    const std::uint32_t attributes = detail::carried_attributes(detail::this_thread.carried);
    detail::rebind(detail::make_carried(generation, attributes));
}

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
    trace::buffer trace = runtime::stop_session(generation_);
    if (!all_threads_ && detail::carried_session(detail::this_thread.carried) == generation_)
        carry_session(previous_session_);
    generation_ = 0;
    return trace;
}

}  // namespace coroscope
