// SPDX-License-Identifier: Apache-2.0

// Waits for locks that the recorder saw by looking at blocked threads.

#include <coroscope/analysis/lock_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "../state_traces.hpp"

using namespace coroscope_tests;

TEST_SUITE("samples of waits for locks") {
    TEST_CASE("looks within one blocked stretch are one wait of its length, with the holder") {
        analysis::trace loaded = states_trace();
        loaded.states.looks = {look_at_mutex(120'000), look_at_mutex(150'000)};
        const auto rows = analysis::statistics_of_locks(loaded);
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].samples);
        CHECK(rows[0].address == 0x7f10);
        CHECK(rows[0].length.count == 1);
        CHECK(rows[0].total_ns == 80'000);
        CHECK(rows[0].worst.waiter.task == 0);
        CHECK(rows[0].worst.holder.thread == 1);
        const std::string csv = analysis::to_csv(analysis::list_locks(loaded, rows));
        CHECK(csv.find("0x7f10,mutex,samples,") != std::string::npos);
    }

    TEST_CASE("a sample of a recorded wait is left out") {
        analysis::trace loaded = states_trace();
        loaded.states.looks = {look_at_mutex(120'000)};
        analysis::lock_wait exact;
        exact.start_ns = 99'000;
        exact.end_ns = 181'000;
        exact.address = 0x7f10;
        exact.waiter.thread = 0;
        loaded.lock_waits = {exact};
        const auto rows = analysis::statistics_of_locks(loaded);
        REQUIRE(rows.size() == 1);
        CHECK_FALSE(rows[0].samples);
        CHECK(rows[0].total_ns == 82'000);
    }

    TEST_CASE("a look without a holder is no wait for a lock") {
        analysis::trace loaded = states_trace();
        loaded.states.looks = {look_at_mutex(120'000)};
        loaded.states.looks[0].holder_os_id = 0;
        CHECK(analysis::statistics_of_locks(loaded).empty());
    }
}
