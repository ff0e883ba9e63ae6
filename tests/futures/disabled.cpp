// SPDX-License-Identifier: Apache-2.0

// A file of the program that is built without the profiler: ranges and futures work, and nothing is
// recorded.
#define COROSCOPE_ENABLED 0

#include <coroscope/async.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/packaged_task.hpp>

#include "disabled.hpp"

namespace coroscope::test {
namespace {

task<int> await_on(future<int> pending) { co_return co_await std::move(pending); }

}  // namespace

int disabled_futures() {
    int ends = 0;
    const auto count = [&ends] { ++ends; };
    const stream_range shared("disabled range");
    shared.on_end(count);
    shared.item();
    record_function borrowed("disabled borrowed range");
    borrowed.on_end(count);
    promise<int> first;
    packaged_task<int()> second([] { return 1; });
    auto one = call_end_callbacks_on_future(shared, first.get_future());
    auto other = call_end_callbacks_on_future(borrowed, second.get_future());
    first.set_value(1);
    second();
    return ends + sync_wait(await_on(std::move(one))) + sync_wait(await_on(std::move(other))) +
           coroscope::async([] { return 1; }).get();
}

}  // namespace coroscope::test
