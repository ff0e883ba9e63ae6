// SPDX-License-Identifier: Apache-2.0
#pragma once

// One task's transitions, brought into order, and the awaits between them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "known_span.hpp"
#include "task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

class life_builder {
public:
    /// Appends to loaded.awaits and fills loaded.tasks. `trace_lost_records`: a task without a spawn
    /// record may have lost it; else it must be older than the session. Outside of `known` it may have lost any.
    life_builder(trace& loaded, bool trace_lost_records, const known_span& known)
        : loaded_(loaded), trace_lost_records_(trace_lost_records), known_(known) {}

    /// Begins the life of `task`, an index into trace::tasks.
    void begin(std::uint32_t task);

    /// Adds a record that names the task, first (`as_other` false) or second. Records of one thread must
    /// come in their order; `position` tells the order among records of equal time.
    void add(const task_op& op, std::uint32_t position, bool as_other);

    /// Works out the life. The task's figures of time are left to others.
    void finish();

    /// Where the task was destroyed while suspended: index into trace::threads, else none.
    [[nodiscard]] std::uint32_t destroyed_on() const { return destroyed_on_; }

private:
    struct move {
        std::int64_t time_ns = 0;
        std::uint32_t position = 0;
        bool as_other = false;
        const task_op* op = nullptr;
    };
    struct wake {
        std::int64_t time_ns = 0;
        std::uint32_t waker = none;
        std::uint32_t thread = none;
    };
    struct hand_over {
        std::uint32_t thread = none;  // whose suspension is still to come
        std::int64_t time_ns = 0;     // when the task went on elsewhere
    };

    [[nodiscard]] task_info& task() { return loaded_.tasks[task_]; }
    // Places among moves_, the first on top.
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
    void apply_tick(std::size_t begin, std::size_t end);
    void apply(const move& next);
    void go_on_elsewhere(std::uint32_t thread, std::int64_t time_ns);
    void decide_age();

    void spawn(const task_op& op);
    void resume(const task_op& op, std::int64_t time_ns);
    void resume(std::int64_t time_ns, std::uint32_t thread, const wake* seen);
    void suspend(const move& next, std::uint32_t awaited);
    bool late_suspend(const move& next, std::uint32_t awaited);
    void cancel(const task_op& op);
    void end(const move& next);
    void edge(std::uint32_t awaited);
    void end_of_session();
    void doubt();
    void doubt(await_info& await);
    [[nodiscard]] bool is_known_at_end();

    void open_await(std::int64_t suspend_ns, std::uint32_t site, std::uint32_t awaited);
    void close_await(std::int64_t time_ns, const wake* seen);
    const wake* take_wake(std::int64_t from_ns, std::int64_t to_ns);
    static void set_wake(await_info& await, const wake& seen);

    trace& loaded_;
    bool trace_lost_records_;
    known_span known_;
    std::size_t first_await_ = 0;
    std::uint32_t task_ = none;
    std::vector<move> moves_;
    std::vector<wake> wakes_;
    std::size_t next_wake_ = 0;
    std::vector<hand_over> late_;
    bool adopted_ = false;  // described as older, or restated without its time
    bool ran_ = false;
    bool running_ = false;
    bool awaits_ = false;  // the last await is open
    std::uint32_t thread_ = none;
    std::uint32_t found_on_ = none;  // a thread that it was running on when that joined
    std::uint32_t suspended_on_ = none;
    std::uint32_t pending_edge_ = none;
    std::uint32_t destroyed_on_ = none;
};

}  // namespace coroscope::analysis::loading
