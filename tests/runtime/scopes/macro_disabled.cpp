// SPDX-License-Identifier: Apache-2.0

// A file of the program that is built without the profiler: the same types and macros, and no
// records.
#define COROSCOPE_ENABLED 0

#include <coroscope/coroscope.hpp>

#include <memory>
#include <string>
#include <utility>

#include "../support/foreign.hpp"
#include "../support/sized_coroutine.hpp"
#include "macro_parts.hpp"

namespace coroscope::test {
namespace {

int evaluated = 0;
[[maybe_unused]] int count_evaluation() { return ++evaluated; }

std::suspend_always pause() { return {}; }

sized_coroutine without_macros() { co_await pause(); }

sized_coroutine with_macros() {
    COROSCOPE_FUNCTION();
    COROSCOPE("whole");
    COROSCOPE_CAT("db", 1, "db");
    COROSCOPE_ARGS("arguments", count_evaluation());
    co_await COROSCOPE_AWAIT("pause", pause());
    COROSCOPE("after");
}

task<int> disabled_child(int value) {
    COROSCOPE_FUNCTION();
    co_return value + 1;
}
task<std::pair<int, int>> disabled_pair() { co_return {1, 2}; }
task<> disabled_nothing() { co_return; }
task<std::unique_ptr<int>> disabled_owner() { co_return std::make_unique<int>(5); }
task<int> disabled_failure() {
    throw std::runtime_error("disabled");
    co_return 0;
}
task<int> disabled_parent() {
    COROSCOPE("disabled parent");
    int sum = co_await COROSCOPE_AWAIT("disabled await", disabled_child(1));
    co_await disabled_nothing();
    sum += (co_await disabled_pair()).second;
    sum += *co_await disabled_owner();
    try {
        sum += co_await disabled_failure();
    } catch (const std::runtime_error&) {
        sum += 100;
    }
    co_return sum;
}

struct throws_at_its_end {
    ~throws_at_its_end() noexcept(false) { throw std::runtime_error("from a destructor"); }
};
task<std::shared_ptr<int>> disabled_late_failure(std::shared_ptr<int> given) {
    const throws_at_its_end local;
    co_return given;
}

struct inline_executor {
    template <class Job>
    void execute(Job&& job) {
        job();
    }
};
task<int> disabled_hop(executor_adaptor<inline_executor>& executor) {
    co_await executor.schedule();
    co_return 3;
}

foreign::lazy<int, foreign::outside> disabled_lazy() {
    COROSCOPE("disabled lazy");
    co_return 4;
}
foreign::eager<int, foreign::declared> disabled_eager() {
    co_return co_await COROSCOPE_AWAIT("disabled await", disabled_lazy());
}
foreign::fire_and_forget disabled_detached(int& sum) { sum += co_await disabled_eager(); }

}  // namespace

int disabled_arguments_evaluated() {
    evaluated = 0;
    COROSCOPE_ARGS("evaluates", count_evaluation());
    return evaluated;
}

int disabled_coroutines() {
    COROSCOPE_FUNCTION();
    return sync_wait(disabled_parent());
}

int disabled_ranges() {
    const record_function range("disabled range");
    return record_function::of("disabled decorator", [](int value) { return value; })(8);
}

int disabled_executor() {
    executor_adaptor<inline_executor> executor{inline_executor{}};
    int ran = 0;
    executor.execute([&ran] { ++ran; });
    return ran + sync_wait(disabled_hop(executor));
}

int disabled_foreign() {
    int sum = 0;
    disabled_detached(sum);
    return sum;
}

int disabled_results_left() {
    const auto kept = std::make_shared<int>(1);
    try {
        sync_wait(disabled_late_failure(kept));
    } catch (const std::runtime_error&) {
        return static_cast<int>(kept.use_count()) - 1;
    }
    return -1;
}

frame_sizes disabled_frames() {
    return {frame_bytes_of([] { return with_macros(); }),
            frame_bytes_of([] { return without_macros(); })};
}

}  // namespace coroscope::test
