// SPDX-License-Identifier: Apache-2.0

// Sessions that start inside tasks that run on top of each other.

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include "../running_tasks.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// Writes the suspension of a task that ran on the thread when the session started, and just before
// it the record that describes the task.
thread_writer leave(thread_writer on, std::int64_t at, std::uint64_t id, std::uint64_t next) {
    return on.adopt(id).suspend(at, id, 0, next);
}

thread_writer restore(thread_writer on, std::int64_t at, std::uint64_t id, std::uint64_t before) {
    return on.raw(ticks_of(at),
                  trace::make_tag(trace::record_kind::context, 0, trace::context_restored),
                  {id, before});
}

void check_complete(const analysis::trace& loaded) {
    for (const analysis::task_info& each : loaded.tasks) {
        CAPTURE(each.id);
        CHECK_FALSE(each.losses);
    }
    CHECK(running_ns(loaded) <=
          loaded.duration_ns * static_cast<std::int64_t>(loaded.threads.size()));
    check_sound(loaded);
}

}  // namespace

TEST_CASE("a session that starts inside nested tasks finds all of them") {
    trace_builder built;
    SUBCASE("of all threads") { built.header.all_threads = 1; }
    SUBCASE("of one thread") {}
    SUBCASE("of one thread, on which the innermost task resumed others before it left") {
        built.on(1).spawn(20, 9).resume(30, 9).finish(40, 9);
    }
    std::uint64_t named = 0;  // a task that records name, below the unseen tasks
    SUBCASE("on top of a task that an earlier session saw") {
        built.header.all_threads = 1;
        named = 1;
        built.on(1).next_chunk(0, 1);
    }
    leave(built.on(1).next_chunk(0, named), 100, 5, named);
    leave(built.on(1), 200, 4, named).resume(300, 4, named).suspend(350, 4, 0, named);
    leave(built.on(1), 400, 3, named);
    leave(built.on(1), 500, 2, named);
    const auto loaded = load(built);
    check_complete(loaded);
    check_time(task(loaded, 3).time, 100 + 50, 250, 0, 600);
    check_time(task(loaded, 2).time, 100, 400, 0, 500);
    REQUIRE(task(loaded, 2).awaits.size() == 2);
    const analysis::await_info& first = await(loaded, task(loaded, 2), 0);
    CHECK(first.clipped);
    CHECK(first.suspend_ns == 0);
    CHECK(first.resume_ns == analysis::optional_ns(400));
    CHECK(first.waker == index_of(loaded, 3));
    CHECK(task(loaded, 2).slices.size() == 1);
    for (const std::uint64_t id : {2U, 3U, 4U, 5U}) CHECK(task(loaded, id).older_than_session);
}

TEST_CASE("a task below the nested tasks in which a session starts runs on if it never suspends") {
    trace_builder built;
    built.header.all_threads = 1;
    built.on(1).next_chunk(0, 5);
    leave(built.on(1), 100, 5, 4);
    leave(built.on(1), 300, 4, 3);
    built.on(1).resume(400, 5, 3).suspend(600, 5, 0, 3);
    const auto loaded = load(built);
    check_complete(loaded);
    CHECK(task(loaded, 3).state == analysis::task_state::running);
    CHECK(task(loaded, 3).older_than_session);
    check_time(task(loaded, 3).time, 100 + 400, 300 + 200, 0, 0);
    check_time(task(loaded, 4).time, 200, 100, 0, 700);
}

TEST_CASE("a context in which a session starts does not count as a running task") {
    trace_builder built;
    built.header.all_threads = 1;
    built.on(1).next_chunk(0, 8);
    restore(built.on(1), 50, 5, 8);
    leave(built.on(1), 100, 5, 7);
    restore(built.on(1), 150, 4, 7);
    leave(built.on(1), 200, 4, 0);
    const auto loaded = load(built);
    check_complete(loaded);
    check_time(task(loaded, 5).time, 100, 0, 0, 900);
    check_time(task(loaded, 4).time, 100, 100, 0, 800);
    for (const std::uint64_t id : {7U, 8U}) {
        CHECK(task(loaded, id).slices.empty());
        CHECK_FALSE(task(loaded, id).first_wake_ns.has_value());
    }
}

TEST_CASE("a session that starts in a task which then transfers finds the tasks below it") {
    trace_builder built;
    built.header.all_threads = 1;
    built.on(1).next_chunk(0, 5).adopt(5).spawn(50, 9).transfer(100, 5, 9);
    built.on(1).finish(200, 9, 4).adopt(4).suspend(300, 4, 0, 3).resume(400, 9, 3);
    const auto loaded = load(built);
    check_complete(loaded);
    check_time(task(loaded, 4).time, 100, 200, 0, 700);
    CHECK(task(loaded, 3).state == analysis::task_state::suspended);
}

TEST_CASE("a suspension that is taken back loses nothing, even if the session started in it") {
    trace_builder built;
    built.header.all_threads = 1;
    leave(built.on(1), 100, 5, 0).spawn(110, 9, 0, trace::spawn_started);
    built.on(1).finish(150, 9).cancel(200, 5).suspend(300, 5);
    leave(built.on(1), 400, 4, 0);
    const auto loaded = load(built);
    check_complete(loaded);
    check_time(task(loaded, 5).time, 100 + 100, 100, 0, 700);
    CHECK(task(loaded, 4).time.running_ns <= 200);
}

TEST_CASE("a task of another session that resumes a task of this one has no slices and no losses") {
    trace_builder built;
    built.on(1).spawn(0, 1, 0, trace::spawn_started).spawn(50, 2, 0, 0, 1);
    built.on(1).resume(100, 2, 7).finish(200, 2, 7).finish(300, 1);
    const auto loaded = load(built);
    check_complete(loaded);
    check_time(task(loaded, 1).time, 200, 100, 0, 0);
    CHECK(task(loaded, 7).slices.empty());
}

TEST_CASE("fifty thousand tasks of another session that resume tasks of this one have no slices") {
    constexpr std::uint64_t many = 50'000;
    trace_builder built(std::size_t{1} << 24);
    thread_writer on = built.on(1);
    on.spawn(0, 1, 0, trace::spawn_started);
    for (std::uint64_t id = 2; id < many; ++id)
        on.resume(10, id, many + id).suspend(10, id, 0, many + id);
    const auto loaded = load(built);
    check_time(task(loaded, 1).time, 1000, 0, 0, 0);
    std::size_t wrong = 0;
    for (const analysis::task_info& each : loaded.tasks)
        if (each.losses || (each.id > many && !each.slices.empty())) ++wrong;
    CHECK(wrong == 0);
}

TEST_CASE("a session that starts inside 5,000 nested tasks finds all of them") {
    constexpr std::uint64_t depth = 5000;
    trace_builder built(std::size_t{1} << 20);
    built.header.all_threads = 1;
    bool named = false;
    SUBCASE("no record names the tasks before they suspend") {}
    SUBCASE("records name the tasks") { named = true; }
    if (named) built.on(1).next_chunk(0, depth);
    std::int64_t at = 0;
    for (std::uint64_t id = depth; id > 0; --id)
        leave(built.on(1), at += 10, id, named ? id - 1 : 0);
    const auto loaded = load(built);
    std::size_t wrong = 0;
    for (const analysis::task_info& each : loaded.tasks)
        if (each.losses || each.time.running_ns != 10) ++wrong;
    CHECK(loaded.tasks.size() == depth);
    CHECK(wrong == 0);
    check_sound(loaded);
}

TEST_CASE("nested tasks of a session of one thread run from its start, or from the context that "
          "began it") {
    trace_builder built;
    std::int64_t since_ns = 0;
    SUBCASE("the session starts in the tasks") { built.on(1).next_chunk(50, 0); }
    SUBCASE("a context began the session") {
        built.on(1).next_chunk(50, 0).context(50, 9, 0);
        since_ns = 50;
    }
    leave(built.on(1), 100, 5, 0);
    leave(built.on(1), 200, 4, 0);
    const auto loaded = load(built);
    check_complete(loaded);
    check_time(task(loaded, 5).time, 100 - since_ns, 0, 0, 900 + since_ns);
    check_time(task(loaded, 4).time, 100, 100 - since_ns, 0, 800 + since_ns);
}

namespace {

// Simulates the stack of tasks of a thread, and writes the records of a session that starts in it.
class simulated_thread {
public:
    simulated_thread(std::uint64_t with_context, std::uint64_t quiet, unsigned seed)
        : random_(seed) {
        built.header.all_threads = 1;
        for (std::uint64_t at = 0; at < with_context + quiet; ++at) {
            const bool has_context = at < with_context;
            stack_.push_back({next_id_, has_context, mark_, true});
            if (has_context) mark_ = next_id_;
            ++next_id_;
        }
        on_.next_chunk(0, mark_);
    }

    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            pass();
            if (!stack_.empty() && random_() % 5 < 3)
                leave();
            else
                resume();
        }
        pass();
        built.lasts(now_);
    }

    [[nodiscard]] bool still_runs(std::uint64_t id) const {
        for (const on_stack& each : stack_)
            if (each.id == id) return each.is_old;
        return false;
    }

    trace_builder built;
    std::map<std::uint64_t, std::int64_t> running_ns;

private:
    struct on_stack {
        std::uint64_t id;
        bool has_context;
        std::uint64_t before;
        bool is_old;
    };

    void pass() {
        const auto length_ns = static_cast<std::int64_t>(1 + random_() % 20);
        if (!stack_.empty()) running_ns[stack_.back().id] += length_ns;
        now_ += length_ns;
    }

    void resume() {
        std::uint64_t id = next_id_;
        if (suspended_.empty() || random_() % 2 == 0) {
            on_.spawn(now_, next_id_++, 0, 0, mark_);
        } else {
            id = suspended_.back();
            suspended_.pop_back();
        }
        on_.resume(now_, id, mark_);
        stack_.push_back({id, true, mark_, false});
        mark_ = id;
    }

    void leave() {
        const on_stack left = stack_.back();
        stack_.pop_back();
        if (left.has_context) mark_ = left.before;
        if (left.is_old) on_.adopt(left.id);
        if (random_() % 2 == 0) {
            on_.suspend(now_, left.id, 0, mark_);
            suspended_.push_back(left.id);
        } else {
            on_.finish(now_, left.id, mark_);
        }
    }

    std::minstd_rand random_;
    thread_writer on_ = built.on(1);
    std::vector<on_stack> stack_;
    std::vector<std::uint64_t> suspended_;
    std::uint64_t next_id_ = 1;
    std::uint64_t mark_ = 0;
    std::int64_t now_ = 0;
};

}  // namespace

TEST_CASE("running times are exact for random stacks at the start and at the stop of a session") {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        const std::uint64_t quiet = seed % 5;
        simulated_thread thread(seed % 4, quiet, seed);
        thread.run(static_cast<int>(seed % 60));
        const auto loaded = load(thread.built);
        check_complete(loaded);
        for (const analysis::task_info& each : loaded.tasks) {
            CAPTURE(each.id);
            // A task without a context that does not leave is not in the trace.
            const bool is_seen = quiet == 0 || !thread.still_runs(each.id);
            if (is_seen) CHECK(each.time.running_ns == thread.running_ns[each.id]);
        }
    }
}
