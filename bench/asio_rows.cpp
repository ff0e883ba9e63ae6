// SPDX-License-Identifier: Apache-2.0

// One Asio operation: a post that a coroutine awaits. Built twice: with handler tracking (the
// subject, recording) and without it (the floor, which reads the clock twice per operation).
//
// For each line of its input it runs one burst and prints nanoseconds per operation and the rate of
// additions around the burst. At the end of the input it prints the number of lost records. The
// caller can therefore alternate the bursts of the two programs.

#include <algorithm>
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

struct burst_figure {
    double ns;    ///< per operation
    double rate;  ///< additions per tick: the lower rate of those before and after the burst
};

double burst_ns(asio::io_context& context) {
    asio::co_spawn(context, post_often(context), asio::detached);
    const auto start = std::chrono::steady_clock::now();
    context.run();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    context.restart();
    return taken.count() / operations;
}

burst_figure probed_burst(asio::io_context& context) {
    const double before = additions_per_tick();
    const double ns = burst_ns(context);
    return {ns, std::min(before, additions_per_tick())};
}

bool read_line() {
    for (int read = std::getchar(); read != EOF; read = std::getchar())
        if (read == '\n') return true;
    return false;
}

void take_turns() {
    asio::io_context context(1);
    burst_ns(context);
    while (read_line()) {
        std::this_thread::sleep_for(4ms);
        const burst_figure figure = probed_burst(context);
        std::printf("%.4f %.4f\n", figure.ns, figure.rate);
        std::fflush(stdout);
    }
}

}  // namespace
}  // namespace bench

int main() {
    coroscope::profile session{{.all_threads = true}};
    bench::take_turns();
    session.stop();
    std::printf("%llu\n", static_cast<unsigned long long>(session.status().lost_records));
}
