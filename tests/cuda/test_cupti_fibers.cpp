// SPDX-License-Identifier: Apache-2.0

// Launches by fibers on several threads that share the work.

#include <coroscope/integration/boost_fiber.hpp>

#include <thread>
#include <vector>

#include <boost/fiber/all.hpp>

#include "../runtime/support/build.hpp"
#include "../support/skip.hpp"
#include "launch_ledger.hpp"

using namespace coroscope;
using namespace coroscope::test;
namespace bf = boost::fibers;

namespace {

void request(ledger& book) {
    const std::uint64_t self = own_task();
    for (int round = 0; round < 50; ++round) {
        launch_as(book, self);
        boost::this_fiber::yield();
        launch_as(book, self);
        const context_guard guard(context(self + 1'000'000, current_context().session, 0));
        launch_as(book, self + 1'000'000);
        boost::this_fiber::yield();
        launch_as(book, self + 1'000'000);
    }
}

void serve(ledger& book, bf::barrier& ends) {
    bf::use_scheduling_algorithm<fibers::tracked<bf::algo::shared_work>>();
    std::vector<bf::fiber> requests;
    for (int each = 0; each < 50; ++each) requests.emplace_back([&book] { request(book); });
    for (bf::fiber& each : requests) each.join();
    ends.wait();
}

}  // namespace

TEST_CASE("launches by fibers under ThreadSanitizer" * doctest::skip(!thread_sanitized)) {
    COROSCOPE_SKIP("Boost.Fiber does not tell ThreadSanitizer of its stacks");
}

TEST_SUITE("launches by fibers" * doctest::skip(thread_sanitized)) {
    TEST_CASE(
        "the launches of fibers that change threads belong to their tasks, also under a context") {
        ledger book;
        const recorded_devices found = record_devices(
            [&book] {
                bf::barrier ends(3);
                std::vector<std::thread> threads;
                for (int each = 0; each < 3; ++each)
                    threads.emplace_back([&] { serve(book, ends); });
                for (std::thread& each : threads) each.join();
            },
            {.all_threads = true});
        CHECK(book.size() == 3 * 50 * 50 * 4);
        CHECK(found.kernels().size() == book.size());
        CHECK(book.wrong(found) == 0);
        CHECK(fake::ids().bad_pops == 0);
    }
}
