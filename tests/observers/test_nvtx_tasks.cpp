// SPDX-License-Identifier: Apache-2.0

// emit_nvtx: tasks, categories, colours and payloads, by the calls that a tool sees.

#include <coroscope/integration/nvtx.hpp>

#include <algorithm>
#include <thread>

#include <coroscope/fiber.hpp>

#include "nvtx_calls.hpp"
#include "support/awaitables.hpp"
#include "support/executors.hpp"
#include "support/foreign.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

foreign::manual<foreign::declared> waits(slot& at) {
    COROSCOPE_FUNCTION();
    co_await suspend_into(at);
}

foreign::manual<foreign::declared> only_waits(slot& at) { co_await suspend_into(at); }

task<int> inner() { co_return 1; }
task<int> outer() { co_return co_await inner(); }

/// The text after the name of a call.
std::string attributes_of(const std::string& call) {
    const std::size_t at = call.find(" (");
    return at == std::string::npos ? "" : call.substr(at);
}

bool ends_with_name(const std::string& call, const char* verb, const char* function) {
    return call.starts_with(verb) && call.ends_with(function);
}

}  // namespace

TEST_SUITE("nvtx tasks") {
    TEST_CASE("a task is a range from its spawn to its end, and a pushed range while it runs") {
        make_nvtx_domain();
        const emit_nvtx emit{{.tasks = true}};
        slot at;
        {
            auto work = only_waits(at);
            work.resume();
            std::thread([&at] { at.resume(); }).join();
        }
        const lines found = nvtx_calls();
        REQUIRE(found.size() == 6);
        CHECK(ends_with_name(found[0], "start 1 coroscope: ", "only_waits"));
        CHECK(ends_with_name(found[1], "push coroscope: ", "only_waits"));
        CHECK(found[2] == "pop");
        CHECK(ends_with_name(found[3], "push coroscope: ", "only_waits"));
        CHECK(found[4] == "pop");
        CHECK(found[5] == "end 1");
    }

    TEST_CASE(
        "the awaiter is popped before the awaited task is pushed, and pushed again afterwards") {
        make_nvtx_domain();
        const emit_nvtx emit{{.tasks = true}};
        CHECK(sync_wait(outer()) == 1);
        const lines found = nvtx_calls();
        lines verbs;
        for (const std::string& each : found)
            verbs.push_back(each.substr(0, each.find(' ')) + (each.ends_with("inner")   ? " inner"
                                                              : each.ends_with("outer") ? " outer"
                                                                                        : ""));
        CHECK(verbs == lines{"start outer", "push outer", "start inner", "pop", "push inner", "pop",
                             "end", "push outer", "pop", "end"});
    }

    TEST_CASE("tasks are shown only if they are asked for") {
        make_nvtx_domain();
        const emit_nvtx emit;
        CHECK(sync_wait(outer()) == 1);
        CHECK(nvtx_calls().empty());
    }

    TEST_CASE("a job is a task, and tasks of another thread are shown only if this work started "
              "them or all threads are asked for") {
        make_nvtx_domain();
        manual_executor jobs;
        executor_adaptor executor(jobs);
        {
            const emit_nvtx emit{{.tasks = true}};
            std::thread([] { sync_wait(inner()); }).join();
            CHECK(nvtx_calls().empty());
            executor.execute([] {});
            std::thread([&jobs] { jobs.run(); }).join();
            CHECK(nvtx_calls().size() == 4);
        }
        const emit_nvtx all{{.all_threads = true, .tasks = true}};
        std::thread([] { sync_wait(inner()); }).join();
        CHECK(nvtx_calls().size() == 4);
    }

    TEST_CASE("a fiber is a task, and a pushed range each time it is switched in") {
        make_nvtx_domain();
        const emit_nvtx emit{{.tasks = true}};
        {
            fiber_context fiber;
            fiber.switch_in();
            {
                COROSCOPE("on the fiber");
            }
            fiber.switch_out();
            CHECK(nvtx_calls().size() == 5);
            std::thread([&fiber] {
                fiber.switch_in();
                fiber.finish();
            }).join();
        }
        const lines found = nvtx_calls();
        REQUIRE(found.size() == 3);
        CHECK(found[0].starts_with("push coroscope: "));
        CHECK(found[1] == "pop");
        CHECK(found[2] == "end 1");
    }

    TEST_CASE("a task that runs when the emitter stops ends there, and tasks from before the "
              "emitter are not shown") {
        make_nvtx_domain();
        slot before_at, at;
        auto before = only_waits(before_at);
        emit_nvtx emit{{.tasks = true}};
        before.resume();
        CHECK(nvtx_calls().empty());
        auto work = only_waits(at);
        work.resume();
        CHECK(nvtx_calls().size() == 3);
        emit.stop();
        CHECK(nvtx_calls() == lines{"end 1"});
        at.resume();
        before_at.resume();
        CHECK(nvtx_calls().empty());
    }

    TEST_CASE("while observers are switched off, no task is shown") {
        make_nvtx_domain();
        const emit_nvtx emit{{.tasks = true}};
        const disable_observers_guard off;
        CHECK(sync_wait(outer()) == 1);
        CHECK(nvtx_calls().empty());
    }

    TEST_CASE("scopes and tasks have the task's id as payload, and a task's pushed ranges have its "
              "attributes") {
        make_nvtx_domain();
        const emit_nvtx emit{{.tasks = true}};
        nvtx_calls(true);
        slot at;
        auto work = waits(at);
        work.resume();
        at.resume();
        const lines found = nvtx_calls();
        lines shown;
        std::copy_if(
            found.begin(), found.end(), std::back_inserter(shown),
            [](const std::string& call) { return call.find("waits") != std::string::npos; });
        REQUIRE(shown.size() == 4);  // task, slice, scope, slice
        CHECK(shown[0].find(", payload ") != std::string::npos);
        CHECK(attributes_of(shown[1]) == attributes_of(shown[0]));
        CHECK(attributes_of(shown[3]) == attributes_of(shown[0]));
        CHECK(shown[2].find("(category 0, payload ") != std::string::npos);
    }

    TEST_CASE(
        "a site's category is NVTX's category, named once, and gives its ranges their colour") {
        make_nvtx_domain();
        const emit_nvtx emit;
        nvtx_calls(true);
        {
            COROSCOPE_CAT("nvtx test", 1, "query");
        }
        {
            COROSCOPE_CAT("nvtx test", 1, "commit");
        }
        {
            COROSCOPE("alone");
        }
        const lines found = nvtx_calls();
        REQUIRE(found.size() == 7);
        CHECK(found[0].ends_with(" is nvtx test"));
        CHECK(found[1].starts_with("push coroscope: query (category "));
        CHECK(attributes_of(found[1]) == attributes_of(found[3]));
        CHECK(found[5].starts_with("push coroscope: alone (category 0, colour "));
    }

    TEST_CASE("the tasks of many threads have one end each") {
        make_nvtx_domain();
        {
            const emit_nvtx emit{{.all_threads = true, .tasks = true}};
            std::vector<std::thread> threads;
            for (int each = 0; each < 4; ++each)
                threads.emplace_back([] {
                    for (int round = 0; round < 100; ++round) sync_wait(outer());
                });
            for (std::thread& each : threads) each.join();
        }
        const lines found = nvtx_calls();
        const auto count = [&found](const char* verb) {
            return std::count_if(found.begin(), found.end(), [verb](const std::string& call) {
                return call.starts_with(verb);
            });
        };
        CHECK(count("start") == 800);
        CHECK(count("end") == 800);
        CHECK(count("push") == 1200);
        CHECK(count("pop") == 1200);
    }
}
