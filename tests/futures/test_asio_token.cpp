// SPDX-License-Identifier: Apache-2.0

// Completion tokens of Boost.Asio, or of standalone Asio.

#include <coroscope/integration/asio_token.hpp>

#if defined(COROSCOPE_STANDALONE_ASIO)
#include <asio.hpp>
#else
#include <boost/asio.hpp>
#include <boost/asio/deferred.hpp>
#endif

#include <functional>
#include <memory>

#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

#if !defined(COROSCOPE_STANDALONE_ASIO)
namespace asio = boost::asio;
using error_code = boost::system::error_code;
#else
using error_code = asio::error_code;
#endif

/// An operation whose result can only be moved.
template <class Token>
auto async_make(asio::io_context& loop, Token&& token) {
    return asio::async_initiate<Token, void(error_code, only_moves)>(
        [&loop](auto handler) {
            asio::post(loop, [handler = std::move(handler)]() mutable {
                std::move(handler)(error_code(), only_moves(6));
            });
        },
        token);
}

/// An operation that completes while it is initiated, with a reference.
template <class Token>
auto async_refer(int& target, Token&& token) {
    return asio::async_initiate<Token, void(error_code, int&)>(
        [&target](auto handler) { std::move(handler)(error_code(), target); }, token);
}

/// An operation that fails with an exception.
template <class Token>
auto async_fail(asio::io_context& loop, Token&& token) {
    return asio::async_initiate<Token, void(std::exception_ptr)>(
        [&loop](auto handler) {
            asio::post(loop, [handler = std::move(handler)]() mutable {
                std::move(handler)(an_error("no room"));
            });
        },
        token);
}

asio::awaitable<void> await_failure(asio::io_context& loop, std::string& message) {
    try {
        co_await async_fail(loop, traced(asio::use_awaitable, "fails"));
    } catch (const std::exception& thrown) {
        message = thrown.what();
    }
}

asio::awaitable<void> wait_twice(asio::steady_timer& timer) {
    co_await timer.async_wait(traced(asio::use_awaitable, "awaited wait"));
    co_await asio::post(timer.get_executor(), traced(asio::use_awaitable, "awaited post"));
}

asio::awaitable<void> wait_by_constant(asio::steady_timer& timer) {
    const auto token = traced(asio::use_awaitable, "by a constant");
    co_await timer.async_wait(token);
}

asio::awaitable<void> wait_redirected(asio::steady_timer& timer, error_code& seen) {
    const auto token = traced(asio::use_awaitable, "redirected");
    co_await timer.async_wait(asio::redirect_error(token, seen));
}

asio::awaitable<void> wait_by_slot(asio::steady_timer& timer, asio::cancellation_slot slot,
                                   error_code& seen) {
    const auto token = asio::bind_cancellation_slot(slot, traced(asio::use_awaitable, "awaited"));
    co_await timer.async_wait(asio::redirect_error(token, seen));
}

}  // namespace

TEST_SUITE("asio tokens") {
    TEST_CASE("a callback's range begins at the initiation and ends before the handler runs") {
        recording session;
        asio::io_context loop;
        asio::steady_timer timer(loop, 20ms);
        {
            const record_function initiating("initiating");
            timer.async_wait(
                traced([](error_code) { const record_function handling("handler"); }, "wait"));
        }
        const std::chrono::nanoseconds left =
            timer.expiry() - asio::steady_timer::clock_type::now();
        std::thread([&loop] { loop.run(); }).join();
        const recorded found = session.stop();
        const auto& wait = found.event("wait");
        CHECK(wait.start_ns >= found.event("initiating").start_ns);
        CHECK(wait.start_ns <= found.event("initiating").end_ns);
        CHECK(wait.end_ns <= found.event("handler").start_ns);
        CHECK(wait.end_ns - wait.start_ns >= nearly(left.count()));
    }

    TEST_CASE("cancelled operations complete with their error and end the range") {
        recording session;
        asio::io_context loop;
        asio::steady_timer timer(loop, 1h);
        error_code seen;
        timer.async_wait(traced([&seen](error_code error) { seen = error; }, "cancelled"));
        timer.cancel();
        loop.run();
        CHECK(seen == asio::error::operation_aborted);
        CHECK((session.stop().event("cancelled").flags & analysis::event_open) == 0);
    }

    TEST_CASE("operations destroyed without running end their ranges") {
        recording session;
        {
            asio::io_context loop;
            asio::steady_timer timer(loop, 1h);
            timer.async_wait(traced([](error_code) {}, "destroyed"));
        }
        CHECK((session.stop().event("destroyed").flags & analysis::event_open) == 0);
    }

    TEST_CASE("use_future returns a future of the result, which may be move-only") {
        recording session;
        asio::io_context loop;
        std::future<only_moves> made = async_make(loop, traced(asio::use_future, "made"));
        std::thread([&loop] { loop.run(); }).join();
        CHECK(*made.get().value == 6);
        asio::io_context other;
        asio::steady_timer timer(other, 1h);
        std::future<void> failed = timer.async_wait(traced(asio::use_future, "failed"));
        timer.cancel();
        other.run();
        CHECK_THROWS(failed.get());
        const recorded found = session.stop();
        CHECK(found.count("made") == 1);
        CHECK(found.count("failed") == 1);
    }

    TEST_CASE(
        "an operation that completes at once delivers its reference after the end of the range") {
        recording session;
        int target = 0;
        const int* seen = nullptr;
        async_refer(target, traced(
                                [&seen](error_code, int& given) {
                                    const record_function handling("handler");
                                    seen = &given;
                                },
                                "refers"));
        CHECK(seen == &target);
        const recorded found = session.stop();
        CHECK(found.event("refers").end_ns <= found.event("handler").start_ns);
    }

    TEST_CASE("an exception reaches the awaiter or the holder of the future, after the end of the "
              "range") {
        recording session;
        asio::io_context loop;
        std::string message;
        asio::co_spawn(loop, await_failure(loop, message), asio::detached);
        std::future<void> failed = async_fail(loop, traced(asio::use_future, "fails"));
        loop.run();
        CHECK(message == "no room");
        CHECK(message_of([&] { failed.get(); }) == "no room");
        CHECK(session.stop().count("fails") == 2);
    }

    TEST_CASE("an operation with use_awaitable is awaited under its range") {
        recording session;
        asio::io_context loop;
        asio::steady_timer timer(loop, 5ms);
        bool done = false;
        asio::co_spawn(loop, wait_twice(timer),
                       [&done](std::exception_ptr error) { done = !error; });
        loop.run();
        CHECK(done);
        const recorded found = session.stop();
        CHECK(found.event("awaited wait").end_ns <= found.event("awaited post").start_ns);
    }

#if !defined(COROSCOPE_STANDALONE_ASIO) || ASIO_VERSION >= 102400
    TEST_CASE("a deferred operation begins its range when it is launched") {
        recording session;
        asio::io_context loop;
        asio::steady_timer timer(loop, 1ms);
        auto lazy = timer.async_wait(traced(asio::deferred, "deferred"));
        {
            const record_function before("before the launch");
        }
        bool done = false;
        std::move(lazy)([&done](error_code) { done = true; });
        loop.run();
        CHECK(done);
        const recorded found = session.stop();
        CHECK(found.event("before the launch").end_ns <= found.event("deferred").start_ns);
    }

#endif

    TEST_CASE("a named token may be used again, and may be constant") {
        recording session;
        asio::io_context loop;
        int calls = 0;
        const std::function<void(error_code)> handler = [&calls](error_code) { ++calls; };
        auto token = traced(handler, "named");
        const auto constant = traced(handler, "constant");
        for (int each = 0; each < 2; ++each) {
            auto timer = std::make_shared<asio::steady_timer>(loop, 1ms);
            timer->async_wait(token);
            timer->async_wait(constant);
            loop.run();
            loop.restart();
        }
        CHECK(calls == 4);
        const recorded found = session.stop();
        CHECK(found.count("named") == 2);
        CHECK(found.count("constant") == 2);
    }

    TEST_CASE("a constant token of use_awaitable works like any other") {
        recording session;
        asio::io_context loop;
        asio::steady_timer timer(loop, 1ms);
        bool done = false;
        asio::co_spawn(loop, wait_by_constant(timer),
                       [&done](std::exception_ptr error) { done = !error; });
        loop.run();
        CHECK(done);
        CHECK(session.stop().count("by a constant") == 1);
    }

    TEST_CASE("a traced token inside redirect_error leaves the error to redirect_error") {
        recording session;
        asio::io_context loop;
        asio::steady_timer timer(loop, 1h);
        error_code seen;
        asio::co_spawn(loop, wait_redirected(timer, seen), asio::detached);
        loop.poll();
        timer.cancel();
        loop.run();
        CHECK(seen == asio::error::operation_aborted);
        CHECK(session.stop().count("redirected") == 1);
    }

    TEST_CASE("a traced token is cancelled by the slot that is bound around it") {
        recording session;
        asio::io_context loop;
        asio::steady_timer timer(loop, 1h);
        asio::cancellation_signal signal;
        asio::cancellation_signal awaited_signal;
        error_code seen;
        error_code awaited;
        timer.async_wait(asio::bind_cancellation_slot(
            signal.slot(), traced([&seen](error_code error) { seen = error; }, "called back")));
        asio::co_spawn(loop, wait_by_slot(timer, awaited_signal.slot(), awaited), asio::detached);
        loop.poll();
        signal.emit(asio::cancellation_type::all);
        awaited_signal.emit(asio::cancellation_type::all);
        loop.run();
        CHECK(seen == asio::error::operation_aborted);
        CHECK(awaited == asio::error::operation_aborted);
        const recorded found = session.stop();
        CHECK(found.count("called back") == 1);
        CHECK(found.count("awaited") == 1);
    }

    TEST_CASE("the handler runs on its own executor and under the context of the initiation") {
        asio::io_context loop;
        asio::io_context other;
        context mine;
        mine.task = 4711;
        std::uint64_t seen = 0;
        bool on_other = false;
        {
            const context_guard guard(mine);
            asio::post(loop, traced(asio::bind_executor(other, [&] {
                           seen = current_context().task;
                           on_other = other.get_executor().running_in_this_thread();
                       })));
        }
        loop.run();
        CHECK(seen == 0);
        other.run();
        CHECK(seen == 4711);
        CHECK(on_other);
        CHECK(current_context().task == 0);
    }
}
