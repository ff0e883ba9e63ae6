// SPDX-License-Identifier: Apache-2.0
// Assertions on a recorded block, with GoogleTest.

#include <chrono>
#include <string>

#include <coroscope/analysis/expect.hpp>
#include <coroscope/coroscope.hpp>
#include <gtest/gtest.h>

#include "image_service.hpp"

using namespace std::chrono_literals;
using namespace coroscope::analysis;

namespace {

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest forbids underscores in its names
class ImageService : public testing::Test {
protected:
    static recorded_block record_request(std::chrono::milliseconds time) {
        coroscope::profile session({.all_threads = true});
        image_service::serve_request(time);
        return recorded_block(session.stop());
    }
};

}  // namespace

TEST_F(ImageService, MeetsExpectationsThatLeaveEnoughTime) {
    const recorded_block recorded = record_request(0ms);
    const expectation blocking = expect_no_blocking(recorded, "resizing", 1h);
    EXPECT_TRUE(blocking) << blocking;
    const expectation queued = expect_queued_p99(recorded, "GET /image", 1h);
    EXPECT_TRUE(queued) << queued;
}

TEST_F(ImageService, NamesTheJobThatBlocksItsExecutor) {
    const recorded_block recorded = record_request(20ms);
    const expectation found = expect_no_blocking(recorded, "resizing", 5ms);
    EXPECT_FALSE(found);
    EXPECT_NE(testing::PrintToString(found).find("in thumbnail at "), std::string::npos) << found;
}
