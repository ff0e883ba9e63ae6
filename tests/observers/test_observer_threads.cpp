// SPDX-License-Identifier: Apache-2.0

// Observers are added and removed while threads run scopes.

#include <coroscope/observer.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>

#include "observing.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr int thread_count = 8;

struct balance {
    std::atomic<int> starts{0};
    std::atomic<int> ends{0};
    std::atomic<int> lost_contexts{0};
};

struct owner final : observer_context {
    explicit owner(std::shared_ptr<balance> of) : count(std::move(of)) {}
    std::shared_ptr<balance> count;
};

/// The callables own their data, so that the observer may be removed at any time.
observer counting(const std::shared_ptr<balance>& count) {
    return {[count](const scope_info&) {
                ++count->starts;
                return std::make_unique<owner>(count);
            },
            [count](const scope_info&, observer_context* from_start) {
                ++count->ends;
                if (static_cast<owner*>(from_start)->count != count) ++count->lost_contexts;
            }};
}

void run_scopes(const std::atomic<bool>& stop, journal& errors) {
    while (!stop.load(std::memory_order_relaxed)) {
        COROSCOPE("outer");
        {
            COROSCOPE_ARGS("arguments", 1);
        }
        const record_function user("user");
        range shared("shared");
        shared.end();
    }
    if (!observers_enabled()) errors.note("disabled");
}

template <class Change>
void while_threads_run(const Change& change) {
    std::atomic<bool> stop{false};
    journal errors;
    std::vector<std::thread> threads;
    for (int each = 0; each < thread_count; ++each)
        threads.emplace_back([&] { run_scopes(stop, errors); });
    change();
    stop = true;
    for (std::thread& each : threads) each.join();
    CHECK(errors.take().empty());
}

void check(const balance& count) {
    CHECK(count.starts == count.ends);
    CHECK(count.lost_contexts == 0);
}

}  // namespace

TEST_SUITE("observers and threads") {
    TEST_CASE("observers are added and removed while eight threads run scopes, and each start has "
              "its end") {
        const auto count = std::make_shared<balance>();
        while_threads_run([&] {
            for (int each = 0; each < 300; ++each) {
                const observer_handle first = add_global_observer(counting(count).needs_inputs());
                const observer_handle second =
                    add_global_observer(counting(count).needs_ids().sampling_probability(0.5));
                {
                    COROSCOPE("here, too");
                }
                CHECK(remove_observer(first));
                CHECK(remove_observer(second));
            }
        });
        CHECK(count->starts > 0);
        check(*count);
    }

    TEST_CASE("a scope that is open on another thread has its end after the removal") {
        const auto count = std::make_shared<balance>();
        std::atomic<int> step{0};
        const observer_handle handle = add_global_observer(counting(count));
        std::thread other([&] {
            COROSCOPE("open");
            step = 1;
            while (step != 2) std::this_thread::yield();
        });
        while (step != 1) std::this_thread::yield();
        CHECK(remove_observer(handle));
        step = 2;
        other.join();
        CHECK(count->starts == 1);
        check(*count);
    }

    TEST_CASE("if two threads remove the same observer, one of them succeeds") {
        for (int each = 0; each < 100; ++each) {
            const observer_handle handle = add_global_observer(observer([](const scope_info&) {}));
            std::atomic<int> removed{0};
            std::thread other([&] { removed += remove_observer(handle) ? 1 : 0; });
            removed += remove_observer(handle) ? 1 : 0;
            other.join();
            CHECK(removed == 1);
        }
    }

    TEST_CASE("threads add and remove observers of their own beside global ones") {
        const auto count = std::make_shared<balance>();
        while_threads_run([&] {
            std::vector<std::thread> threads;
            for (int each = 0; each < 4; ++each)
                threads.emplace_back([&] {
                    for (int round = 0; round < 100; ++round) {
                        const registered here(add_thread_local_observer(counting(count)));
                        COROSCOPE("mine");
                        const disable_observers_guard off;
                        COROSCOPE("unseen");
                    }
                });
            for (std::thread& each : threads) each.join();
        });
        CHECK(count->starts == 400);
        check(*count);
    }

    TEST_CASE("a scope that begins on one thread and ends on another belongs to both in turn") {
        const auto count = std::make_shared<balance>();
        const observer_handle handle = add_global_observer(counting(count));
        for (int each = 0; each < 200; ++each) {
            range shared("shared");
            std::thread([shared = std::move(shared)] { shared.end(); }).join();
        }
        CHECK(remove_observer(handle));
        CHECK(count->starts == 200);
        check(*count);
    }

    TEST_CASE("a session starts and stops while observers are added and removed") {
        const auto count = std::make_shared<balance>();
        while_threads_run([&] {
            for (int each = 0; each < 20; ++each) {
                const observer_handle handle = add_global_observer(counting(count));
                profile session{{.all_threads = true, .record_arguments = true}};
                CHECK(session.status().state == session_state::recording);
                {
                    COROSCOPE("recorded");
                }
                CHECK(remove_observer(handle));
                CHECK_FALSE(session.stop().empty());
            }
        });
        check(*count);
    }

    TEST_CASE("a child process keeps the observers of the thread that forked it") {
        int seen = 0;
        const auto count = [&seen](const scope_info&) { ++seen; };
        const registered everywhere(add_global_observer(observer(count)));
        const registered here(add_thread_local_observer(observer(count)));
        const pid_t child = ::fork();
        if (child == 0) {
            {
                COROSCOPE("in child");
            }
            ::_exit(seen);
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        REQUIRE(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 2);
        CHECK(seen == 0);
    }
}
