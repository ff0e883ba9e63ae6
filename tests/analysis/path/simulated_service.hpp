// SPDX-License-Identifier: Apache-2.0
#pragma once

// A simulated service: random tasks on pools and strands, as a trace, with the critical path of
// each task. The path is carried along while the tasks run: a woken task goes on with the path of its
// waker since the suspension. The analysis walks back instead.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>

#include "../../support/trace_builder.hpp"

namespace coroscope::test {

class simulated_service {
public:
    /// A part of a path. Tasks have the ids of the trace.
    struct part {
        analysis::path_kind kind;
        std::int64_t from_ns;
        std::int64_t to_ns;
        std::uint64_t task;
        bool operator==(const part&) const = default;
    };

    /// Runs the whole simulation.
    explicit simulated_service(std::uint32_t seed);

    [[nodiscard]] const trace_builder& built() const { return built_; }

    /// Times in ns, by the thread's id and the task's; 0: no task.
    using charges = std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t>;

    /// The tasks that came from outside.
    [[nodiscard]] const std::vector<std::uint64_t>& requests() const { return requests_; }

    /// The path of an ended task. Neighbours of one kind and task are one part.
    [[nodiscard]] std::vector<part> path_of(std::uint64_t task) const;

    /// The charges of a queued part.
    [[nodiscard]] charges charges_of(const part& queued) const;

private:
    enum class act {
        compute,
        wait_for_timer,
        wait_unseen,  // without a record of the wake
        call,         // a child that starts and returns in place
        start_child,
        create_child,  // a child that starts when it is awaited
        leave_child,   // a child without an awaiter
        await_child,
        join_child,  // without a record of the wait's end by the child; the task goes on in place
        lock,
        unlock,
        finish,
    };

    struct executor {
        std::uint32_t pool;    // its own number, or that of the strand's pool
        bool is_busy = false;  // of a strand: a job runs
        std::deque<std::uint64_t> ready;
    };

    /// Work on a thread. Task 0 is none.
    struct occupation {
        std::uint64_t task;
        std::uint32_t executor;  // that began the work
        std::int64_t from_ns;
        std::int64_t to_ns;
    };

    struct thread {
        std::uint32_t pool;
        std::vector<occupation> work;
        bool is_free = true;
    };

    struct task {
        std::uint32_t executor = 0;
        std::uint32_t thread = 0;  // its last one
        int depth = 0;
        std::uint64_t awaiter = 0;
        act awaited_by = act::await_child;
        bool is_ready = true;  // else it has not been started
        bool is_ended = false;
        bool is_unseen = false;         // without a record of the wake
        std::int64_t known_ns = 0;      // the end of its path so far
        std::int64_t suspended_ns = 0;  // its last suspension
        std::deque<act> acts;
        std::vector<std::uint64_t> children;  // not awaited yet
        std::vector<part> path;
    };

    /// A task goes on, or its wait ends; or a thread looks for work, if the task is 0.
    struct moment {
        std::int64_t at_ns;
        std::uint64_t task;
        std::uint32_t thread;
        bool is_wake;
        bool operator>(const moment& other) const { return at_ns > other.at_ns; }
    };

    void make_executors();
    void occupy_all_threads(std::int64_t at_ns);
    [[nodiscard]] std::deque<act> draw_acts(int depth);
    std::uint64_t new_task(std::uint32_t executor, int depth, std::uint64_t parent);
    void arrive(std::int64_t at_ns);

    void happen(const moment& now);
    void go_on(std::uint64_t id, std::int64_t now_ns);
    bool perform(act next, std::uint64_t id, std::int64_t now_ns);
    void suspend(std::uint64_t id, std::int64_t now_ns);
    void call(std::uint64_t id, std::int64_t now_ns);
    void spawn(std::uint64_t id, std::int64_t now_ns, act how);
    bool await_child(std::uint64_t id, std::int64_t now_ns, act how);
    bool lock(std::uint64_t id, std::int64_t now_ns);
    void unlock(std::uint64_t id, std::int64_t now_ns);
    void finish(std::uint64_t id, std::int64_t now_ns);
    void return_in_place(std::uint64_t id, std::uint64_t awaiter, std::int64_t now_ns);
    void wake(std::uint64_t id, std::uint64_t waker, std::int64_t now_ns);
    void put_in_queue(std::uint64_t id, std::int64_t now_ns);
    void look_for_work(std::uint32_t on, std::int64_t now_ns);
    [[nodiscard]] std::vector<std::uint32_t> executors_with_work(std::uint32_t pool) const;
    void start(std::uint64_t id, std::uint32_t on, std::int64_t now_ns);

    void occupy(std::uint32_t on, std::uint64_t id, std::uint32_t by, std::int64_t now_ns);
    void leave(std::uint32_t on, std::int64_t now_ns);
    void free_thread(std::uint32_t on, std::int64_t now_ns);
    void extend(std::uint64_t id, analysis::path_kind kind, std::int64_t to_ns);
    void follow(std::uint64_t id, std::uint64_t other, std::int64_t to_ns);
    std::int64_t between(std::int64_t low, std::int64_t high);
    std::int64_t new_time(std::int64_t earliest_ns);
    void schedule(std::int64_t earliest_ns, std::uint64_t task, std::uint32_t on, bool is_wake);
    [[nodiscard]] occupation work_on(std::uint32_t on, std::int64_t at_ns) const;
    [[nodiscard]] std::vector<std::uint32_t> charged_threads(std::uint32_t number,
                                                             std::int64_t at_ns) const;

    std::mt19937 random_;
    trace_builder built_{std::size_t{1} << 16};  // one chunk for each thread
    std::uint32_t site_ = 0;
    std::uint32_t await_ = 0;
    std::vector<executor> executors_{{0, false, {}}};  // by number; 0 is none
    std::vector<thread> threads_;                      // by id; 0 is none, 1 is outside
    std::map<std::uint64_t, task> tasks_;              // by id, from 1 on
    std::vector<std::uint64_t> requests_;
    std::priority_queue<moment, std::vector<moment>, std::greater<>> moments_;
    std::set<std::int64_t> used_;  // the times that something happens at
    std::uint64_t lock_holder_ = 0;
    std::deque<std::uint64_t> lock_waiters_;
};

}  // namespace coroscope::test
