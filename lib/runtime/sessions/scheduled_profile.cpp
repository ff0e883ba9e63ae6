// SPDX-License-Identifier: Apache-2.0
#include <coroscope/scheduled_profile.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include <coroscope/attribute.hpp>
#include <coroscope/record_function.hpp>
#include <coroscope/step_tracker.hpp>

namespace coroscope::detail {
namespace {

constexpr char requester_prefix[] = "Coroscope ProfilerStep ";
constexpr char range_prefix[] = "ProfilerStep#";
constexpr std::size_t digits_most = 20;

// A text of the prefix and the number, with a NUL at its end.
template <std::size_t Size>
struct numbered_name {
    numbered_name(const char (&prefix)[Size], std::uint64_t number) noexcept {
        char digits[24];
        char* const end = digits + sizeof digits;
        const char* const first = format_integer(number, end);
        const auto count = static_cast<std::size_t>(end - first);
        std::memcpy(text, prefix, Size - 1);
        std::memcpy(text + Size - 1, first, count);
        text[Size - 1 + count] = '\0';
    }
    char text[Size + digits_most];
};

constinit std::atomic<std::uint64_t> last_requester{0};

bool records(profiler_action action) noexcept {
    return action == profiler_action::record || action == profiler_action::record_and_save;
}

void begin_step_range(record_function& range, std::uint64_t step) noexcept {
    const numbered_name name(range_prefix, step);
    range.begin(static_cast<const char*>(name.text));
}

// The errors that prevent every start.
session_status before_start(const profile_options& options, const schedule& plan) noexcept {
    if (options.output != nullptr)
        return {session_state::refused,
                "A scheduled profile hands its traces to on_trace_ready: leave output empty.",
                EINVAL, 0};
    const schedule_status found = plan.status();
    const bool wrong = found.state == schedule_state::error;
    return {wrong ? session_state::refused : session_state::disabled, found.message, 0, 0};
}

}  // namespace

// The state while the profiler is started. Each profiler has a requester of its own, so two
// profilers in one loop count the same steps, not twice as many.
struct scheduled_session::running {
    std::optional<profile> session;
    record_function step;
    numbered_name<sizeof requester_prefix> requester{
        requester_prefix, last_requester.fetch_add(1, std::memory_order_relaxed) + 1};
};

scheduled_session::scheduled_session(const profile_options& options, const schedule& plan) noexcept
    : options_(options), plan_(plan), status_(before_start(options, plan)) {}

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
    const std::uint64_t lost = status_.lost_records;
    status_ =
        before_start(options_, plan_);  // options that were refused last time may be accepted now
    status_.lost_records = lost;
    if (status_.state == session_state::refused) return;
    running_ = new (std::nothrow) running;
    if (running_ == nullptr) {
        status_ = {session_state::refused, "There is no memory for a session.", ENOMEM, lost};
        return;
    }
    started_ = true;
    step_ = 0;
    step_tracker::init(running_->requester.text);
    begin_step();
}

void scheduled_session::open() noexcept {
    running_->session.emplace(options_);
    const session_status opened = running_->session->status();
    status_.state = opened.state;
    status_.error_number = opened.error_number;
    status_.message = *opened.message != '\0' ? opened.message : plan_.status().message;
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

// Changes from the last step's action to the next step's. The caller must have taken the trace of a
// cycle that was to be saved.
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
    step_tracker::increment(running_->requester.text);
    return saves;
}

bool scheduled_session::stop(finished_cycle& cycle) noexcept {
    if (!started_) return false;
    running_->step.end();
    const bool recorded = records(action_) && running_->session.has_value();
    if (recorded) take(cycle);
    step_tracker::erase(running_->requester.text);
    delete running_;
    running_ = nullptr;
    started_ = false;
    action_ = profiler_action::none;
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
