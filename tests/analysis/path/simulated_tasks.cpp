// SPDX-License-Identifier: Apache-2.0
#include "simulated_tasks.hpp"

#include <algorithm>

namespace coroscope::test {

using analysis::path_kind;

namespace {

constexpr std::int64_t begin_ns = 1000;
constexpr int deepest = 6;

template <class Item>
analysis::index_range append(analysis::packed_list<Item>& all,
                             const std::vector<Item>& latest_first) {
    const auto first = static_cast<std::uint32_t>(all.size());
    for (auto each = latest_first.rbegin(); each != latest_first.rend(); ++each) all.append(*each);
    return {first, static_cast<std::uint32_t>(latest_first.size())};
}

}  // namespace

simulated_tasks::simulated_tasks(std::uint32_t seed) : random_(seed) {
    const std::uint32_t root = new_task();
    const std::int64_t end_ns = begin_ns + between(1, 400);
    tasks_[root].info.first_wake_ns = begin_ns;
    tasks_[root].info.end_ns = end_ns;
    draw(root, begin_ns, end_ns, 0);
    std::ranges::reverse(path_);
}

analysis::trace simulated_tasks::graph() const {
    analysis::trace made;
    made.threads.resize(threads_);
    made.lock_waits = locks_;
    made.resource_waits = resources_;
    std::ranges::sort(made.lock_waits, {}, &analysis::lock_wait::start_ns);
    std::ranges::sort(made.resource_waits, {}, &analysis::resource_wait::start_ns);
    made.duration_ns = *tasks_[0].info.end_ns;
    for (const task& each : tasks_) {
        made.tasks.push_back(each.info);
        made.tasks.back().slices = append(made.slices, each.slices);
        made.tasks.back().awaits = append(made.awaits, each.awaits);
    }
    return made;
}

std::uint32_t simulated_tasks::new_task() {
    tasks_.emplace_back();
    tasks_.back().info.id = tasks_.size();
    return static_cast<std::uint32_t>(tasks_.size() - 1);
}

std::int64_t simulated_tasks::between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
}

void simulated_tasks::expect(path_kind kind, std::int64_t from_ns, std::int64_t to_ns,
                             std::uint32_t task) {
    if (from_ns < to_ns)
        path_.push_back({.kind = kind, .start_ns = from_ns, .end_ns = to_ns, .task = task});
}

// Fills a task's time on the path, from its end backwards.
void simulated_tasks::draw(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                           int depth) {
    while (to_ns > from_ns) {
        const std::int64_t start_ns = between(from_ns, to_ns - 1);
        switch (between(0, depth < deepest ? 7 : 2)) {
            case 0: run(task, start_ns, to_ns); break;
            case 1: wait_unseen(task, start_ns, to_ns); break;
            case 2: wait_for_event(task, start_ns, to_ns); break;
            case 3: wait_for_task(task, start_ns, to_ns, depth); break;
            case 4: wait_for_join(task, start_ns, to_ns, depth); break;
            case 5: wait_for_resource(task, start_ns, to_ns, depth); break;
            case 6: wait_for_lock(task, start_ns, to_ns, depth); break;
            default: wait_for_child(task, start_ns, to_ns, depth); break;
        }
        to_ns = start_ns;
    }
}

void simulated_tasks::run(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns) {
    tasks_[task].slices.push_back({from_ns, to_ns, task, 0});
    expect(path_kind::running, from_ns, to_ns, task);
}

analysis::await_info& simulated_tasks::add_await(std::uint32_t task, std::int64_t from_ns,
                                                 std::int64_t to_ns) {
    analysis::await_info await;
    await.task = task;
    await.suspend_ns = from_ns;
    await.resume_ns = to_ns;
    tasks_[task].awaits.push_back(await);
    return tasks_[task].awaits.back();
}

void simulated_tasks::wait_unseen(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns) {
    add_await(task, from_ns, to_ns);
    expect(path_kind::waiting, from_ns, to_ns, task);
}

void simulated_tasks::wait_for_event(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns) {
    const std::int64_t wake_ns = between(from_ns, to_ns);
    add_await(task, from_ns, to_ns).wake_ns = wake_ns;
    expect(path_kind::queued, wake_ns, to_ns, task);
    expect(path_kind::suspended, from_ns, wake_ns, task);
}

void simulated_tasks::wait_for_task(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                                    int depth) {
    const std::int64_t wake_ns = between(from_ns + 1, to_ns);
    const std::uint32_t waker = new_task();
    analysis::await_info& await = add_await(task, from_ns, to_ns);
    await.wake_ns = wake_ns;
    await.waker = waker;
    expect(path_kind::queued, wake_ns, to_ns, task);
    draw_other(waker, from_ns, wake_ns, depth + 1);
}

void simulated_tasks::wait_for_child(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                                     int depth) {
    const std::int64_t end_ns = between(from_ns + 1, to_ns);
    const std::uint32_t child = new_task();
    add_await(task, from_ns, to_ns).awaited = child;
    tasks_[child].info.end_ns = end_ns;
    expect(path_kind::waiting, end_ns, to_ns, task);
    draw_other(child, from_ns, end_ns, depth + 1);
}

// The trace shows the child only as the task that ran before the resume.
void simulated_tasks::wait_for_join(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                                    int depth) {
    const std::int64_t end_ns = between(from_ns + 1, to_ns);
    const std::uint32_t child = new_task();
    add_await(task, from_ns, to_ns).waker = child;
    tasks_[child].info.end_ns = end_ns;
    tasks_[child].info.parent = task;
    expect(path_kind::waiting, end_ns, to_ns, task);
    draw_older(child, from_ns, end_ns, depth + 1);
}

void simulated_tasks::wait_for_resource(std::uint32_t task, std::int64_t from_ns,
                                        std::int64_t to_ns, int depth) {
    const std::uint32_t holder = new_task();
    add_await(task, from_ns, to_ns);
    analysis::resource_wait wait;
    wait.task = task;
    wait.start_ns = between(from_ns, to_ns - 1);
    wait.end_ns = to_ns;
    std::int64_t until_ns = to_ns;
    if (between(0, 1) == 0) {
        until_ns = between(wait.start_ns + 1, to_ns);
        wait.released_ns = until_ns;
        wait.releaser_task = holder;
    } else {
        wait.holder_known = true;
        wait.holder_task = holder;
    }
    resources_.push_back(wait);
    expect(path_kind::waiting, until_ns, to_ns, task);
    draw_other(holder, wait.start_ns, until_ns, depth + 1);
    expect(path_kind::waiting, from_ns, wait.start_ns, task);
}

// The task waits for a lock on its thread.
void simulated_tasks::wait_for_lock(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                                    int depth) {
    analysis::lock_wait wait;
    wait.waiter = {threads_++, task, analysis::none};
    wait.start_ns = between(from_ns, to_ns - 1);
    wait.end_ns = between(wait.start_ns + 1, to_ns);
    tasks_[task].slices.push_back({from_ns, to_ns, task, wait.waiter.thread});
    std::int64_t until_ns = wait.end_ns;
    if (between(0, 3) != 0) until_ns = between(wait.start_ns + 1, wait.end_ns);
    if (until_ns != wait.end_ns) wait.released_ns = until_ns;
    expect(path_kind::running, until_ns, to_ns, task);
    switch (between(0, 2)) {
        case 0: hold(wait, until_ns, depth); break;
        case 1: hold_on_thread(wait, until_ns); break;
        default: hold_in_deadlock(wait, until_ns, depth); break;
    }
    locks_.push_back(wait);
    expect(path_kind::running, from_ns, wait.start_ns, task);
}

void simulated_tasks::hold(analysis::lock_wait& wait, std::int64_t until_ns, int depth) {
    const std::uint32_t holder = new_task();
    (wait.released_ns ? wait.releaser : wait.holder) = {0, holder, analysis::none};
    draw_other(holder, wait.start_ns, until_ns, depth + 1);
}

// The holder is a thread outside tasks. It may run a task before it releases the lock.
void simulated_tasks::hold_on_thread(analysis::lock_wait& wait, std::int64_t until_ns) {
    const std::uint32_t thread = threads_++;
    const std::int64_t end_ns = between(wait.start_ns, until_ns);
    const std::int64_t run_ns = between(wait.start_ns, end_ns);
    (wait.released_ns ? wait.releaser : wait.holder) = {thread, analysis::none, analysis::none};
    if (run_ns == end_ns)
        return expect(path_kind::running, wait.start_ns, until_ns, analysis::none);
    const std::uint32_t task = new_task();
    tasks_[task].slices.push_back({run_ns, end_ns, task, thread});
    expect(path_kind::running, end_ns, until_ns, analysis::none);
    expect(path_kind::running, run_ns, end_ns, task);
    expect(path_kind::running, wait.start_ns, run_ns, analysis::none);
}

// The holder waits for another lock, which the waiting task holds.
void simulated_tasks::hold_in_deadlock(analysis::lock_wait& wait, std::int64_t until_ns,
                                       int depth) {
    const std::uint32_t holder = new_task();
    (wait.released_ns ? wait.releaser : wait.holder) = {0, holder, analysis::none};
    analysis::lock_wait other;
    other.start_ns = between(wait.start_ns, until_ns - 1);
    other.end_ns = until_ns;
    other.waiter = {threads_++, holder, analysis::none};
    other.holder = wait.waiter;
    locks_.push_back(other);
    tasks_[holder].slices.push_back({other.start_ns, until_ns, holder, other.waiter.thread});
    expect(path_kind::running, other.start_ns, until_ns, holder);
    draw_other(holder, wait.start_ns, other.start_ns, depth + 1);
}

// A task that was there before, and did something that is not on the path; or one that was spawned.
void simulated_tasks::draw_other(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                                 int depth) {
    if (to_ns - from_ns > 3 && between(0, 2) == 0) return draw_spawned(task, from_ns, to_ns, depth);
    draw_older(task, from_ns, to_ns, depth);
}

void simulated_tasks::draw_older(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                                 int depth) {
    draw(task, from_ns, to_ns, depth);
    tasks_[task].info.first_wake_ns = from_ns - between(0, 9);
    tasks_[task].slices.push_back({*tasks_[task].info.first_wake_ns, from_ns, task, 0});
}

void simulated_tasks::draw_spawned(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns,
                                   int depth) {
    const std::int64_t spawn_ns = between(from_ns + 1, to_ns - 1);
    const std::int64_t wake_ns = between(spawn_ns, to_ns - 1);
    const std::int64_t start_ns = between(wake_ns, to_ns - 1);
    const std::uint32_t parent = new_task();
    tasks_[task].info.spawn_ns = spawn_ns;
    tasks_[task].info.first_wake_ns = wake_ns;
    tasks_[task].info.parent = parent;
    draw(task, start_ns, to_ns, deepest);
    expect(path_kind::queued, wake_ns, start_ns, task);
    expect(path_kind::not_started, spawn_ns, wake_ns, task);
    draw_other(parent, from_ns, spawn_ns, depth + 1);
}

}  // namespace coroscope::test
