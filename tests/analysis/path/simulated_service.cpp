// SPDX-License-Identifier: Apache-2.0
#include "simulated_service.hpp"

#include <algorithm>

namespace coroscope::test {

using analysis::path_kind;

namespace {

// All times are multiples of it, so that one, two or three threads share them without a remainder.
constexpr std::int64_t step_ns = 6;
constexpr std::uint32_t outside = 1;  // a thread that runs no tasks
constexpr int deepest_call = 3;

}  // namespace

simulated_service::simulated_service(std::uint32_t seed) : random_(seed), threads_(2) {
    site_ = built_.site("serve", "service.cpp", 1, trace::site_kind::coroutine);
    await_ = built_.site("wait", "service.cpp", 2, trace::site_kind::await);
    make_executors();
    occupy_all_threads(step_ns);
    std::int64_t arrival_ns = 10 * step_ns;
    for (auto left = between(1, 6); left > 0; --left)
        arrive(arrival_ns += step_ns * between(1, 60));
    std::int64_t last_ns = arrival_ns;
    while (!moments_.empty()) {
        const moment now = moments_.top();
        moments_.pop();
        last_ns = now.at_ns;
        happen(now);
    }
    occupy_all_threads(last_ns + step_ns);
    built_.lasts(last_ns + 100 * step_ns);
}

// One or two pools of up to three threads, and a strand on each.
void simulated_service::make_executors() {
    for (auto pools = between(1, 2); pools > 0; --pools) {
        const auto pool = static_cast<std::uint32_t>(executors_.size());
        executors_.push_back({pool, false, {}});
        executors_.push_back({pool, false, {}});
        built_.executor(pool, trace::executor_kind::thread_pool)
            .executor(pool + 1, trace::executor_kind::strand, "", pool);
        for (auto left = between(1, 3); left > 0; --left) threads_.push_back({pool, {}, true});
    }
}

// Each thread runs a job, so that it is known to serve its pool.
void simulated_service::occupy_all_threads(std::int64_t at_ns) {
    for (std::uint32_t on = outside + 1; on < threads_.size(); ++on) {
        const std::uint64_t id = new_task(threads_[on].pool, deepest_call, 0);
        built_.on(outside).spawn(at_ns, id, site_,
                                 trace::spawn_ready | trace::spawn_on(threads_[on].pool));
        built_.on(on).resume(at_ns, id).finish(at_ns + step_ns, id);
        threads_[on].work.push_back({id, threads_[on].pool, at_ns, at_ns + step_ns});
    }
}

std::deque<simulated_service::act> simulated_service::draw_acts(int depth) {
    static constexpr act choices[] = {act::compute,      act::wait_for_timer, act::wait_unseen,
                                      act::lock,         act::call,           act::start_child,
                                      act::create_child, act::leave_child};
    std::deque<act> drawn;
    for (auto left = between(1, 4); left > 0; --left) {
        drawn.push_back(act::compute);
        const act next = choices[between(0, depth < deepest_call ? 7 : 3)];
        drawn.push_back(next);
        if (next != act::lock) continue;
        drawn.push_back(choices[between(0, 2)]);
        drawn.push_back(act::unlock);
    }
    drawn.push_back(act::compute);
    drawn.push_back(act::finish);
    return drawn;
}

std::uint64_t simulated_service::new_task(std::uint32_t executor, int depth, std::uint64_t parent) {
    const std::uint64_t id = tasks_.size() + 1;
    task& made = tasks_[id];
    made.executor = executor;
    made.acts = draw_acts(depth);
    made.depth = depth;
    if (parent != 0) {
        made.path = tasks_.at(parent).path;
        made.known_ns = tasks_.at(parent).known_ns;
    }
    return id;
}

void simulated_service::arrive(std::int64_t at_ns) {
    const auto executor = static_cast<std::uint32_t>(between(1, std::ssize(executors_) - 1));
    const std::uint64_t id = new_task(executor, 0, 0);
    requests_.push_back(id);
    tasks_.at(id).known_ns = new_time(at_ns);
    moments_.push({tasks_.at(id).known_ns, id, 0, true});
}

void simulated_service::happen(const moment& now) {
    if (now.task == 0) return look_for_work(now.thread, now.at_ns);
    if (!now.is_wake) return go_on(now.task, now.at_ns);
    const task& of = tasks_.at(now.task);
    if (of.path.empty() && of.suspended_ns == 0)
        built_.on(outside).spawn(now.at_ns, now.task, site_,
                                 trace::spawn_ready | trace::spawn_on(of.executor));
    else if (!of.is_unseen)
        return wake(now.task, 0, now.at_ns);
    put_in_queue(now.task, now.at_ns);
}

// The task is on a thread. It performs the acts that take no time, and then computes, waits or ends.
void simulated_service::go_on(std::uint64_t id, std::int64_t now_ns) {
    extend(id, path_kind::running, now_ns);
    for (bool goes_on = true; goes_on;) {
        const act next = tasks_.at(id).acts.front();
        tasks_.at(id).acts.pop_front();
        goes_on = perform(next, id, now_ns);
    }
}

// Returns whether the task goes on at once.
bool simulated_service::perform(act next, std::uint64_t id, std::int64_t now_ns) {
    switch (next) {
        case act::compute: schedule(now_ns + step_ns * between(1, 30), id, 0, false); return false;
        case act::wait_for_timer:
        case act::wait_unseen:
            tasks_.at(id).is_unseen = next == act::wait_unseen;
            schedule(now_ns + step_ns * between(1, 50), id, 0, true);
            suspend(id, now_ns);
            return false;
        case act::call: call(id, now_ns); return false;
        case act::start_child:
        case act::create_child:
        case act::leave_child: spawn(id, now_ns, next); return true;
        case act::await_child:
        case act::join_child: return await_child(id, now_ns, next);
        case act::lock: return lock(id, now_ns);
        case act::unlock: unlock(id, now_ns); return true;
        case act::finish: finish(id, now_ns); return false;
    }
    return false;
}

// The task computes first when it runs again, so that no run is empty.
void simulated_service::suspend(std::uint64_t id, std::int64_t now_ns) {
    task& of = tasks_.at(id);
    of.acts.push_front(act::compute);
    of.suspended_ns = now_ns;
    built_.on(of.thread).suspend(now_ns, id, await_);
    free_thread(of.thread, now_ns);
}

void simulated_service::call(std::uint64_t id, std::int64_t now_ns) {
    task& of = tasks_.at(id);
    of.acts.push_front(act::compute);
    of.suspended_ns = now_ns;
    const std::uint64_t child = new_task(of.executor, of.depth + 1, id);
    tasks_.at(child).awaiter = id;
    tasks_.at(child).awaited_by = act::call;
    tasks_.at(child).thread = of.thread;
    built_.on(of.thread).spawn(now_ns, child, site_, 0, id).transfer(now_ns, id, child, await_);
    const std::uint32_t by = threads_[of.thread].work.back().executor;
    leave(of.thread, now_ns);
    occupy(of.thread, child, by, now_ns);
    go_on(child, now_ns);
}

void simulated_service::spawn(std::uint64_t id, std::int64_t now_ns, act how) {
    task& of = tasks_.at(id);
    const auto executor = static_cast<std::uint32_t>(between(1, std::ssize(executors_) - 1));
    const std::uint64_t child = new_task(executor, of.depth + 1, id);
    tasks_.at(child).is_ready = how != act::create_child;
    const std::uint32_t flags =
        how == act::create_child ? 0 : trace::spawn_ready | trace::spawn_on(executor);
    built_.on(of.thread).spawn(now_ns, child, site_, flags, id);
    if (how != act::leave_child) {
        of.children.push_back(child);
        const bool is_joined = how == act::start_child && between(0, 2) == 0;
        auto at = of.acts.begin() + between(0, std::ssize(of.acts) - 1);
        // Not between a lock and its unlock: the child may need that lock.
        const auto next = std::find_if(
            at, of.acts.end(), [](act each) { return each == act::lock || each == act::unlock; });
        if (next != of.acts.end() && *next == act::unlock) at = next + 1;
        of.acts.insert(at, is_joined ? act::join_child : act::await_child);
    }
    if (how != act::create_child) put_in_queue(child, now_ns);
}

bool simulated_service::await_child(std::uint64_t id, std::int64_t now_ns, act how) {
    task& of = tasks_.at(id);
    const std::uint64_t child = of.children.back();
    of.children.pop_back();
    task& awaited = tasks_.at(child);
    if (awaited.is_ended) return true;
    awaited.awaiter = id;
    awaited.awaited_by = how;
    if (!awaited.is_ready) {
        awaited.is_ready = true;
        extend(child, path_kind::not_started, now_ns);
        built_.on(of.thread).wake(now_ns, child, id, of.thread, awaited.executor);
        put_in_queue(child, now_ns);
    }
    suspend(id, now_ns);
    return false;
}

bool simulated_service::lock(std::uint64_t id, std::int64_t now_ns) {
    if (lock_holder_ == 0) {
        lock_holder_ = id;
        return true;
    }
    lock_waiters_.push_back(id);
    suspend(id, now_ns);
    return false;
}

void simulated_service::unlock(std::uint64_t id, std::int64_t now_ns) {
    lock_holder_ = 0;
    if (lock_waiters_.empty()) return;
    lock_holder_ = lock_waiters_.front();
    lock_waiters_.pop_front();
    wake(lock_holder_, id, now_ns);
}

void simulated_service::finish(std::uint64_t id, std::int64_t now_ns) {
    task& of = tasks_.at(id);
    of.is_ended = true;
    if (of.awaiter != 0 && of.awaited_by != act::await_child)
        return return_in_place(id, of.awaiter, now_ns);
    if (of.awaiter != 0) wake(of.awaiter, id, now_ns);
    built_.on(of.thread).finish(now_ns, id);
    free_thread(of.thread, now_ns);
}

// The awaiter goes on at once, on the thread of the task that ended.
void simulated_service::return_in_place(std::uint64_t id, std::uint64_t awaiter,
                                        std::int64_t now_ns) {
    const task& ended = tasks_.at(id);
    const std::uint32_t on = ended.thread;
    if (ended.awaited_by == act::call)
        built_.on(on).finish_transfer(now_ns, id, awaiter);
    else
        built_.on(on).finish(now_ns, id).resume(now_ns, awaiter, id);
    follow(awaiter, id, now_ns);
    const std::uint32_t by = threads_[on].work.back().executor;
    leave(on, now_ns);
    tasks_.at(awaiter).thread = on;
    occupy(on, awaiter, by, now_ns);
    go_on(awaiter, now_ns);
}

void simulated_service::wake(std::uint64_t id, std::uint64_t waker, std::int64_t now_ns) {
    const std::uint32_t on = waker == 0 ? outside : tasks_.at(waker).thread;
    built_.on(on).wake(now_ns, id, waker, on, tasks_.at(id).executor);
    if (waker == 0)
        extend(id, path_kind::suspended, now_ns);
    else
        follow(id, waker, now_ns);
    put_in_queue(id, now_ns);
}

void simulated_service::put_in_queue(std::uint64_t id, std::int64_t now_ns) {
    const std::uint32_t number = tasks_.at(id).executor;
    executors_[number].ready.push_back(id);
    for (std::uint32_t on = outside + 1; on < threads_.size(); ++on)
        if (threads_[on].pool == executors_[number].pool && threads_[on].is_free)
            schedule(now_ns + step_ns * between(0, 5), 0, on, false);
}

void simulated_service::look_for_work(std::uint32_t on, std::int64_t now_ns) {
    if (!threads_[on].is_free) return;
    const std::vector<std::uint32_t> ready = executors_with_work(threads_[on].pool);
    if (ready.empty()) return;
    const auto chosen = static_cast<std::size_t>(between(0, std::ssize(ready) - 1));
    executor& from = executors_[ready[chosen]];
    const std::uint64_t id = from.ready.front();
    from.ready.pop_front();
    from.is_busy = true;
    threads_[on].is_free = false;
    start(id, on, now_ns);
}

std::vector<std::uint32_t> simulated_service::executors_with_work(std::uint32_t pool) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t number = 1; number < executors_.size(); ++number) {
        const executor& each = executors_[number];
        const bool is_strand = each.pool != number;
        if (each.pool == pool && !each.ready.empty() && !(is_strand && each.is_busy))
            found.push_back(number);
    }
    return found;
}

void simulated_service::start(std::uint64_t id, std::uint32_t on, std::int64_t now_ns) {
    task& of = tasks_.at(id);
    extend(id, of.is_unseen ? path_kind::waiting : path_kind::queued, now_ns);
    built_.on(on).resume(now_ns, id, 0, 0, of.executor);
    of.is_unseen = false;
    of.thread = on;
    occupy(on, id, of.executor, now_ns);
    go_on(id, now_ns);
}

void simulated_service::occupy(std::uint32_t on, std::uint64_t id, std::uint32_t by,
                               std::int64_t now_ns) {
    threads_[on].work.push_back({id, by, now_ns, now_ns});
}

void simulated_service::leave(std::uint32_t on, std::int64_t now_ns) {
    threads_[on].work.back().to_ns = now_ns;
}

void simulated_service::free_thread(std::uint32_t on, std::int64_t now_ns) {
    leave(on, now_ns);
    executors_[threads_[on].work.back().executor].is_busy = false;
    threads_[on].is_free = true;
    if (between(0, 1) == 0) return look_for_work(on, now_ns);
    schedule(now_ns + step_ns * between(0, 5), 0, on, false);
}

void simulated_service::extend(std::uint64_t id, path_kind kind, std::int64_t to_ns) {
    task& of = tasks_.at(id);
    if (of.known_ns < to_ns) of.path.push_back({kind, of.known_ns, to_ns, id});
    of.known_ns = std::max(of.known_ns, to_ns);
}

// The path of a task that waited is that of the other one since the suspension.
void simulated_service::follow(std::uint64_t id, std::uint64_t other, std::int64_t to_ns) {
    task& of = tasks_.at(id);
    for (part each : tasks_.at(other).path) {
        each.from_ns = std::max(each.from_ns, of.suspended_ns);
        if (each.from_ns < each.to_ns) of.path.push_back(each);
    }
    of.known_ns = to_ns;
}

std::int64_t simulated_service::between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
}

std::int64_t simulated_service::new_time(std::int64_t earliest_ns) {
    while (!used_.insert(earliest_ns).second) earliest_ns += step_ns;
    return earliest_ns;
}

void simulated_service::schedule(std::int64_t earliest_ns, std::uint64_t task, std::uint32_t on,
                                 bool is_wake) {
    moments_.push({new_time(earliest_ns), task, on, is_wake});
}

std::vector<simulated_service::part> simulated_service::path_of(std::uint64_t id) const {
    std::vector<part> joined;
    for (const part& each : tasks_.at(id).path) {
        if (!joined.empty() && joined.back().kind == each.kind && joined.back().task == each.task)
            joined.back().to_ns = each.to_ns;
        else
            joined.push_back(each);
    }
    return joined;
}

simulated_service::occupation simulated_service::work_on(std::uint32_t on,
                                                         std::int64_t at_ns) const {
    for (const occupation& each : threads_[on].work)
        if (each.from_ns <= at_ns && at_ns < each.to_ns) return each;
    return {0, 0, at_ns, at_ns};
}

// While a job of the strand runs, its thread; else the threads without work; else all threads.
std::vector<std::uint32_t> simulated_service::charged_threads(std::uint32_t number,
                                                              std::int64_t at_ns) const {
    std::vector<std::uint32_t> all, idle;
    for (std::uint32_t on = outside + 1; on < threads_.size(); ++on) {
        if (threads_[on].pool != executors_[number].pool) continue;
        const occupation work = work_on(on, at_ns);
        if (executors_[number].pool != number && work.executor == number) return {on};
        all.push_back(on);
        if (work.task == 0) idle.push_back(on);
    }
    return idle.empty() ? all : idle;
}

simulated_service::charges simulated_service::charges_of(const part& queued) const {
    charges made;
    for (std::int64_t at_ns = queued.from_ns; at_ns < queued.to_ns; at_ns += step_ns) {
        const auto charged = charged_threads(tasks_.at(queued.task).executor, at_ns);
        for (const std::uint32_t on : charged)
            made[{on, work_on(on, at_ns).task}] += step_ns / std::ssize(charged);
    }
    return made;
}

}  // namespace coroscope::test
