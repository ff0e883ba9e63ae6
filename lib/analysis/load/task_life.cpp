// SPDX-License-Identifier: Apache-2.0
#include "task_life.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace coroscope::analysis::loading {

using coroscope::trace::record_kind;

namespace {

// How much earlier than the suspend record a wake may be dated and still belong to its await: the waker
// may have taken its time stamp before the awaiting thread took its own. Beyond it a wake that met
// nobody asleep is left out, so that it cannot make a later await look queued.
constexpr std::int64_t wake_tolerance_ns = 10'000;

bool leaves_thread(const task_op& op, bool as_other) {
    if (as_other) return false;
    return op.kind == record_kind::suspend || op.kind == record_kind::transfer ||
           op.kind == record_kind::finish_transfer || op.kind == record_kind::finish;
}

bool enters_thread(const task_op& op, bool as_other) {
    if (as_other)
        return op.kind == record_kind::transfer || op.kind == record_kind::finish_transfer;
    return op.kind == record_kind::resume;
}

}  // namespace

void life_builder::begin(std::uint32_t task) {
    task_ = task;
    first_await_ = loaded_.awaits.size();
    moves_.clear();
    wakes_.clear();
    late_.clear();
    next_wake_ = 0;
    adopted_ = ran_ = running_ = awaits_ = false;
    thread_ = found_on_ = suspended_on_ = pending_edge_ = destroyed_on_ = none;
}

void life_builder::add(const task_op& op, std::uint32_t position, bool as_other) {
    switch (op.kind) {
        case record_kind::wake:
            if (!as_other) wakes_.push_back({op.time_ns, op.other, op.value});
            break;
        case record_kind::spawn:
            if (!as_other) spawn(op);
            if (!as_other && (op.value & coroscope::trace::spawn_started) != 0)
                moves_.push_back({std::max<std::int64_t>(0, op.time_ns), position, false, &op});
            break;
        case record_kind::awaiting:
            if (as_other)
                task().awaiter = op.task;
            else
                moves_.push_back({op.time_ns, position, false, &op});
            break;
        case record_kind::none: found_on_ = op.thread; break;
        case record_kind::cancel: moves_.push_back({op.time_ns, position, false, &op}); break;
        default:
            if (as_other && op.kind == record_kind::transfer) task().awaiter = op.task;
            if (leaves_thread(op, as_other) || enters_thread(op, as_other))
                moves_.push_back({op.time_ns, position, as_other, &op});
    }
}

// A task may be described more than once: by its spawn record and by the live-task table.
void life_builder::spawn(const task_op& op) {
    task_info& info = task();
    const bool adopted = (op.value & coroscope::trace::spawn_adopted) != 0;
    if (info.spawn_site == none) info.spawn_site = op.site;
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
        wakes_.push_back({op.time_ns, op.other, op.thread});
}

void life_builder::decide_age() {
    task_info& info = task();
    const bool acted = !moves_.empty();
    const bool spawn_seen = info.spawn_ns && *info.spawn_ns >= 0;
    const bool only_found = !acted && !spawn_seen && found_on_ != none;
    // Where records were lost, its spawn record may be among them: then nothing is known before the
    // first of those that are left.
    if (!spawn_seen && (acted || adopted_ || only_found))
        (trace_lost_records_ && !info.spawn_ns ? info.losses : info.older_than_session) = true;
    if (!info.older_than_session && !only_found) return;
    ran_ = true;
    // Unless its first record says that it ran, or it was found running, it was suspended where nobody saw it.
    running_ = only_found || (acted && leaves_thread(*moves_.front().op, moves_.front().as_other) &&
                              (moves_.front().op->value & coroscope::trace::finish_destroyed) == 0);
    if (info.older_than_session) info.first_wake_ns = 0;
    if (running_) {
        thread_ = only_found ? found_on_ : moves_.front().op->thread;
    } else {
        open_await(0, none, none);
        loaded_.awaits.back().clipped = true;
    }
}

void life_builder::finish() {
    std::sort(wakes_.begin(), wakes_.end(),
              [](const wake& left, const wake& right) { return left.time_ns < right.time_ns; });
    std::sort(moves_.begin(), moves_.end(), [](const move& left, const move& right) {
        return std::tie(left.time_ns, left.position) < std::tie(right.time_ns, right.position);
    });
    decide_age();
    for (std::size_t begin = 0; begin < moves_.size();) {
        std::size_t end = begin + 1;
        bool of_one_thread = true;
        for (; end < moves_.size() && moves_[end].time_ns == moves_[begin].time_ns; ++end)
            of_one_thread &= moves_[end].op->thread == moves_[begin].op->thread;
        if (of_one_thread)
            for (std::size_t at = begin; at < end; ++at) apply(moves_[at]);
        else
            apply_tick(begin, end);
        begin = end;
    }
    end_of_session();
    doubt();
}

// Records of one time from several threads have no order of their own: each time the first that can happen now is
// taken of those that come next on their threads, or the first of all if none can.
void life_builder::apply_tick(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> next(end - begin, end);  // of the same thread, by place in the tick
    std::unordered_map<std::uint32_t, std::size_t> last;
    move_queues heads;
    for (std::size_t at = begin; at < end; ++at) {
        const auto [of_thread, is_first] = last.try_emplace(moves_[at].op->thread, at);
        if (is_first) {
            heads[kind_of(moves_[at])].push(at);
        } else {
            next[of_thread->second - begin] = at;
            of_thread->second = at;
        }
    }
    for (std::size_t left = end - begin; left > 0; --left) {
        move_queue& from = heads[choose(heads)];
        const std::size_t at = from.top();
        from.pop();
        if (next[at - begin] != end)
            heads[kind_of(moves_[next[at - begin]])].push(next[at - begin]);
        apply(moves_[at]);
    }
}

life_builder::move_kind life_builder::kind_of(const move& next) {
    if (enters_thread(*next.op, next.as_other)) return move_kind::enters;
    return leaves_thread(*next.op, next.as_other) ? move_kind::leaves : move_kind::stays;
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
    const task_op& op = *next.op;
    const wake handed_over{next.time_ns, next.as_other ? op.task : op.other, op.thread};
    switch (op.kind) {
        case record_kind::spawn: resume(next.time_ns, op.thread, &handed_over); break;
        case record_kind::resume: resume(op, next.time_ns); break;
        case record_kind::suspend: suspend(next, none); break;
        case record_kind::transfer:
            next.as_other ? resume(next.time_ns, op.thread, &handed_over) : suspend(next, op.other);
            break;
        case record_kind::finish_transfer:
            next.as_other ? resume(next.time_ns, op.thread, &handed_over) : end(next);
            break;
        case record_kind::finish: end(next); break;
        case record_kind::cancel: cancel(op); break;
        case record_kind::awaiting: edge(op.other); break;
        default: break;
    }
}

void life_builder::resume(const task_op& op, std::int64_t time_ns) {
    const wake handed_over{time_ns, none, op.thread};
    if ((op.value & coroscope::trace::resume_handed_over) != 0)
        return resume(time_ns, op.thread, &handed_over);
    const bool ready = (op.value & coroscope::trace::resume_ready) != 0;
    if (!ready || !awaits_ || loaded_.awaits.back().clipped)
        return resume(time_ns, op.thread, nullptr);
    const wake by_itself{loaded_.awaits.back().suspend_ns, task_, suspended_on_};
    resume(time_ns, op.thread, &by_itself);
}

// The earliest wake of an await: from then on the task was ready. Later ones change nothing.
const life_builder::wake* life_builder::take_wake(std::int64_t from_ns, std::int64_t to_ns) {
    while (next_wake_ < wakes_.size() && wakes_[next_wake_].time_ns < from_ns - wake_tolerance_ns)
        ++next_wake_;
    const wake* first = nullptr;
    for (; next_wake_ < wakes_.size() && wakes_[next_wake_].time_ns <= to_ns; ++next_wake_)
        if (first == nullptr) first = &wakes_[next_wake_];
    return first;
}

void life_builder::resume(std::int64_t time_ns, std::uint32_t thread, const wake* seen) {
    if (running_) {
        if (thread == thread_) {
            task().losses = true;
        } else {  // it went on here before its thread there was done with it
            go_on_elsewhere(thread, time_ns);
        }
        return;
    }
    if (awaits_) {
        close_await(time_ns, seen);
    } else if (!ran_) {
        const wake* earlier =
            take_wake(std::numeric_limits<std::int64_t>::min() + wake_tolerance_ns, time_ns);
        if (earlier == nullptr) earlier = seen;
        task().first_wake_ns =
            earlier != nullptr ? std::max<std::int64_t>(0, earlier->time_ns) : time_ns;
    }
    ran_ = running_ = true;
    thread_ = thread;
}

// A thread has one such suspension to come: it is written before anything else can happen there.
void life_builder::go_on_elsewhere(std::uint32_t thread, std::int64_t time_ns) {
    const auto known = std::find_if(late_.begin(), late_.end(), [this](const hand_over& candidate) {
        return candidate.thread == thread_;
    });
    if (known == late_.end())
        late_.push_back({thread_, time_ns});
    else
        known->time_ns = time_ns;
    thread_ = thread;
}

void life_builder::open_await(std::int64_t suspend_ns, std::uint32_t site, std::uint32_t awaited) {
    await_info& opened = loaded_.awaits.emplace_back();
    opened.task = task_;
    opened.site = site;
    opened.awaited = awaited != none ? awaited : pending_edge_;
    opened.suspend_ns = suspend_ns;
    pending_edge_ = none;
    awaits_ = true;
}

void life_builder::set_wake(await_info& await, const wake& seen) {
    await.wake_ns = std::max(await.suspend_ns, seen.time_ns);
    await.waker = seen.waker;
    await.waker_thread = seen.thread;
}

void life_builder::close_await(std::int64_t time_ns, const wake* seen) {
    await_info& closed = loaded_.awaits.back();
    const wake* earlier = take_wake(closed.suspend_ns, time_ns);
    if (earlier != nullptr)
        set_wake(closed, *earlier);
    else if (seen != nullptr)
        set_wake(closed, *seen);
    closed.resume_ns = time_ns;
    awaits_ = false;
}

void life_builder::suspend(const move& next, std::uint32_t awaited) {
    if (late_suspend(next, awaited)) return;
    if (awaits_) {  // a resume is missing: it ran in between, nobody knows when
        close_await(next.time_ns, nullptr);
        loaded_.awaits.back().wake_ns.reset();
        loaded_.awaits.back().clipped = true;
        task().losses = true;
    } else if (!ran_) {  // so is what came before
        task().first_wake_ns = next.time_ns;
        task().losses = true;
    }
    open_await(next.time_ns, next.op->site, awaited);
    suspended_on_ = next.op->thread;
    ran_ = true;
    running_ = false;
}

// The suspension was over before its record was written: it took no time.
bool life_builder::late_suspend(const move& next, std::uint32_t awaited) {
    if (!running_ || next.op->thread == thread_) return false;
    const auto handed =
        std::find_if(late_.begin(), late_.end(), [&next](const hand_over& candidate) {
            return candidate.thread == next.op->thread;
        });
    if (handed == late_.end()) return false;
    open_await(handed->time_ns, next.op->site, awaited);
    const wake at_once{handed->time_ns, none, next.op->thread};
    set_wake(loaded_.awaits.back(), at_once);
    loaded_.awaits.back().resume_ns = handed->time_ns;
    awaits_ = false;
    late_.erase(handed);
    return true;
}

void life_builder::cancel(const task_op& op) {
    if (!awaits_ || suspended_on_ != op.thread) return;
    pending_edge_ = none;
    loaded_.awaits.pop_back();
    awaits_ = false;
    running_ = true;
    thread_ = op.thread;
}

void life_builder::end(const move& next) {
    task_info& info = task();
    if (info.end_ns) return;
    const std::uint32_t flags = next.op->value;
    info.end_ns = next.time_ns;
    info.state = (flags & coroscope::trace::finish_cancelled) != 0   ? task_state::cancelled
                 : (flags & coroscope::trace::finish_destroyed) != 0 ? task_state::abandoned
                 : (flags & coroscope::trace::finish_exception) != 0 ? task_state::failed
                                                                     : task_state::finished;
    if ((flags & coroscope::trace::finish_destroyed) != 0) destroyed_on_ = next.op->thread;
    running_ = false;
}

void life_builder::edge(std::uint32_t awaited) {
    if (awaits_ && !running_) {
        if (loaded_.awaits.back().awaited == none) loaded_.awaits.back().awaited = awaited;
    } else {
        pending_edge_ = awaited;
    }
}

void life_builder::end_of_session() {
    task_info& info = task();
    const std::int64_t end_ns = info.end_ns.value_or(loaded_.duration_ns);
    if (!ran_) {
        const wake* seen =
            take_wake(std::numeric_limits<std::int64_t>::min() + wake_tolerance_ns, end_ns);
        if (seen != nullptr) info.first_wake_ns = std::max<std::int64_t>(0, seen->time_ns);
        if (!info.end_ns) info.state = seen != nullptr ? task_state::queued : task_state::spawned;
        return;
    }
    if (awaits_) {
        await_info& open = loaded_.awaits.back();
        if (const wake* seen = take_wake(open.suspend_ns, end_ns)) set_wake(open, *seen);
        open.clipped |= !info.end_ns;
        if (!info.end_ns) info.state = open.wake_ns ? task_state::queued : task_state::suspended;
    } else if (!info.end_ns) {
        info.state = task_state::running;
    }
}

// Nobody knows of a wake whether it ended an await in which the task may have run.
void life_builder::doubt(await_info& await) {
    const bool ended = await.resume_ns || task().end_ns;
    const std::int64_t end_ns =
        await.resume_ns.value_or(task().end_ns.value_or(known_span::for_ever));
    if (known_.holds(await.suspend_ns, end_ns) || (ended && !await.wake_ns)) return;
    await.wake_ns.reset();
    await.waker = await.waker_thread = none;
    task().losses = true;
}

void life_builder::doubt() {
    for (std::size_t at = first_await_; at < loaded_.awaits.size(); ++at) doubt(loaded_.awaits[at]);
    const bool told = !moves_.empty() || !wakes_.empty() || task().spawn_ns;
    if (task().end_ns || !told || is_known_at_end()) return;
    task().state = task_state::unknown;
    task().losses = true;
}

// Where it runs it is known if its thread lost nothing: then it would be told to leave.
bool life_builder::is_known_at_end() {
    if (running_) return thread_ == none || loaded_.threads[thread_].dropped_newest == 0;
    const std::int64_t since_ns =
        awaits_ ? loaded_.awaits.back().suspend_ns : task().spawn_ns.value_or(0);
    return known_.holds(since_ns, known_span::for_ever);
}

}  // namespace coroscope::analysis::loading
