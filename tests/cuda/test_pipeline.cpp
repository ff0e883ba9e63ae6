// SPDX-License-Identifier: Apache-2.0

// examples/cuda_pipeline on a simulated device: its work, and its detection of a wrong trace.

#include <algorithm>
#include <vector>

#include <coroscope/analysis/load.hpp>
#include <coroscope/coroscope.hpp>
#include <doctest/doctest.h>

#include "../../examples/cuda_pipeline/attribution.hpp"
#include "../../examples/cuda_pipeline/pipeline.hpp"
#include "../runtime/support/build.hpp"

using namespace coroscope;
using namespace cuda_pipeline;

namespace {

// A sanitizer is slow.
const workload work{.launches = test::sanitized ? 5'000U : 100'000U, .elements = 16};

struct run_of_pipeline {
    analysis::trace trace;
    std::vector<stream_history> histories;
    cuda::recorded_work told;
    std::uint64_t wrong_results = 0;
};

run_of_pipeline run() {
    pipeline pipe(work);
    profile session({.all_threads = true, .policy = overflow::wait, .use_device = "cuda"});
    REQUIRE(std::string(session.status().message).empty());
    auto histories = pipe.run();
    auto loaded = analysis::load(session.stop());
    REQUIRE(loaded);
    return {std::move(*loaded), std::move(histories), cuda::latest_recorded_work(),
            pipe.wrong_results()};
}

}  // namespace

TEST_CASE("every kernel of the pipeline belongs to its request, whichever threads launched it") {
    run_of_pipeline done = run();
    CHECK(done.wrong_results == 0);
    const attribution found = check_attribution(done.trace, work, done.histories);
    CHECK(found.good());
    CHECK(found.kernels == work.launches);
    CHECK(found.with_queue_time == work.launches);
    CHECK(times_agree(found, done.told));
    CHECK(done.told.activities == work.launches + work.streams);
    CHECK_FALSE(done.trace.device_waits.empty());

    // The check detects wrong histories and times.
    auto swapped = done.histories;
    std::swap(swapped[0].requests.at(0), swapped[0].requests.at(1));
    CHECK(check_attribution(done.trace, work, swapped).wrong == 2 * work.launches_per_request);
    auto more = done.histories;
    more[1].requests.push_back(work.requests());
    CHECK(check_attribution(done.trace, work, more).missing == work.launches_per_request);
    auto elsewhere = done.histories;
    elsewhere[0].mark_bytes = 999;
    CHECK_FALSE(check_attribution(done.trace, work, elsewhere).good());
    done.told.device_time_ns += done.told.device_time_ns / 100;
    CHECK_FALSE(times_agree(found, done.told));
}
