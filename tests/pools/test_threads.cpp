// SPDX-License-Identifier: Apache-2.0

// Threads that are started inside a task or a session: jthread, profile_child_thread.

#include <coroscope/integration/jthread.hpp>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>

#include "../runtime/support/awaitables.hpp"
#include "../runtime/support/executors.hpp"
#include "../runtime/support/foreign.hpp"
#include "../runtime/support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> starts_threads(int& sum) {
    coroscope::jthread([&sum] {
        COROSCOPE("without arguments");
        sum += 1;
    }).join();
    coroscope::jthread(
        [&sum](std::unique_ptr<int> moved, const int& added) {
            COROSCOPE("with arguments");
            sum += *moved + added;
        },
        std::make_unique<int>(10), 100)
        .join();
    co_return;
}

foreign::manual<foreign::declared> is_resumed(slot& into) { co_await suspend_into(into); }

std::string refusal(const profile_child_thread& child) {
    CHECK(child.status().state == session_state::refused);
    return child.status().message;
}

}  // namespace

TEST_SUITE("jthread") {
    TEST_CASE("a thread is a task, a child of the task that started it, and queued until it runs") {
        recording session;
        int sum = 0;
        starts_threads(sum).resume();
        CHECK(sum == 111);
        const recorded found = session.stop();
        for (const char* name : {"without arguments", "with arguments"}) {
            const auto& event = found.event(name);
            REQUIRE(event.task != analysis::none);
            const auto& task = found.trace.tasks[event.task];
            CHECK(task.parent == found.tasks("starts_threads").front());
            CHECK(task.state == analysis::task_state::finished);
            CHECK(task.time.queued_ns > 0);
            CHECK(task.time.running_ns >= event.end_ns - event.start_ns);
            CHECK_FALSE(task.losses);
        }
        const auto& first = found.trace.tasks[found.event("without arguments").task];
        CHECK(found.trace.sites[first.spawn_site].file.ends_with("test_threads.cpp"));
    }

    TEST_CASE("a stop token reaches the function, and an ending thread is asked to stop") {
        std::atomic<bool> stopped{false};
        {
            const coroscope::jthread worker([&stopped](const std::stop_token& stop) {
                while (!stop.stop_requested()) std::this_thread::yield();
                stopped = true;
            });
        }
        CHECK(stopped);
    }

    TEST_CASE("a thread may run a member function, like the standard library's") {
        struct server {
            std::atomic<int> served{0};
            void serve(int requests) { served += requests; }
        };
        server mine;
        coroscope::jthread(&server::serve, &mine, 2).join();
        coroscope::jthread(&server::serve, std::ref(mine), 3).join();
        CHECK(mine.served == 5);
    }

    TEST_CASE("a thread can be moved, and may be empty") {
        coroscope::jthread empty;
        CHECK_FALSE(empty.joinable());
        std::atomic<int> ran{0};
        empty = coroscope::jthread([&ran] { ++ran; });
        coroscope::jthread other = std::move(empty);
        other.join();
        CHECK(ran == 1);
    }

    TEST_CASE("a thread that resumes tasks stays a task of its own") {
        recording session;
        slot into;
        auto coroutine = is_resumed(into);
        coroutine.resume();
        coroscope::jthread([&into] {
            COROSCOPE("resumer");
            into.resume();
        }).join();
        const recorded found = session.stop();
        const std::uint32_t thread = found.event("resumer").task;
        REQUIRE(thread != analysis::none);
        CHECK(found.trace.tasks.size() == 2);
        const analysis::await_info resumed = found.awaits(found.task("is_resumed")).front();
        CHECK(resumed.waker == thread);
        CHECK_FALSE(resumed.wake_ns.has_value());
        CHECK_FALSE(found.trace.tasks[thread].losses);
    }

    TEST_CASE("a session of one thread follows to the threads that its thread starts") {
        recording session({.all_threads = false});
        coroscope::jthread([] { COROSCOPE("followed"); }).join();
        std::thread([] { COROSCOPE("not followed"); }).join();
        const recorded found = session.stop();
        CHECK(found.count("followed") == 1);
        CHECK(found.count("not followed") == 0);
    }

    TEST_CASE("a thread that was started before a session of one thread is not recorded") {
        std::promise<void> go;
        coroscope::jthread worker([ready = go.get_future()]() mutable {
            ready.wait();
            COROSCOPE("late");
        });
        recording session({.all_threads = false});
        go.set_value();
        worker.join();
        CHECK(session.stop().count("late") == 0);
    }
}

TEST_SUITE("profile_child_thread") {
    TEST_CASE(
        "a raw thread and a std::async job join the session of the main thread, until they end") {
        profile session;
        std::thread([] {
            {
                const profile_child_thread joined;
                CHECK(joined.status().state == session_state::recording);
                COROSCOPE("joined");
            }
            COROSCOPE("no more");
        }).join();
        auto result = std::async(std::launch::async, [&session] {
            const profile_child_thread joined(session);
            COROSCOPE("in async");
            return 5;
        });
        CHECK(result.get() == 5);
        const recorded found = load(session.stop());
        CHECK(found.count("joined") == 1);
        CHECK(found.count("no more") == 0);
        CHECK(found.count("in async") == 1);
    }

    TEST_CASE("work that a joined thread starts is recorded, too") {
        recording session({.all_threads = false});
        std::thread([] {
            const profile_child_thread joined;
            std::thread(propagate([] { COROSCOPE("grandchild"); })).join();
        }).join();
        CHECK(session.stop().count("grandchild") == 1);
    }

    TEST_CASE("without a session in the main thread a child thread is refused, and does no harm") {
        std::thread([] {
            const profile_child_thread refused;
            CHECK(refusal(refused) == "Profiler is not enabled in main thread.");
            COROSCOPE("nowhere");
        }).join();
        profile over;
        static_cast<void>(over.stop());
        std::thread([&over] {
            const profile_child_thread refused(over);
            CHECK(refusal(refused) == "Profiler is not enabled in main thread.");
        }).join();
    }

    TEST_CASE("a child thread does not join the session of a thread that it does not name") {
        std::thread([] {
            recording session({.all_threads = false});
            std::thread([] {
                CHECK(refusal(profile_child_thread()) == "Profiler is not enabled in main thread.");
            }).join();
        }).join();
    }

    TEST_CASE("a thread that is recorded already is refused") {
        {
            const recording all;
            std::thread([] {
                CHECK(refusal(profile_child_thread()) ==
                      "Profiler is already enabled on this thread.");
            }).join();
        }
        const recording session({.all_threads = false});
        CHECK(refusal(profile_child_thread()) == "Profiler is already enabled on this thread.");
        std::thread([] {
            const profile_child_thread joined;
            CHECK(refusal(profile_child_thread()) == "Profiler is already enabled on this thread.");
            CHECK(joined.status().state == session_state::recording);
        }).join();
    }

    TEST_CASE("a thread that outlives the session is recorded nowhere") {
        profile session;
        std::promise<void> joined, over;
        std::thread worker([&] {
            const profile_child_thread child;
            {
                COROSCOPE("in time");
            }
            joined.set_value();
            over.get_future().wait();
            COROSCOPE("too late");
        });
        joined.get_future().wait();
        const recorded found = load(session.stop());
        over.set_value();
        worker.join();
        CHECK(found.count("in time") == 1);
        recording next({.all_threads = false});
        CHECK(next.stop().count("too late") == 0);
    }
}
