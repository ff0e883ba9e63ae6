// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "lib/runtime/base/ordered_queue.hpp"

using coroscope::runtime::ordered_queue;

TEST_SUITE("ordered queue") {
    TEST_CASE("indices are popped in the order in which they were pushed, round after round") {
        ordered_queue queue;
        REQUIRE(queue.create(8));
        for (int round = 0; round < 1000; ++round) {
            for (const std::uint32_t index : {5U, 0U, 7U, 3U}) queue.push(index);
            for (const std::uint32_t index : {5U, 0U, 7U, 3U}) CHECK(queue.pop() == index);
            CHECK(queue.pop() == ordered_queue::none);
        }
        queue.destroy();
    }

    TEST_CASE("a queue can hold every index at once") {
        ordered_queue queue;
        REQUIRE(queue.create(1000));
        for (std::uint32_t index = 1000; index-- != 0;) queue.push(index);
        for (std::uint32_t index = 1000; index-- != 0;) CHECK(queue.pop() == index);
        CHECK(queue.pop() == ordered_queue::none);
        queue.destroy();
    }

    TEST_CASE("many threads exchange indices, and none is lost, doubled or out of order") {
        constexpr std::uint32_t capacity = 32;
        constexpr int threads = 8;
        ordered_queue queue;
        REQUIRE(queue.create(capacity));
        // Each index is stamped when it is pushed; the stamps of one producer must come out rising.
        struct stamp {
            std::atomic<int> producer{-1};
            std::atomic<std::uint64_t> serial{0};
            std::atomic<bool> held{true};
        };
        std::vector<stamp> stamps(capacity);
        for (std::uint32_t index = 0; index < capacity; ++index) {
            stamps[index].held = false;
            queue.push(index);
        }
        std::atomic<int> faults{0};
        std::vector<std::thread> running;
        for (int self = 0; self < threads; ++self)
            running.emplace_back([&, self] {
                std::vector<std::uint64_t> last(threads, 0);
                for (std::uint64_t serial = 1; serial < 20'000; ++serial) {
                    const std::uint32_t index = queue.pop();
                    if (index == ordered_queue::none) continue;
                    stamp& it = stamps[index];
                    if (it.held.exchange(true)) ++faults;
                    if (it.producer >= 0) {
                        auto& before = last[static_cast<std::size_t>(it.producer.load())];
                        if (it.serial <= before) ++faults;
                        before = it.serial;
                    }
                    it.producer = self;
                    it.serial = serial;
                    it.held = false;
                    queue.push(index);
                }
            });
        for (std::thread& thread : running) thread.join();
        CHECK(faults == 0);
        std::uint32_t left = 0;
        while (queue.pop() != ordered_queue::none) ++left;
        CHECK(left == capacity);
        queue.destroy();
    }
}
