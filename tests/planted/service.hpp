// SPDX-License-Identifier: Apache-2.0
#pragma once

// The skeleton of the services with a planted fault: requests that arrive one after another, and
// the three ways to spend time.

#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio.hpp>
#include <coroscope/coroscope.hpp>

namespace planted {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

inline constexpr int requests = 40;

/// Returns whether this request has the fault, or comes at the time of the fault: 4 of 40.
constexpr bool is_chosen(int number) { return number % 10 == 7; }

/// Occupies the thread, but no processor, as a blocking call does.
inline void block_for(milliseconds time) { std::this_thread::sleep_for(time); }

/// Occupies the thread and a processor.
inline void compute_for(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

/// Occupies no thread.
inline awaitable<void> pause_for(milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(use_awaitable);
}

/// Starts answer(0), answer(1), … with a gap between them.
template <class Answer>
awaitable<void> send_requests(Answer answer, milliseconds gap) {
    const auto executor = co_await asio::this_coro::executor;
    for (int number = 0; number < requests; ++number) {
        asio::co_spawn(executor, answer(number), asio::detached);
        co_await pause_for(gap);
    }
}

/// Runs the context on this thread and on `others` further ones until its work is done.
inline void run_on_threads(asio::io_context& io, std::size_t others) {
    std::vector<std::jthread> threads;
    while (threads.size() < others) threads.emplace_back([&io] { io.run(); });
    io.run();
}

/// Answers all requests on a context with 1 + `others` threads.
template <class Answer>
void serve(asio::io_context& io, Answer answer, milliseconds gap = 4ms, std::size_t others = 0) {
    asio::co_spawn(io, send_requests(std::move(answer), gap), asio::detached);
    run_on_threads(io, others);
}

}  // namespace planted
