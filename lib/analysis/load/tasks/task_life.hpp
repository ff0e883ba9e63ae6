// SPDX-License-Identifier: Apache-2.0
#pragma once

// One task's transitions, brought into order, and the awaits between them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

#include "../records/task_records.hpp"
#include "known_span.hpp"
#include "task_relations.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline tasks {

class life_builder {
    using await_outcome = coroscope::trace::await_outcome;

public:
    /// Appends to loaded.awaits. `trace_lost_records`: a task without a spawn record may have lost
    /// it; else it must be older than the session. Outside of `known` it may have lost any. A task
    /// that is abandoned from the end of the service on ended with the service.
    life_builder(const task_records& records, trace& loaded, bool trace_lost_records,
                 const known_span& known)
        : ops_(records.ops),
          loaded_(loaded),
          trace_lost_records_(trace_lost_records),
          known_(known),
          relations_(records.ops, loaded.tasks.size()),
          service_end_ns_(records.service_end_ns) {}

    /// Derives the transitions and awaits of `info`, the task with the index `task`, from the
    /// records that name it: indices into the records' ops, the records of each thread in their
    /// order. Does not compute the task's times.
    void run(std::uint32_t task, task_info& info, std::span<const std::uint32_t> mentions);

    /// The thread that destroyed the task while it was suspended, as an index into trace::threads.
    /// none if the task was not destroyed while suspended.
    [[nodiscard]] std::uint32_t destroyed_on() const { return destroyed_on_; }

    /// The task whose await started this task: this task ran first while that await suspended its
    /// awaiter. none if the task began in another way.
    [[nodiscard]] std::uint32_t started_by() const { return started_by_; }

private:
    struct move {
        std::int64_t time_ns = 0;
        std::uint32_t mention = 0;  // index into mentions_, which orders records of equal time
        bool as_other = false;
        task_op op;
    };
    struct wake {
        std::int64_t time_ns = unknown_time;
        std::uint32_t waker = none;
        std::uint32_t thread = none;
        op_cause cause = op_cause::unknown;
        std::uint32_t executor = none;
    };
    struct hand_over {
        std::uint32_t thread = none;  // the thread that will record the suspension
        std::int64_t time_ns = 0;     // when the task went on elsewhere
        await_outcome outcome = await_outcome::unknown;
    };

    // Moves that are in order already: the first of them, and those of the mentions from `next` on.
    struct move_run {
        std::uint32_t next = 0;
        std::uint32_t end = 0;
        bool is_over = false;
        move head;
    };

    [[nodiscard]] task_info& task() { return *info_; }
    // Indices into moves_, the smallest on top.
    using move_queue = std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>>;
    enum class move_kind : std::uint8_t { stays, enters, leaves };
    struct move_queues {
        std::array<move_queue, 3> by_kind;
        move_queue& operator[](move_kind kind) { return by_kind[static_cast<std::size_t>(kind)]; }
        const move_queue& operator[](move_kind kind) const {
            return by_kind[static_cast<std::size_t>(kind)];
        }
    };

    [[nodiscard]] static move_kind kind_of(const move& next);
    [[nodiscard]] move_kind choose(const move_queues& heads) const;
    void begin(std::uint32_t task, task_info& info);
    void tell(const task_op& op, bool as_other);
    void find_runs();
    void sort_runs();
    void advance(move_run& run);
    [[nodiscard]] move_run* first_run();
    [[nodiscard]] bool read_move(std::uint32_t mention, move& read) const;
    [[nodiscard]] optional_ns timer_of(const move& resume, std::uint32_t& executor) const;
    void apply_moves();
    void apply_tick();
    void apply_tick_of_threads();
    void apply(const move& next);
    void go_on_elsewhere(std::uint32_t thread, std::int64_t time_ns, await_outcome outcome);
    void decide_age(const move* first);

    void spawn(const task_op& op);
    void add_wake(const task_op& op);
    void resume(const move& next);
    void resume_by_cause(const move& next);
    void resume(std::int64_t time_ns, std::uint32_t thread, const wake* seen,
                await_outcome outcome);
    [[nodiscard]] bool is_wake(const task_op& resume) const;
    void replace_outcome(const task_op& op);
    void suspend(const move& next, std::uint32_t awaited);
    bool late_suspend(const move& next, std::uint32_t awaited);
    void cancel(const task_op& op, std::int64_t time_ns);
    void end(const move& next);
    void edge(std::uint32_t awaited);
    void end_of_session();
    void doubt();
    void doubt_await(std::size_t at);
    bool doubt(await_info& await);
    [[nodiscard]] bool doubts_outcome(const await_info& await, std::int64_t next_ns) const;
    [[nodiscard]] bool is_known_at_end();

    void open_await(std::int64_t suspend_ns, std::uint32_t site, std::uint32_t awaited);
    void close_await(std::int64_t time_ns, const wake* seen,
                     await_outcome outcome = await_outcome::unknown);
    const wake* take_wake(std::int64_t from_ns, std::int64_t started_ns, std::int64_t to_ns);
    const wake* take_wake(const await_info& await, std::int64_t to_ns);
    const wake* take_first_wake(std::int64_t to_ns);
    std::int64_t first_wake(std::int64_t time_ns, const wake* seen);
    static void set_wake(await_info& await, const wake& seen);

    const growing_list<task_op>& ops_;
    trace& loaded_;
    bool trace_lost_records_;
    known_span known_;
    task_relations relations_;
    std::int64_t service_end_ns_;
    std::size_t first_await_ = 0;
    std::uint32_t task_ = none;
    task_info* info_ = nullptr;
    std::span<const std::uint32_t> mentions_;
    std::vector<move_run> runs_;
    std::vector<std::uint32_t> sorted_;  // mentions of moves, if there would be too many runs
    std::vector<move> tick_;             // moves of the same time
    bool acted_ = false;                 // there was a move
    bool has_timers_ = false;            // a timer woke the task
    std::vector<wake> wakes_;
    std::size_t next_wake_ = 0;
    std::vector<hand_over> late_;
    bool adopted_ = false;  // older than the session, or its spawn has no time
    bool ran_ = false;
    bool running_ = false;
    bool awaits_ = false;  // the last await is open
    std::uint32_t thread_ = none;
    std::uint32_t found_on_ = none;  // the thread on which it ran when that thread joined
    std::uint32_t suspended_on_ = none;
    std::uint32_t pending_edge_ = none;
    std::uint32_t destroyed_on_ = none;
    std::uint32_t started_by_ = none;
    wake woken_by_;  // by a task that ran: at this time at the latest
};

}  // namespace coroscope::analysis::inline tasks
