// SPDX-License-Identifier: Apache-2.0

// Contexts that are moved by hand: context_guard, and the jobs of an executor.

#include <coroscope/context.hpp>

#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_transitions.hpp>
#include <coroscope/executor_adaptor.hpp>
#include <coroscope/trace/executor_format.hpp>

#include "../carried/attribute.hpp"
#include "../carried/attribute_nodes.hpp"
#include "../carried/session_return.hpp"
#include "../writer/executors.hpp"
#include "../writer/recorder.hpp"
#include "context.hpp"
#include "frames.hpp"
#include "live_transitions.hpp"
#include "stacks.hpp"
#include "unwinding.hpp"

namespace coroscope {
namespace {

using namespace runtime;
using detail::is_recording;

// Records the switch for the session that records here, unless it has a record of it.
void record_context(const context& next, std::uint64_t previous, std::uint32_t flags) noexcept {
    const std::uint32_t serial = announced_serial(next.attributes);
    const std::uint64_t ticks = now();
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::context, serial, flags), next.task, previous);
}

std::uint64_t carried_by(const context& next) noexcept {
    return detail::make_carried(next.session, next.attributes);
}

[[gnu::always_inline]] inline void install_context(const context& next,
                                                   detail::task_state* frame) noexcept {
    detail::go_on_with(next.task << trace::mark_thread_bits, carried_by(next), frame);
}

// The session changes before the record is written and the task after it: if the record opens a
// chunk, the chunk's header must name the task that ran before.
void install_session(const context& next) noexcept {
    detail::install(this_thread.mark, carried_by(next), nullptr);
}

bool is_current(const context& next) noexcept {
    return next.task == task_of(this_thread.mark) &&
           next.attributes == detail::carried_attributes(this_thread.carried);
}

// Records the switch for the session that records here, and for the next session if that is another
// one.
void switch_context(const context& next, detail::task_state* frame, std::uint32_t flags) noexcept {
    const std::uint64_t previous = task_of(this_thread.mark);
    const bool changes = !is_current(next);
    const bool told = changes && is_recording();
    if (told) record_context(next, previous, flags);
    const std::uint32_t session = this_thread.bound_session;
    install_session(next);
    const bool same_session = told && this_thread.bound_session == session;
    if (changes && !same_session && is_recording()) {
        const context_change under_way;
        record_context(next, previous, flags);
    }
    install_context(next, frame);
    if (changes && flags == trace::context_restored && is_recording())
        repeat_carried(next.task, carried_by(next));
}

}  // namespace

context current_context() noexcept {
    return {task_of(this_thread.mark), detail::carried_session(this_thread.carried),
            retain_attributes(detail::carried_attributes(this_thread.carried))};
}

// The frame stays, because it shows on top of which task the context was installed.
context_guard::context_guard(const context& next) noexcept
    : installed_(next), previous_(current_context()), previous_frame_(this_thread.frame) {
    switch_context(installed_, this_thread.frame, 0);
}

context_guard::~context_guard() {
    switch_context(previous_, static_cast<detail::task_state*>(previous_frame_),
                   trace::context_restored);
}

namespace detail {

void record_context(const resumer& next, std::uint64_t previous, std::uint32_t flags) noexcept {
    const std::uint32_t serial = announced_serial(carried_attributes(next.carried));
    const std::uint64_t ticks = now();
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::context, serial, flags), task_of(next.mark),
                     previous);
}

namespace {

// `executor`: null if it is unknown.
job_stamp post(const void* location, std::uint32_t flags,
               const executor_place* executor = nullptr) noexcept {
    const job_stamp job{new_task_id(), current_context()};
    if (load_gate() == 0) return job;
    const std::uint64_t ticks = now();
    site* where = location == nullptr ? nullptr : intern_location(location, site_kind::job);
    const std::uint32_t id = where == nullptr ? 0 : site_id(*where);
    show_spawned(job.task, job.poster.task, id);
    if (!is_recording()) return job;
    if (executor != nullptr) flags |= trace::spawn_on(executor_number(find_place(*executor)));
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::spawn, id, flags | trace::spawn_ready),
                     job.task, job.poster.task);
    record_carried(job.task, carried_by(job.poster));
    return job;
}

}  // namespace

job_stamp post_job(const void* location) noexcept { return post(location, trace::spawn_job); }
job_stamp post_resuming_job(const void* location) noexcept {
    return post(location, trace::spawn_job | trace::spawn_only_resumes);
}
job_stamp post_job_on(const executor_place& executor, const void* location,
                      bool only_resumes) noexcept {
    return post(location,
                trace::spawn_job | (only_resumes ? trace::spawn_only_resumes : std::uint32_t{0}),
                &executor);
}
job_stamp post_thread(const void* location) noexcept { return post(location, 0); }

namespace {

// The job runs on this thread from here on, on top of `before`.
void start_job(const job_stamp& job, const resumer& before, task_state* frame) noexcept {
    const context next(job.task, job.poster.session, retain_attributes(job.poster.attributes));
    install_session(next);
    if (is_recording()) {
        const context_change under_way;
        const std::uint64_t ticks = now();
        if (char* at = reserve())
            write_record(at, ticks, make_tag(record_kind::resume, 0, 0), job.task,
                         task_of(before.mark));
        repeat_carried(job.task, carried_by(next));
    }
    if (may_track(load_gate())) show_running(job.task);
    install_context(next, frame);
}

// The job is over, and the thread goes on with `next`.
void end_job(std::uint64_t task, bool failed, const resumer& next) noexcept {
    if (failed) unseen_exception_leaves(task);
    if (may_track(load_gate())) show_ended(task);
    if (is_recording()) {
        const std::uint64_t ticks = now();
        if (char* at = reserve())
            write_record(at, ticks,
                         make_tag(record_kind::finish, 0, failed ? trace::finish_exception : 0U),
                         task, task_of(next.mark));
        repeat_carried(task_of(next.mark), next.carried);
    }
    restore(next);
}

void write_of_task(record_kind kind, std::uint32_t site, std::uint64_t task,
                   std::uint64_t other) noexcept {
    if (!is_recording()) return;
    const std::uint64_t ticks = now();
    if (char* at = reserve()) write_record(at, ticks, make_tag(kind, site, 0), task, other);
}

// Returns a resumer for work of no task and of no request, without attributes, in the session that
// records here.
resumer nobody() noexcept {
    return {0, outside_requests(carried_session(this_thread.carried)), nullptr};
}

// After a job whose stack may have been put aside untold. The frame beneath is not put back: it may
// be of something that the thread left, untold, before this job began, and that is over since.
// Whoever waits for jobs puts his own back.
resumer after_moving(std::uint64_t task, const resumer& before, bool same_thread) noexcept {
    const bool runs_here = same_thread && task_of(this_thread.mark) == task;
    return runs_here ? resumer{before.mark, before.carried, nullptr} : nobody();
}

}  // namespace

// An untracked stack may be switched without notice, and the job's state with it.
job_run::job_run(const job_stamp& job) noexcept
    : exceptions_(exceptions_here()), moves_(!runs_on_known_stack(__builtin_frame_address(0))) {
    state_.task = job.task;
    state_.before = current_resumer();
    start_job(job, state_.before, moves_ ? nullptr : &state_);
    state_.carried = this_thread.carried;  // the job holds the attributes
    state_.announced = static_cast<std::uint16_t>(this_thread.bound_session);
}

// If the job's stack was switched without notice, the thread runs another context by now. The
// context before the job then belongs to another thread or stack.
job_run::~job_run() {
    const bool runs_here = this_thread.frame == &state_;
    if (is_unwound(state_)) {
        if (runs_here) restore(state_.before);
        return;
    }
    const bool same_thread =
        trace::mark_thread(state_.before.mark) == trace::mark_thread(this_thread.mark);
    const resumer elsewhere =
        moves_ ? after_moving(state_.task, state_.before, same_thread) : current_resumer();
    end_job(state_.task, exceptions_here() > exceptions_, runs_here ? state_.before : elsewhere);
}

moving_job_run::moving_job_run(const job_stamp& job) noexcept
    : task_(job.task),
      before_(current_resumer()),
      thread_(&this_thread),
      exceptions_(exceptions_here()) {
    start_job(job, before_, nullptr);
}

moving_job_run::~moving_job_run() {
    end_job(task_, exceptions_here() > exceptions_,
            after_moving(task_, before_, thread_ == &this_thread));
}

stack_pause::stack_pause(const void* location) noexcept : inside_(current_resumer()) {
    const std::uint64_t task = task_of(inside_.mark);
    if (task != 0) {
        const std::uint32_t site = load_gate() == 0 ? 0 : await_site_id(location);
        if (may_track(load_gate())) show_suspended(task, site);
        write_of_task(record_kind::suspend, site, task, 0);
    }
    restore(nobody());
}

stack_pause::~stack_pause() {
    const std::uint64_t task = task_of(inside_.mark);
    const std::uint64_t before = task_of(this_thread.mark);
    if (this_thread.carried != inside_.carried) rebind(inside_.carried);
    if (task != 0) {
        const context_change under_way;
        write_of_task(record_kind::resume, 0, task, before);
        if (is_recording()) repeat_carried(task, inside_.carried);
        if (may_track(load_gate())) show_running(task);
    }
    restore(inside_);
}

void cancel_job(const job_stamp& job) noexcept {
    show_ended(job.task);
    const session_switch posters(job.poster.session);
    if (!is_recording()) return;
    const std::uint64_t ticks = now();
    if (char* at = reserve())
        write_record(at, ticks, make_tag(record_kind::finish, 0, trace::finish_cancelled), job.task,
                     task_of(this_thread.mark));
}

}  // namespace detail
}  // namespace coroscope
