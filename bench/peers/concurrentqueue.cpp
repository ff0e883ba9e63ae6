// SPDX-License-Identifier: Apache-2.0

// An operation puts two events of 32 bytes, each with its time, into a moodycamel::ConcurrentQueue.
// It uses the thread's producer token, because that is the fastest way to enqueue. The queue is
// emptied between bursts, outside the timed part. So no consumer contends for a cache line during a
// burst, and bursts reuse the queue's blocks.

#include <array>
#include <cstddef>

#include "lib/runtime/base/free_queue.hpp"  // finds the queue's header on this system
#include "peer.hpp"

namespace bench {
namespace {

struct event {
    std::uint64_t ticks;
    const void* site;
    std::uint64_t task;
    std::uint32_t thread;
    std::uint32_t kind;
};
static_assert(sizeof(event) == 32);

constexpr std::size_t room_for_bursts_of_two_threads = 1U << 17;

moodycamel::ConcurrentQueue<event>& queue() {
    static moodycamel::ConcurrentQueue<event> all(room_for_bursts_of_two_threads);
    return all;
}

std::uint64_t enqueued_events(std::uint64_t operations) {
    static constexpr char site = 0;
    thread_local const moodycamel::ProducerToken token(queue());
    moodycamel::ConcurrentQueue<event>& all = queue();
    return repeat(operations, [&] {
        all.enqueue(token, event{counter_ticks(), &site, 0, 0, 0});
        all.enqueue(token, event{counter_ticks(), &site, 0, 0, 1});
    });
}

void empty_queue() {
    std::array<event, 1024> taken{};
    while (const std::size_t count = queue().try_dequeue_bulk(taken.begin(), taken.size()))
        keep(taken[count - 1].ticks);
}

}  // namespace

std::vector<row> rows() {
    return {
        recording_peer("peer.concurrentqueue.1", enqueued_events, 1, empty_queue),
        recording_peer("peer.concurrentqueue.2", enqueued_events, 2, empty_queue),
    };
}

}  // namespace bench
