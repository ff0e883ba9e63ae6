// SPDX-License-Identifier: Apache-2.0

// From the program to the analysis: the scope and the task of a kernel.

#include <map>
#include <string>

#include <coroscope/integration/cuda.hpp>

#include "../runtime/support/executors.hpp"
#include "../runtime/support/recording.hpp"
#include "fake_cupti.hpp"

using namespace coroscope;
using namespace coroscope::test;
namespace fake = coroscope::test::fake_cupti;

namespace {

void launch(const char* kernel) { fake::call_launch({.kernel = kernel}); }

task<> launching_request(thread_executor& pool) {
    COROSCOPE("request");
    launch("before the hop");
    co_await pool.hop();
    launch("after the hop");
    {
        COROSCOPE("inner");
        launch("inner, before the hop");
        co_await pool.hop();
        launch("inner, after the hop");
    }
    launch("last");
}

using names = std::map<std::string, std::string>;

/// The scope of each kernel, by the kernel's name.
names scopes_of(const analysis::trace& loaded) {
    names found;
    for (const analysis::device_activity& each : loaded.device_activities) {
        if (each.what != trace::device_activity::kernel) continue;
        found[loaded.strings[each.name]] =
            each.event == analysis::none ? "none" : loaded.strings[loaded.events[each.event].name];
    }
    return found;
}

}  // namespace

TEST_SUITE("scopes of launches") {
    TEST_CASE(
        "a kernel belongs to the innermost scope and the task that launched it, also after hops") {
        recording session({.all_threads = true, .use_device = "cuda"});
        thread_executor pool(2);
        sync_wait(launching_request(pool));
        pool.join();
        {
            COROSCOPE("outside of tasks");
            launch("outside");
        }
        launch("no scope");
        const recorded found = session.stop();
        CHECK(scopes_of(found.trace) == names{{"before the hop", "request"},
                                              {"after the hop", "request"},
                                              {"inner, before the hop", "inner"},
                                              {"inner, after the hop", "inner"},
                                              {"last", "request"},
                                              {"outside", "outside of tasks"},
                                              {"no scope", "none"}});
        for (const analysis::device_activity& each : found.trace.device_activities) {
            if (each.what != trace::device_activity::kernel) continue;
            const std::string& name = found.trace.strings[each.name];
            const bool outside = name == "outside" || name == "no scope";
            CHECK_MESSAGE(each.task ==
                              (outside ? analysis::none : found.task_index("launching_request")),
                          name);
        }
    }
}
