// SPDX-License-Identifier: Apache-2.0

// An Asio whose entry point of a co_spawn behaves in an unknown way: it ends without awaiting the
// function.

#include <coroutine>
#include <string>

#include <doctest/doctest.h>

#include <coroscope/analysis/analysis.hpp>
#include <coroscope/analysis/views.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/integration/asio_entry.hpp>

namespace analysis = coroscope::analysis;

namespace {

struct unknown_frame;

struct unknown_thread {
    unknown_frame* entry;
    unknown_frame* entry_point() const noexcept { return entry; }
};

struct entry_point {
    using promise_type = coroscope::asio::entry_promise<unknown_frame>;
};

struct unknown_frame {
    unknown_thread thread{this};
    // NOLINTNEXTLINE(readability-identifier-naming): the name of Asio
    unknown_thread* attached_thread_ = &thread;

    static entry_point get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() noexcept {}
    template <class Operand>
    static Operand await_transform(Operand operand) noexcept {
        return operand;
    }
};

struct turn : std::suspend_never {};

entry_point ends() { co_await turn{}; }
entry_point throws() {
    co_await turn{};
    throw 1;
}

template <class Program>
analysis::trace record_states(const Program& program, std::string& message) {
    coroscope::profile session({.all_threads = true});
    program();
    message = session.status().message;
    auto loaded = analysis::load(session.stop());
    REQUIRE(loaded);
    return std::move(*loaded);
}

}  // namespace

TEST_CASE(
    "a co_spawn that ends in an unknown way is finished, and status, trace and views report it") {
    std::string message;
    const analysis::trace loaded = record_states(ends, message);
    REQUIRE(loaded.tasks.size() == 1);
    CHECK(loaded.tasks.front().state == analysis::task_state::finished);
    CHECK(loaded.health.asio == coroscope::trace::asio_tracking::unrecognised);
    CHECK(message.find("does not know") != std::string::npos);
    CHECK(analysis::loss_notes(loaded).find("does not know") != std::string::npos);
    CHECK(analysis::info_text(loaded).find("does not know") != std::string::npos);
}

TEST_CASE("a co_spawn that fails in an unknown way has failed, and the trace reports it") {
    std::string message;
    const analysis::trace loaded = record_states(throws, message);
    REQUIRE(loaded.tasks.size() == 1);
    CHECK(loaded.tasks.front().state == analysis::task_state::failed);
    CHECK(loaded.health.asio == coroscope::trace::asio_tracking::unrecognised);
}
