// SPDX-License-Identifier: Apache-2.0

// Collection that is switched off and on again: the activities in the trace, and their tasks.

#include <atomic>
#include <thread>

#include "recorded_devices.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// Lets the test's thread and another thread take turns.
class turns {
public:
    void wait(int turn) const {
        while (now_ != turn) std::this_thread::yield();
    }
    void take(int turn) { now_ = turn; }
    void take_and_wait(int turn) {
        take(turn);
        wait(turn + 1);
    }

private:
    std::atomic<int> now_{0};
};

task<> launch_around(turns& order, std::uint64_t& self) {
    self = current_context().task;
    fake::call_launch({.kernel = "before"});
    order.take_and_wait(1);
    fake::call_launch({.kernel = "after"});
    co_return;
}

task<> launch_after(turns& order, std::uint64_t& self) {
    self = current_context().task;
    order.take_and_wait(1);
    fake::call_launch({.kernel = "after"});
    co_return;
}

std::uint64_t task_of(const recorded_devices& found, const char* kernel) {
    for (const recorded_activity& each : found.kernels())
        if (each.name == kernel) return each.body.task;
    FAIL("no kernel " << kernel);
    return 0;
}

// Launches while collection is on, and switches collection off. The buffer may come back
// afterwards.
void launch_and_deliver_later(profile& session) {
    fake::hold_buffers(true);
    fake::call_launch({.kernel = "first"});
    session.toggle_collection(false);
    fake::hold_buffers(false);
}

}  // namespace

TEST_SUITE("switched collection") {
    TEST_CASE("a session has no activities from the time while its collection is off") {
        const recorded_devices found = [] {
            profile session({.use_device = "cuda"});
            fake::call_launch({.kernel = "first"});
            session.toggle_collection(false);
            fake::call_launch({.kernel = "second"});
            fake::deliver();
            session.toggle_collection(true);
            fake::call_launch({.kernel = "third"});
            return decode(session.stop());
        }();
        REQUIRE(found.kernels().size() == 2);
        CHECK(found.kernels()[0].name == "first");
        CHECK(found.kernels()[1].name == "third");
        CHECK(found.header.lost_device_records == 0);
    }

    TEST_CASE("a launch while collection is off is left out, whenever it is delivered") {
        const recorded_devices found = [] {
            profile session({.use_device = "cuda"});
            session.toggle_collection(false);
            fake::call_launch({.kernel = "second"});
            session.toggle_collection(true);
            fake::call_launch({.kernel = "third"});
            return decode(session.stop());
        }();
        REQUIRE(found.kernels().size() == 1);
        CHECK(found.kernels()[0].name == "third");
        CHECK(found.header.lost_device_records == 0);
    }

    TEST_CASE("a launch from before collection is off that is delivered meanwhile is in the trace "
              "after collection is on again") {
        const recorded_devices found = [] {
            profile session({.use_device = "cuda"});
            launch_and_deliver_later(session);
            fake::deliver();
            session.toggle_collection(true);
            return decode(session.stop());
        }();
        REQUIRE(found.kernels().size() == 1);
        CHECK(found.kernels()[0].name == "first");
        CHECK(found.header.lost_device_records == 0);
    }

    TEST_CASE("a session that ends while collection is off counts records that are delivered too "
              "late as lost") {
        const recorded_devices found = [] {
            profile session({.use_device = "cuda"});
            launch_and_deliver_later(session);
            fake::call_launch({.kernel = "second"});
            return decode(session.stop());
        }();
        CHECK(found.kernels().empty());
        CHECK(found.header.lost_device_records ==
              2);  // the call and the kernel of the first launch
    }

    TEST_CASE("a thread that changed tasks while collection was off gives no launch to its earlier "
              "task") {
        turns order;
        std::uint64_t first = 0, second = 0;
        profile session({.all_threads = true, .use_device = "cuda"});
        std::thread other([&] {
            sync_wait(launch_around(order, first));
            order.take_and_wait(3);
            fake::call_launch({.kernel = "outside"});
            sync_wait(launch_after(order, second));
        });
        order.wait(1);
        session.toggle_collection(false);
        order.take(2);
        order.wait(3);
        session.toggle_collection(true);
        order.take(4);
        order.wait(1);
        order.take(2);
        other.join();
        const recorded_devices found = decode(session.stop());
        REQUIRE(found.kernels().size() == 3);
        CHECK(task_of(found, "before") == first);
        CHECK(task_of(found, "outside") == 0);
        CHECK(task_of(found, "after") == second);
    }

    TEST_CASE("a task that runs through a switch has no launches until its thread changes tasks") {
        turns order;
        std::uint64_t self = 0;
        profile session({.all_threads = true, .use_device = "cuda"});
        std::thread other([&] { sync_wait(launch_around(order, self)); });
        order.wait(1);
        session.toggle_collection(false);
        session.toggle_collection(true);
        order.take(2);
        other.join();
        const recorded_devices found = decode(session.stop());
        CHECK(task_of(found, "before") == self);
        CHECK(task_of(found, "after") == 0);
    }

    TEST_CASE("the launches of a task that switches collection on belong to it afterwards") {
        std::uint64_t self = 0;
        const recorded_devices found = [&self] {
            profile session({.use_device = "cuda"});
            sync_wait([](profile& own, std::uint64_t& task) -> coroscope::task<> {
                task = current_context().task;
                own.toggle_collection(false);
                own.toggle_collection(true);
                fake::call_launch({.kernel = "after"});
                co_return;
            }(session, self));
            return decode(session.stop());
        }();
        CHECK(task_of(found, "after") == self);
    }
}
