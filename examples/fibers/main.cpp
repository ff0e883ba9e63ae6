// SPDX-License-Identifier: Apache-2.0

// Boost.Fiber: one line per thread makes each fiber a task. Link the target coroscope-fibers
// (coroscope::fibers): some compilers need its definition for code that runs on fibers.

#include <boost/fiber/algo/round_robin.hpp>
#include <boost/fiber/all.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/integration/boost_fiber.hpp>

#include <cstdio>

namespace {

namespace fibers = boost::fibers;

constexpr int items = 20;

void produce(fibers::unbuffered_channel<int>& channel) {
    COROSCOPE_FUNCTION();
    for (int item = 1; item <= items; ++item) channel.push(item);
    channel.close();
}

int consume(fibers::unbuffered_channel<int>& channel) {
    COROSCOPE_FUNCTION();
    int sum = 0;
    for (const int item : channel) sum += item;
    return sum;
}

}  // namespace

int main() {
    const coroscope::profile session({.output = "fibers.cst", .all_threads = true});
    if (session.status().state == coroscope::session_state::refused)
        std::printf("nothing is recorded: %s\n", session.status().message);

    fibers::use_scheduling_algorithm<coroscope::fibers::tracked<fibers::algo::round_robin>>();
    fibers::unbuffered_channel<int> channel;
    int sum = 0;
    fibers::fiber producer([&channel] { produce(channel); });
    fibers::fiber consumer([&channel, &sum] { sum = consume(channel); });
    producer.join();
    consumer.join();
    std::printf("the sum is %d\n", sum);
    return sum == items * (items + 1) / 2 ? 0 : 1;
}
