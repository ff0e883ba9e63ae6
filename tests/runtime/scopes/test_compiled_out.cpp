// SPDX-License-Identifier: Apache-2.0

// A build without the profiler records nothing and adds no byte to a frame. A program may link
// files of both kinds.

#include <string>
#include <utility>

#include "../support/recording.hpp"
#include "macro_parts.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

task<int> enabled_child() { co_return 1; }
task<int> enabled_parent() {
    COROSCOPE("enabled parent");
    co_return co_await enabled_child() + disabled_coroutines();
}

}  // namespace

TEST_SUITE("compiled out") {
    TEST_CASE("task, instrumented and macros work without the profiler and record nothing") {
        recording session;
        CHECK(disabled_coroutines() == 109);
        CHECK(disabled_ranges() == 8);
        CHECK(disabled_executor() == 4);
        CHECK(disabled_foreign() == 4);
        CHECK(disabled_results_left() == 0);
        const recorded found = session.stop();
        CHECK(found.trace.events.empty());
        CHECK(found.trace.tasks.empty());
    }

    TEST_CASE("files with and without the profiler work together in one program") {
        recording session;
        CHECK(sync_wait(enabled_parent()) == 110);
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == 2);
        CHECK(found.trace.events.size() == 1);
        CHECK(found.event("enabled parent").task == found.task_index("enabled_parent"));
    }

    TEST_CASE("macros that are compiled out leave a frame's size as it is") {
        const frame_sizes disabled = disabled_frames();
        CHECK(disabled.with == disabled.without);
        const frame_sizes category = category_frames();
        CHECK(category.with == category.without);
    }
}
