// SPDX-License-Identifier: Apache-2.0

// A fiber blocks the thread on which the other fibers of the scheduler wait for their turn.

#include <boost/fiber/all.hpp>
#include <coroscope/integration/boost_fiber.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::blocked_fibers {
namespace {

namespace fibers = boost::fibers;

void save() {
    COROSCOPE("save");
    block_for(30ms);
}

void answer() {
    COROSCOPE_REQUEST("GET /score");
    compute_for(100us);
    boost::this_fiber::yield();
    compute_for(100us);
}

}  // namespace

void run() {
    fibers::use_scheduling_algorithm<coroscope::fibers::tracked<fibers::algo::round_robin>>();
    for (int number = 0; number < requests; ++number) {
        fibers::fiber request(answer);
        fibers::fiber other;
        if (is_chosen(number)) other = fibers::fiber(save);
        request.join();
        if (other.joinable()) other.join();
    }
}

}  // namespace planted::blocked_fibers
