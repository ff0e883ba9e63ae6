// SPDX-License-Identifier: Apache-2.0

// Asio's experimental ways to wait: groups of awaits, and channels.

#include "asio_library.hpp"
#include "napping.hpp"
#include "recording.hpp"

#if defined(COROSCOPE_TEST_ASIO_HAS_GROUPS)

namespace {

net::awaitable<void> both() {
    COROSCOPE_FUNCTION();
    using namespace net::experimental::awaitable_operators;
    co_await (napping_child() && napping_child());
    COROSCOPE("after both");
    busy(2ms);
}

net::awaitable<void> sleeps_long() {
    COROSCOPE_FUNCTION();
    co_await nap(1h);
}

net::awaitable<void> either(bool& first_won) {
    COROSCOPE_FUNCTION();
    using namespace net::experimental::awaitable_operators;
    const auto won = co_await (napping_child() || sleeps_long());
    first_won = won.index() == 0;
    COROSCOPE("after either");
}

using channel = net::experimental::channel<void(net_error::error_code, int)>;

net::awaitable<void> sends(channel& numbers) {
    COROSCOPE_FUNCTION();
    for (int each = 1; each <= 3; ++each) {
        co_await numbers.async_send({}, each, net::use_awaitable);
        co_await nap(1ms);
    }
}

net::awaitable<void> receives(channel& numbers, int& sum) {
    COROSCOPE_FUNCTION();
    for (int each = 1; each <= 3; ++each) sum += co_await numbers.async_receive(net::use_awaitable);
}

// A channel of one place as a lock: who sends holds it, until he receives.
net::awaitable<void> holds(channel& lock) {
    COROSCOPE_FUNCTION();
    co_await lock.async_send({}, 1, net::use_awaitable);
    co_await nap(2ms);
    lock.try_receive([](auto...) {});
    co_await nap(1ms);
}

net::awaitable<void> wants(channel& lock) {
    COROSCOPE_FUNCTION();
    co_await lock.async_send({}, 2, net::use_awaitable);
    lock.try_receive([](auto...) {});
}

using local_socket = net::local::stream_protocol::socket;

net::awaitable<void> reads(local_socket& from) {
    COROSCOPE_FUNCTION();
    char byte = 0;
    co_await from.async_read_some(net::buffer(&byte, 1), net::use_awaitable);
}

// Runs other work of the loop within the task.
net::awaitable<void> polls(net::io_context& io, local_socket& to) {
    COROSCOPE_FUNCTION();
    for (int turn = 0; turn < 3; ++turn) {
        io.poll();
        if (turn == 1) CHECK(net::write(to, net::buffer("x", 1)) == 1);
    }
    co_return;
}

}  // namespace

TEST_CASE(
    "a coroutine that awaits two operations with && is suspended until the later one has ended") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, both(), net::detached);
        io.run();
    });
    const analysis::task_info& task = task_named(loaded, "both");
    int children = 0;
    for (const analysis::task_info& child : loaded.tasks) {
        if (spawn_label(loaded, child) != "napping_child") continue;
        ++children;
        REQUIRE(child.awaiter != analysis::none);
        CHECK(loaded.tasks[child.awaiter].id == task.id);
        CHECK(loaded.tasks[child.parent].id == task.id);
        CHECK(*child.end_ns <= scope_named(loaded, "after both").start_ns);
    }
    CHECK(children == 2);
    CHECK(owner_of(loaded, "after both").id == task.id);
    CHECK(task.state == analysis::task_state::finished);
    CHECK(task.time.suspended_ns >= nearly(5 * ms));
    CHECK(task.time.running_ns >= nearly(2 * ms));
    check_all_add_up(loaded);
}

TEST_CASE("if two operations are awaited with ||, the cancelled one ends, too") {
    bool first_won = false;
    const auto loaded = record([&first_won] {
        net::io_context io;
        net::co_spawn(io, either(first_won), net::detached);
        io.run();
    });
    CHECK(first_won);
    CHECK(owner_of(loaded, "after either").id == task_named(loaded, "either").id);
    CHECK(task_named(loaded, "napping_child").state == analysis::task_state::finished);
    CHECK(task_named(loaded, "sleeps_long").state == analysis::task_state::failed);
    CHECK(task_named(loaded, "either").state == analysis::task_state::finished);
    check_all_add_up(loaded);
}

TEST_CASE("a channel's receiver waits for its sender") {
    int sum = 0;
    const auto loaded = record([&sum] {
        net::io_context io;
        channel numbers(io, 0);
        net::co_spawn(io, receives(numbers, sum), net::detached);
        net::co_spawn(io, sends(numbers), net::detached);
        io.run();
    });
    CHECK(sum == 6);
    const analysis::task_info& receiver = task_named(loaded, "receives");
    CHECK(receiver.state == analysis::task_state::finished);
    CHECK(receiver.time.wall_ns() > receiver.time.running_ns);
    REQUIRE(receiver.awaits.size() == 3);
    for (const std::uint32_t each : receiver.awaits) {
        const analysis::await_info& received = loaded.awaits[each];
        CHECK(loaded.sites[received.site].label.ends_with("async_receive"));
        REQUIRE(received.waker != analysis::none);
        CHECK(loaded.tasks[received.waker].id == task_named(loaded, "sends").id);
    }
    check_all_add_up(loaded);
}

TEST_CASE("a channel's sender waits for its receiver") {
    int sum = 0;
    const auto loaded = record([&sum] {
        net::io_context io;
        channel numbers(io, 0);
        net::co_spawn(io, sends(numbers), net::detached);
        net::co_spawn(io, receives(numbers, sum), net::detached);
        io.run();
    });
    CHECK(sum == 6);
    const analysis::task_info& sender = task_named(loaded, "sends");
    const analysis::await_info& sent = loaded.awaits[sender.awaits.front()];
    REQUIRE(sent.waker != analysis::none);
    CHECK(loaded.tasks[sent.waker].id == task_named(loaded, "receives").id);
    check_all_add_up(loaded);
}

TEST_CASE("the coroutine that makes room in a channel wakes the one that waits for it") {
    const auto loaded = record([] {
        net::io_context io;
        channel lock(io, 1);
        net::co_spawn(io, holds(lock), net::detached);
        net::co_spawn(io, wants(lock), net::detached);
        io.run();
    });
    const analysis::task_info& waiting = task_named(loaded, "wants");
    const analysis::await_info& sent = loaded.awaits[waiting.awaits.front()];
    const analysis::task_info& holder = task_named(loaded, "holds");
    REQUIRE(holder.awaits.size() == 3);
    const analysis::await_info& nap_in_between = loaded.awaits[holder.awaits[1]];
    CHECK(sent.suspend_ns < nap_in_between.resume_ns);
    CHECK(sent.resume_ns > nap_in_between.resume_ns);
    REQUIRE(sent.waker != analysis::none);
    CHECK(loaded.tasks[sent.waker].id == holder.id);
    check_all_add_up(loaded);
}

TEST_CASE("a task that runs the loop is not the waker of what the loop completes") {
    const auto loaded = record([] {
        net::io_context io;
        const auto strand = net::make_strand(io);
        local_socket from(strand), to(io);
        net::local::connect_pair(from, to);
        net::co_spawn(strand, reads(from), net::detached);
        net::co_spawn(io, polls(io, to), net::detached);
        io.run();
    });
    const analysis::task_info& reader = task_named(loaded, "reads");
    const analysis::await_info& read = loaded.awaits[reader.awaits.front()];
    REQUIRE(read.resume_ns);
    CHECK(read.wake_ns);
    CHECK(read.waker == analysis::none);
    check_all_add_up(loaded);
}

#endif
