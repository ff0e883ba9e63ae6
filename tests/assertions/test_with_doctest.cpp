// SPDX-License-Identifier: Apache-2.0
// Assertions on a recorded block, with doctest.

#include <chrono>
#include <string>

#include <coroscope/analysis/expect.hpp>
#include <coroscope/coroscope.hpp>
#include <doctest/doctest.h>

#include "image_service.hpp"

using namespace std::chrono_literals;
using namespace coroscope::analysis;

namespace {

recorded_block record_request(std::chrono::milliseconds time) {
    coroscope::profile session({.all_threads = true});
    image_service::serve_request(time);
    return recorded_block(session.stop());
}

}  // namespace

TEST_CASE("a recorded request meets expectations that leave it enough time") {
    const recorded_block recorded = record_request(0ms);
    CHECK(expect_no_blocking(recorded, "resizing", 1h));
    CHECK(expect_queued_p99(recorded, "GET /image", 1h));
    CHECK(expect_wall_p99(recorded, "GET /image", 1h));
}

TEST_CASE("a job that blocks its executor is named with its place") {
    const recorded_block recorded = record_request(20ms);
    const expectation found = expect_no_blocking(recorded, "resizing", 5ms);
    CHECK_FALSE(found);
    CHECK_MESSAGE(found.message.find("a job held a thread of resizing for ") == 0, found);
    CHECK_MESSAGE(found.message.find("in thumbnail at ") != std::string::npos, found);
    CHECK_MESSAGE(found.message.find("image_service.hpp:") != std::string::npos, found);
    CHECK_FALSE(expect_wall_p99(recorded, "GET /image", 5ms));
}

TEST_CASE("a session that could not record meets no expectation") {
    coroscope::profile session({.all_threads = true});
    session.stop();
    const recorded_block recorded(session.stop());
    const expectation found = expect_wall_p99(recorded, "GET /image", 1h);
    CHECK_FALSE(found);
    CHECK(found.message.find("nothing was recorded") == 0);
}
