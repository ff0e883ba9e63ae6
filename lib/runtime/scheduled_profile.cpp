// SPDX-License-Identifier: Apache-2.0
#include <coroscope/scheduled_profile.hpp>

#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include <coroscope/attribute.hpp>
#include <coroscope/record_function.hpp>
#include <coroscope/step_tracker.hpp>

namespace coroscope::detail {
namespace {

constexpr const char* step_requester = "Coroscope ProfilerStep";

bool records(profiler_action action) noexcept {
    return action == profiler_action::record || action == profiler_action::record_and_save;
}

void begin_step_range(record_function& range, std::uint64_t step) noexcept {
    constexpr char prefix[] = "ProfilerStep#";
    char name[sizeof prefix + 20];
    char digits[24];
    char* const end = digits + sizeof digits;
    const char* const first = format_integer(step, end);
    std::memcpy(name, prefix, sizeof prefix - 1);
    std::memcpy(name + sizeof prefix - 1, first, static_cast<std::size_t>(end - first));
    name[sizeof prefix - 1 + static_cast<std::size_t>(end - first)] = '\0';
    range.begin(static_cast<const char*>(name));
}

}  // namespace

// What lives while the profiler is started.
struct scheduled_session::running {
    std::optional<profile> session;
    record_function step;
};

scheduled_session::scheduled_session(const profile_options& options, const schedule& plan) noexcept
    : options_(options), plan_(plan) {
    const schedule_status wrong = plan.status();
    status_.message = wrong.message;
    if (wrong.state == schedule_state::error) status_.state = session_state::refused;
    if (options.output == nullptr) return;
    status_ = {session_state::refused,
               "A scheduled profile hands its traces to on_trace_ready: leave output empty.",
               EINVAL, 0};
}

scheduled_session::~scheduled_session() {
    finished_cycle dropped;
    stop(dropped);
}

void scheduled_session::start() noexcept {
    if (!options_.enabled) return;
    if (started_) {
        status_.message = "Profiler context manager is not reentrant";
        return;
    }
    if (status_.state == session_state::refused) return;
    running_ = new (std::nothrow) running;
    if (running_ == nullptr) {
        status_ = {session_state::refused, "There is no memory for a session.", ENOMEM, 0};
        return;
    }
    started_ = true;
    step_ = 0;
    step_tracker::init(step_requester);
    begin_step();
}

void scheduled_session::open() noexcept {
    running_->session.emplace(options_);
    const session_status opened = running_->session->status();
    status_.state = opened.state;
    status_.error_number = opened.error_number;
    if (*opened.message != '\0') status_.message = opened.message;
    if (opened.state == session_state::refused) running_->session.reset();
}

void scheduled_session::take(finished_cycle& cycle) noexcept {
    status_.lost_records += running_->session->status().lost_records;
    cycle.trace = running_->session->stop();
    cycle.number = ++cycles_;
    cycle.last_step = step_;
    cycle.prepare_ns = prepare_ns_;
    cycle.took = running_->session->statistics();
    prepare_ns_ = 0;
    running_->session.reset();
    status_.state = session_state::stopped;
}

// From the action of the last step to that of the next. A cycle that was to be saved is over by then.
void scheduled_session::enter(profiler_action next) noexcept {
    if (action_ == profiler_action::warmup && next != profiler_action::warmup &&
        running_->session) {
        running_->session->stop();
        const profile_statistics warmed = running_->session->statistics();
        prepare_ns_ += warmed.enable_ns + warmed.disable_ns;
        running_->session.reset();
    }
    if (next != profiler_action::none && !running_->session) open();
    action_ = next;
}

void scheduled_session::begin_step() noexcept {
    if (!started_) return;
    enter(plan_(step_));
    if (plan_.divides_steps() && records(action_)) begin_step_range(running_->step, step_);
}

bool scheduled_session::end_step(finished_cycle& cycle) noexcept {
    if (!started_) return false;
    running_->step.end();
    const bool saves = action_ == profiler_action::record_and_save && running_->session.has_value();
    if (saves) {
        take(cycle);
        action_ = profiler_action::none;
    }
    ++step_;
    step_tracker::increment(step_requester);
    return saves;
}

bool scheduled_session::stop(finished_cycle& cycle) noexcept {
    if (!started_) return false;
    running_->step.end();
    const bool recorded = records(action_) && running_->session.has_value();
    if (recorded) take(cycle);
    delete running_;
    running_ = nullptr;
    started_ = false;
    action_ = profiler_action::none;
    step_tracker::erase(step_requester);
    if (status_.state != session_state::refused) status_.state = session_state::stopped;
    return recorded;
}

void scheduled_session::toggle_collection(bool enabled) noexcept {
    if (started_ && running_->session) running_->session->toggle_collection(enabled);
}

session_status scheduled_session::status() const noexcept {
    if (!started_ || !running_->session) return status_;
    session_status now = running_->session->status();
    now.lost_records += status_.lost_records;
    if (*now.message == '\0') now.message = status_.message;
    return now;
}

}  // namespace coroscope::detail
