// SPDX-License-Identifier: Apache-2.0

// One Asio operation: a post that a coroutine awaits. Built twice: with handler tracking (the
// subject, recording) and without it (the floor, which reads the clock twice per operation).

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>  // for awaitable.hpp of Boost 1.74, too

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <coroscope/coroscope.hpp>

#include "harness.hpp"

namespace bench {
namespace {

namespace asio = boost::asio;

using namespace std::chrono_literals;

constexpr int operations = 10'000;
constexpr int bursts = 31;

asio::awaitable<void> post_often(asio::io_context& context) {
    for (int each = 0; each < operations; ++each) {
#ifndef BOOST_ASIO_CUSTOM_HANDLER_TRACKING
        keep(counter_ticks());
#endif
        co_await asio::post(context, asio::use_awaitable);
#ifndef BOOST_ASIO_CUSTOM_HANDLER_TRACKING
        keep(counter_ticks());
#endif
    }
}

double burst_ns(asio::io_context& context) {
    asio::co_spawn(context, post_often(context), asio::detached);
    const auto start = std::chrono::steady_clock::now();
    context.run();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    context.restart();
    return taken.count() / operations;
}

double median_burst_ns() {
    asio::io_context context(1);
    std::array<double, bursts> taken{};
    burst_ns(context);
    for (double& each : taken) {
        std::this_thread::sleep_for(4ms);
        each = burst_ns(context);
    }
    std::nth_element(taken.begin(), taken.begin() + bursts / 2, taken.end());
    return taken[bursts / 2];
}

}  // namespace
}  // namespace bench

int main() {
    coroscope::profile session{{.all_threads = true}};
    const double ns = bench::median_burst_ns();
    session.stop();
    std::printf("{\"value\": %.4f, \"lost_records\": %llu}\n", ns,
                static_cast<unsigned long long>(session.status().lost_records));
}
