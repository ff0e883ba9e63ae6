// SPDX-License-Identifier: Apache-2.0
#include "task_life.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "move_kinds.hpp"

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

namespace {

std::uint32_t object_of(const task_op& op) {
    return op.kind == record_kind::suspend ? op.value : none;
}

// Coroscope's task<T> passes its result, or its exception, to its awaiter.
coroscope::trace::await_outcome outcome_of_child(const task_op& op) {
    const bool failed = (op.value & coroscope::trace::finish_exception) != 0;
    return failed ? coroscope::trace::await_outcome::exception
                  : coroscope::trace::await_outcome::value;
}

bool is_by_task(const task_op& resume) {
    return resume.cause == op_cause::final_suspension ||
           resume.cause == op_cause::await_suspension || resume.cause == op_cause::body;
}

}  // namespace

void life_builder::begin(std::uint32_t task, task_info& info) {
    task_ = task;
    info_ = &info;
    first_await_ = loaded_.awaits.size();
    wakes_.clear();
    late_.clear();
    next_wake_ = 0;
    adopted_ = ran_ = running_ = awaits_ = acted_ = has_timers_ = false;
    thread_ = found_on_ = suspended_on_ = pending_edge_ = destroyed_on_ = started_by_ = none;
    woken_by_ = {};
}

void life_builder::run(std::uint32_t task, task_info& info,
                       std::span<const std::uint32_t> mentions) {
    begin(task, info);
    mentions_ = mentions;
    find_runs();
    const auto by_time = [](const wake& left, const wake& right) {
        return left.time_ns < right.time_ns;
    };
    if (!std::ranges::is_sorted(wakes_, by_time)) std::ranges::sort(wakes_, by_time);
    apply_moves();
    end_of_session();
    doubt();
}

// Takes what a record says about the task besides its moves.
void life_builder::tell(const task_op& op, bool as_other) {
    switch (op.kind) {
        case record_kind::wake: add_wake(op); break;
        case record_kind::spawn: spawn(op); break;
        case record_kind::none: found_on_ = op.thread; break;
        case record_kind::awaiting:
        case record_kind::transfer:
            if (as_other) task().awaiter = op.task;
            break;
        default: break;
    }
}

// A task may be described more than once: by its spawn record and by the live-task table.
void life_builder::spawn(const task_op& op) {
    task_info& info = task();
    const bool adopted = (op.value & coroscope::trace::spawn_adopted) != 0;
    const bool named = (op.value & coroscope::trace::spawn_named) != 0;
    if (info.spawn_site == none || named) info.spawn_site = op.site;
    if (info.parent == none && op.other != task_) info.parent = op.other;
    if (info.spawn_thread == none && !adopted) info.spawn_thread = op.thread;
    if (!info.spawn_ns && op.time_ns != unknown_time) info.spawn_ns = op.time_ns;
    info.asio |= (op.value & coroscope::trace::spawn_asio) != 0;
    info.fiber |= (op.value & coroscope::trace::spawn_fiber) != 0;
    info.job |= (op.value & coroscope::trace::spawn_job) != 0;
    adopted_ |= adopted;
    const bool ready =
        (op.value & (coroscope::trace::spawn_ready | coroscope::trace::spawn_job)) != 0;
    if (ready && op.time_ns != unknown_time && op.time_ns >= 0)
        wakes_.push_back(
            {op.time_ns, op.other, op.thread, op_cause::unknown, ready_executor_of(op)});
}

void life_builder::decide_age(const move* first) {
    task_info& info = task();
    acted_ = first != nullptr;
    const bool spawn_seen = info.spawn_ns && *info.spawn_ns >= 0;
    const bool only_found = !acted_ && !spawn_seen && found_on_ != none;
    // If records were lost, the task's spawn record may be one of them. Then nothing is known about
    // the task before its first remaining record.
    if (!spawn_seen && (acted_ || adopted_ || only_found))
        (trace_lost_records_ && !info.spawn_ns ? info.losses : info.older_than_session) = true;
    if (!info.older_than_session && !only_found) return;
    ran_ = true;
    // It ran before if its first record shows that, or if it was found running. Else it was
    // suspended, unseen.
    running_ = only_found ||
               (acted_ && leaves_thread(first->op, first->as_other) && !is_destruction(first->op));
    if (info.older_than_session) info.first_wake_ns = 0;
    if (running_) {
        thread_ = only_found ? found_on_ : first->op.thread;
    } else {
        open_await(0, none, none);
        loaded_.awaits.back().clipped = true;
    }
}

void life_builder::apply_moves() {
    move_run* next = first_run();
    decide_age(next == nullptr ? nullptr : &next->head);
    while (next != nullptr) {
        tick_.clear();
        do {
            tick_.push_back(next->head);
            advance(*next);
            next = first_run();
        } while (next != nullptr && next->head.time_ns == tick_.front().time_ns);
        apply_tick();
    }
}

void life_builder::apply_tick() {
    const std::uint32_t thread = tick_.front().op.thread;
    if (std::ranges::all_of(tick_, [thread](const move& each) { return each.op.thread == thread; }))
        for (const move& each : tick_) apply(each);
    else
        apply_tick_of_threads();
}

// Orders records of several threads that have the same time. Of the next record of each thread,
// takes the first one that is possible in the task's current state, or the first of all if none is.
void life_builder::apply_tick_of_threads() {
    const std::size_t end = tick_.size();
    std::vector<std::size_t> next(end, end);  // the next move of its thread
    std::unordered_map<std::uint32_t, std::size_t> last;
    move_queues heads;
    for (std::size_t at = 0; at < end; ++at) {
        const auto [of_thread, is_first] = last.try_emplace(tick_[at].op.thread, at);
        if (is_first) {
            heads[kind_of(tick_[at])].push(at);
        } else {
            next[of_thread->second] = at;
            of_thread->second = at;
        }
    }
    for (std::size_t left = end; left > 0; --left) {
        move_queue& from = heads[choose(heads)];
        const std::size_t at = from.top();
        from.pop();
        if (next[at] != end) heads[kind_of(tick_[next[at]])].push(next[at]);
        apply(tick_[at]);
    }
}

life_builder::move_kind life_builder::kind_of(const move& next) {
    if (enters_thread(next.op, next.as_other)) return move_kind::enters;
    return leaves_thread(next.op, next.as_other) ? move_kind::leaves : move_kind::stays;
}

// Precondition: a queue has a move.
life_builder::move_kind life_builder::choose(const move_queues& heads) const {
    const auto first_of = [&heads](bool enters, bool leaves) {
        std::optional<move_kind> first;
        for (const move_kind kind : {move_kind::stays, move_kind::enters, move_kind::leaves}) {
            const bool asked = kind == move_kind::enters   ? enters
                               : kind == move_kind::leaves ? leaves
                                                           : true;
            if (asked && !heads[kind].empty() &&
                (!first || heads[kind].top() < heads[*first].top()))
                first = kind;
        }
        return first;
    };
    const std::optional<move_kind> possible = first_of(!running_, running_ || !ran_);
    return possible ? *possible : *first_of(true, true);
}

void life_builder::apply(const move& next) {
    const task_op& op = next.op;
    const wake handed_over{next.time_ns, next.as_other ? op.task : op.other, op.thread,
                           op_cause::unknown};
    switch (op.kind) {
        case record_kind::spawn:
            resume(next.time_ns, op.thread, &handed_over, await_outcome::unknown);
            break;
        case record_kind::resume: resume(next); break;
        case record_kind::suspend: suspend(next, none); break;
        case record_kind::transfer:
            next.as_other ? resume(next.time_ns, op.thread, &handed_over, await_outcome::unknown)
                          : suspend(next, op.other);
            break;
        case record_kind::finish_transfer:
            next.as_other ? resume(next.time_ns, op.thread, &handed_over, outcome_of_child(op))
                          : end(next);
            break;
        case record_kind::finish: end(next); break;
        case record_kind::cancel: cancel(op, next.time_ns); break;
        case record_kind::awaiting: edge(op.other); break;
        case record_kind::fact: replace_outcome(op); break;
        default: break;
    }
}

void life_builder::resume(const move& next) {
    const bool ends_await = awaits_ && !running_;
    const bool is_first = !ran_;
    resume_by_cause(next);
    const task_op& op = next.op;
    if (is_first && !ends_await && op.site != none) task().executor = op.site;
    if (!ends_await || awaits_) return;
    await_info& ended = loaded_.awaits.back();
    ended.resume_overdue = (op.value & coroscope::trace::resume_overdue) != 0;
    if (op.site != none) ended.executor = op.site;
}

void life_builder::resume_by_cause(const move& next) {
    const task_op& op = next.op;
    const std::int64_t time_ns = next.time_ns;
    const await_outcome outcome = coroscope::trace::outcome_of(op.value);
    std::uint32_t executor = none;
    if (const optional_ns expiry_ns = timer_of(next, executor)) {
        const wake by_timer{std::min(*expiry_ns, time_ns), none, none, op_cause::timer, executor};
        return resume(time_ns, op.thread, &by_timer, outcome);
    }
    if (!ran_ && is_in_suspension(op)) started_by_ = op.by;
    const wake by_other{time_ns, op.by, op.thread, op_cause::unknown};
    if (is_wake(op)) return resume(time_ns, op.thread, &by_other, outcome);
    if (is_by_task(op)) woken_by_ = by_other;
    const bool ready = (op.value & coroscope::trace::resume_ready) != 0;
    if (!ready || !awaits_ || loaded_.awaits.back().clipped)
        return resume(time_ns, op.thread, nullptr, outcome);
    const wake by_itself{loaded_.awaits.back().suspend_ns, task_, suspended_on_, op_cause::unknown};
    resume(time_ns, op.thread, &by_itself, outcome);
}

// Returns whether another task's resume of this task is the wake, and not only an upper bound.
bool life_builder::is_wake(const task_op& resume) const {
    switch (resume.cause) {
        case op_cause::call: return true;
        case op_cause::final_suspension:
        case op_cause::await_suspension:
            return !awaits_ || relations_.is_wake(resume, loaded_.awaits.back().suspend_ns);
        default: return false;
    }
}

// Sets the outcome of the last await. Does nothing unless the task runs on the fact's thread.
void life_builder::replace_outcome(const task_op& op) {
    if (awaits_ || !running_ || thread_ != op.thread || loaded_.awaits.size() == first_await_)
        return;
    const std::uint32_t outcome = op.value;
    loaded_.awaits.back().outcome =
        coroscope::trace::outcome_of(outcome << coroscope::trace::outcome_shift);
}

void life_builder::resume(std::int64_t time_ns, std::uint32_t thread, const wake* seen,
                          await_outcome outcome) {
    if (running_) {
        if (thread == thread_) {
            task().losses = true;
        } else {  // it went on here before its thread there was done with it
            go_on_elsewhere(thread, time_ns, outcome);
        }
        return;
    }
    if (awaits_) {
        close_await(time_ns, seen, outcome);
    } else if (!ran_) {
        task().first_wake_ns = first_wake(time_ns, seen);
    }
    ran_ = running_ = true;
    thread_ = thread;
}

// A thread has one such suspension to come: it is written before anything else can happen there.
void life_builder::go_on_elsewhere(std::uint32_t thread, std::int64_t time_ns,
                                   await_outcome outcome) {
    const auto known = std::find_if(late_.begin(), late_.end(), [this](const hand_over& candidate) {
        return candidate.thread == thread_;
    });
    if (known == late_.end())
        late_.push_back({thread_, time_ns, outcome});
    else
        *known = {thread_, time_ns, outcome};
    thread_ = thread;
}

void life_builder::open_await(std::int64_t suspend_ns, std::uint32_t site, std::uint32_t awaited) {
    loaded_.awaits.append({});
    await_info& opened = loaded_.awaits.back();
    opened.task = task_;
    opened.site = site;
    opened.awaited = awaited != none ? awaited : pending_edge_;
    opened.suspend_ns = suspend_ns;
    opened.handed_over = awaited != none;
    pending_edge_ = none;
    awaits_ = true;
}

void life_builder::suspend(const move& next, std::uint32_t awaited) {
    if (late_suspend(next, awaited)) return;
    if (awaits_) {  // a resume is missing: the task ran in between
        close_await(next.time_ns, nullptr);
        loaded_.awaits.back().wake_ns.reset();
        loaded_.awaits.back().reason = wake_reason::unknown;
        loaded_.awaits.back().clipped = true;
        task().losses = true;
    } else if (!ran_) {  // the records before are missing, too
        task().first_wake_ns = next.time_ns;
        task().losses = true;
    }
    open_await(next.time_ns, next.op.site, awaited);
    loaded_.awaits.back().object = object_of(next.op);
    suspended_on_ = next.op.thread;
    ran_ = true;
    running_ = false;
}

// Handles a suspend record that was written after the task had gone on on another thread: the
// suspension took no time.
bool life_builder::late_suspend(const move& next, std::uint32_t awaited) {
    if (!running_ || next.op.thread == thread_) return false;
    const auto handed =
        std::find_if(late_.begin(), late_.end(), [&next](const hand_over& candidate) {
            return candidate.thread == next.op.thread;
        });
    if (handed == late_.end()) return false;
    open_await(handed->time_ns, next.op.site, awaited);
    const wake at_once{handed->time_ns, none, next.op.thread, op_cause::unknown};
    set_wake(loaded_.awaits.back(), at_once);
    loaded_.awaits.back().resume_ns = handed->time_ns;
    loaded_.awaits.back().outcome = handed->outcome;
    loaded_.awaits.back().object = object_of(next.op);
    awaits_ = false;
    late_.erase(handed);
    return true;
}

// Handles an await whose operation completed before await_suspend returned. Unless other tasks ran
// in await_suspend, the task kept its thread, and the suspension took no time.
void life_builder::cancel(const task_op& op, std::int64_t time_ns) {
    if (!awaits_ || suspended_on_ != op.thread) return;
    pending_edge_ = none;
    await_info& taken_back = loaded_.awaits.back();
    const bool ran_others = op.cause == op_cause::tasks_ran;
    const std::int64_t end_ns = ran_others ? time_ns : taken_back.suspend_ns;
    taken_back.at_once = true;
    taken_back.handed_over = ran_others;
    taken_back.resume_ns = end_ns;
    set_wake(taken_back, {end_ns, op.by, op.thread});
    awaits_ = false;
    running_ = true;
    thread_ = op.thread;
}

}  // namespace coroscope::analysis::inline tasks
