// SPDX-License-Identifier: Apache-2.0

// Tasks come and go, as in a long-lived service, each with attributes of its own and labelled
// awaits. ./dev test --soak runs the tests at full size and prints the figures.

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include <coroscope/attribute.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/trace/reader.hpp>

#include "../support/awaitables.hpp"
#include "../support/foreign.hpp"
#include "../support/long_life.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using manual_task = foreign::manual<foreign::declared>;

std::atomic<std::uint64_t> requests{0};

task<void> read_rows(slot& place) {
    COROSCOPE("read rows");
    co_await COROSCOPE_AWAIT("disk", suspend_into(place));
}

manual_task answer(slot& place) {
    COROSCOPE("answer");
    co_await COROSCOPE_AWAIT("rows", read_rows(place));
}

manual_task answer_tenant(slot& place) {
    const attribute tenant("tenant", "acme");
    const attribute request("request", requests.fetch_add(1));
    COROSCOPE("answer");
    co_await COROSCOPE_AWAIT("rows", read_rows(place));
}

// A fixed number of tasks live at a time. One in 16 is destroyed while it waits.
template <manual_task (*Answer)(slot&)>
void requests_of(std::uint64_t count) {
    constexpr std::size_t at_once = 64;
    std::array<slot, at_once> places;
    std::array<std::optional<manual_task>, at_once> tasks;
    for (std::uint64_t number = 0; number < count + at_once; ++number) {
        const std::size_t at = number % at_once;
        if (tasks[at] && number % 16 != 0) places[at].resume();
        tasks[at].reset();
        if (number < count) tasks[at].emplace(Answer(places[at])).resume();
    }
}

struct record_count {
    std::uint64_t all = 0;
    std::uint64_t spawns = 0;
};
record_count records_in(const trace::reader& trace) {
    record_count found;
    for (const trace::chunk_view& chunk : trace.chunks()) {
        if (chunk.header.kind != trace::chunk_kind::records) continue;
        trace::for_each_record(chunk, [&found](const trace::record_view& record) {
            ++found.all;
            found.spawns += record.kind() == trace::record_kind::spawn ? 1U : 0U;
        });
    }
    return found;
}

trace::reader opened(const long_life& life) {
    auto found = trace::reader::open(life.bytes);
    REQUIRE(found);
    CHECK(found->warnings().empty());
    return std::move(*found);
}

// The number of records in the trace plus the number that the status reports as lost.
std::uint64_t records_of_plain_requests(const profile_options& options, std::uint64_t count) {
    const long_life life = live_long(options, count, "tasks", requests_of<answer>);
    CHECK(life.status.lost_records > 0);
    return records_in(opened(life)).all + life.status.lost_records;
}

}  // namespace

TEST_SUITE("churn") {
    TEST_CASE("each record of tasks that come and go is in the trace, or counted as lost") {
        constexpr std::uint64_t count = 40'000;
        const record_count whole = records_in(opened(live_long(
            {.all_threads = true, .policy = overflow::wait}, count, "tasks", requests_of<answer>)));
        CHECK(records_of_plain_requests({.all_threads = true, .limit_bytes = mebibyte}, count) ==
              whole.all);
        // A flight recorder records each spawn once more at the task's end.
        CHECK(records_of_plain_requests({.all_threads = true,
                                         .policy = overflow::overwrite_oldest,
                                         .limit_bytes = mebibyte},
                                        count) == whole.all + whole.spawns);
    }

    TEST_CASE("tasks that come and go, with attributes and labelled awaits, pass through a flight "
              "recorder while memory stays flat") {
        const auto tasks = sized<std::uint64_t>(200'000, 10'000'000);
        const auto limit = sized<std::uint64_t>(4, 64) * mebibyte;
        const long_life life = live_long(
            {.all_threads = true, .policy = overflow::overwrite_oldest, .limit_bytes = limit},
            tasks, "tasks", requests_of<answer_tenant>);
        check_stayed_flat(life, opened(life).size(), limit);
        CHECK(records_in(opened(life)).all > 50'000);  // the newest records are there
        CHECK(life.status.lost_records > 9 * tasks);
    }

    TEST_CASE("tasks that come and go, with attributes and labelled awaits, run beside a full file "
              "while memory stays flat") {
        const auto tasks = sized<std::uint64_t>(200'000, 10'000'000);
        const auto limit = sized<std::uint64_t>(4, 64) * mebibyte;
        const temporary_file file;
        const long_life life =
            live_long({.output = file.path().c_str(), .all_threads = true, .limit_bytes = limit},
                      tasks, "tasks", requests_of<answer_tenant>);
        const auto found = trace::reader::open(file.path());
        REQUIRE(found);
        check_stayed_flat(life, found->size(), limit);
        CHECK(records_in(*found).all > 50'000);  // the oldest records are there
        CHECK(life.status.lost_records > 9 * tasks);
    }
}
