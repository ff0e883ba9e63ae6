// SPDX-License-Identifier: Apache-2.0

// The limits for the numbers and the addresses of executors. The test uses up the numbers of a
// process, so it is a program of its own.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/executor_adaptor.hpp>

#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::size_t most_numbers = 32'767;
constexpr std::size_t most_addresses = 14'336;

alignas(8) char places[8 * 40'000];  // executors are only addresses here

const void* place(std::size_t index) { return places + 8 * index; }

// Each task of the trace is a job of one of the executors, in this order.
class posted_jobs {
public:
    void post(const void* executor) {
        const detail::executor_place of{executor, nullptr, detail::executor_kind::other};
        detail::cancel_job(detail::post_job_on(of, nullptr, false));
    }

    /// Stops the session. Returns the executor's number by job; trace::further_executors stands for
    /// executors without a number.
    std::vector<std::uint32_t> numbers() {
        const recorded found = session_.stop();
        std::vector<std::uint32_t> all;
        for (const analysis::task_info& each : found.trace.tasks) {
            REQUIRE(each.executor < found.trace.executors.size());
            all.push_back(found.trace.executors[each.executor].number);
        }
        return all;
    }

private:
    recording session_;
};

}  // namespace

TEST_CASE("executors that end free their addresses for others, until the numbers are used up") {
    std::uint32_t last = 0;
    {
        posted_jobs jobs;
        for (std::size_t each = 0; each < most_addresses + 100; ++each) {
            jobs.post(place(each));
            detail::forget_executor(place(each));
        }
        for (const std::uint32_t number : jobs.numbers()) CHECK(number == ++last);
    }
    {
        posted_jobs jobs;
        for (std::size_t each = 0; each < most_addresses + 2; ++each) jobs.post(place(each));
        // These slots are in the middle of a full run of slots, so they stay given up.
        detail::forget_executor(place(100));
        detail::forget_executor(place(101));
        jobs.post(place(most_addresses));              // its search ends at an empty slot
        jobs.post(place(50 + std::size_t{1 << 14}));   // its search passes the slot of place 100
        jobs.post(place(150 + std::size_t{1 << 14}));  // the two free addresses are in use again
        const std::vector<std::uint32_t> numbers = jobs.numbers();
        REQUIRE(numbers.size() == most_addresses + 5);
        for (std::size_t each = 0; each < most_addresses; ++each) CHECK(numbers[each] == ++last);
        CHECK(numbers[most_addresses] == trace::further_executors);
        CHECK(numbers[most_addresses + 1] == trace::further_executors);
        CHECK(numbers[most_addresses + 2] == ++last);
        CHECK(numbers[most_addresses + 3] == ++last);
        CHECK(numbers[most_addresses + 4] == trace::further_executors);
    }
    {
        posted_jobs jobs;
        for (std::size_t each = last; each <= most_numbers; ++each) {
            detail::forget_executor(place(most_addresses - 1));
            jobs.post(place(most_addresses - 1));
        }
        std::vector<std::uint32_t> numbers = jobs.numbers();
        CHECK(numbers.back() == trace::further_executors);
        numbers.pop_back();
        for (const std::uint32_t number : numbers) CHECK(number == ++last);
        CHECK(last == most_numbers);
    }
}
