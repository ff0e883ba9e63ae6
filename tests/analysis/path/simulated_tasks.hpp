// SPDX-License-Identifier: Apache-2.0
#pragma once

// Random task graphs whose critical path is known, because the path is drawn first and the tasks
// are built around it.

#include <cstdint>
#include <random>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>

namespace coroscope::test {

/// One graph. Task 0 is the root: its first wake is at 1000, its end is the session's.
class simulated_tasks {
public:
    explicit simulated_tasks(std::uint32_t seed);

    [[nodiscard]] analysis::trace graph() const;

    /// The path of task 0, by time: kind, times and task.
    [[nodiscard]] const std::vector<analysis::path_segment>& path() const { return path_; }

private:
    struct task {
        analysis::task_info info;
        std::vector<analysis::slice> slices;       // the latest first
        std::vector<analysis::await_info> awaits;  // the latest first
    };

    std::uint32_t new_task();
    std::int64_t between(std::int64_t low, std::int64_t high);
    void expect(analysis::path_kind kind, std::int64_t from_ns, std::int64_t to_ns,
                std::uint32_t task);
    void draw(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    void run(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns);
    void wait_unseen(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns);
    void wait_for_event(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns);
    void wait_for_task(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    void wait_for_child(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    void wait_for_join(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    void wait_for_resource(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    void wait_for_lock(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    void hold(analysis::lock_wait& wait, std::int64_t until_ns, int depth);
    void hold_on_thread(analysis::lock_wait& wait, std::int64_t until_ns);
    void hold_in_deadlock(analysis::lock_wait& wait, std::int64_t until_ns, int depth);
    void draw_other(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    void draw_older(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    void draw_spawned(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns, int depth);
    analysis::await_info& add_await(std::uint32_t task, std::int64_t from_ns, std::int64_t to_ns);

    std::mt19937 random_;
    std::vector<task> tasks_;
    std::uint32_t threads_ = 1;  // thread 0 has no locks
    std::vector<analysis::lock_wait> locks_;
    std::vector<analysis::resource_wait> resources_;
    std::vector<analysis::path_segment> path_;
};

}  // namespace coroscope::test
