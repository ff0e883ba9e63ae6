// SPDX-License-Identifier: Apache-2.0

// Failures of jobs and threads, and of many tasks at once.

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "anomaly_support.hpp"
#include "live_support.hpp"
#include "support/executors.hpp"
#include "support/foreign.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

task<void> fails_as(int number) {
    throw std::runtime_error(std::to_string(number));
    co_return;
}
task<void> hops_and_fails(thread_executor& pool, int number) {
    co_await pool.hop();
    co_await fails_as(number);
}

}  // namespace

TEST_SUITE("anomaly detection of jobs and threads") {
    TEST_CASE("a job that throws is reported with the task that posted it") {
        anomalies found;
        manual_executor executor;
        executor_adaptor adaptor(executor);
        const auto posts = [](executor_adaptor<manual_executor&>& to) -> task<void> {
            to.execute([] { throw std::runtime_error("in a job"); });
            co_return;
        };
        sync_wait(posts(adaptor));
        CHECK_THROWS(executor.run());
        REQUIRE(found.list.size() == 1);
        CHECK(found.list[0].stack.size() == 2);
        CHECK(count(found.list[0].message, "failed with an exception\n") == 1);
    }

    TEST_CASE("an exception that passes through a generator out of a job is reported once") {
        anomalies found;
        manual_executor executor;
        executor_adaptor adaptor(executor);
        adaptor.execute([] {
            const auto body = []() -> foreign::generator<int, foreign::outside> {
                co_yield 1;
                throw std::runtime_error("no second number");
            };
            auto numbers = body();
            while (numbers.next()) {
            }
        });
        CHECK_THROWS(executor.run());
        CHECK(found.list.size() == 1);
    }

    TEST_CASE("each of many failures on many threads is reported once") {
        anomalies found;
        constexpr int threads = 16;
        constexpr int rounds = 25;
        thread_executor pool(4);
        std::vector<std::thread> failing;
        std::atomic<int> caught{0};
        for (int index = 0; index < threads; ++index) {
            failing.emplace_back([&pool, &caught, index] {
                for (int round = 0; round < rounds; ++round) {
                    try {
                        sync_wait(hops_and_fails(pool, index * rounds + round));
                    } catch (const std::runtime_error&) {
                        ++caught;
                    }
                }
            });
        }
        for (std::thread& each : failing) each.join();
        pool.join();
        CHECK(caught == threads * rounds);
        REQUIRE(found.list.size() == threads * rounds);
        for (const anomaly_copy& each : found.list)
            CHECK(functions_of(each.stack) ==
                  std::vector<std::string>{"fails_as", "hops_and_fails"});
    }
}
