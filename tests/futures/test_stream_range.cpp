// SPDX-License-Identifier: Apache-2.0

// Ranges over sources of items.

#include <coroscope/stream_range.hpp>

#include <coroscope/analysis/stream_statistics.hpp>

#include "../runtime/support/foreign.hpp"
#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;
using namespace std::chrono_literals;

namespace {

/// A generator, and the range over it.
class rows {
public:
    explicit rows(int count) : left_(count) {}
    bool next() {
        if (left_-- == 0) return false;
        std::this_thread::sleep_for(delay_);
        delay_ = 5ms;
        over_.item();
        return true;
    }

private:
    int left_;
    std::chrono::milliseconds delay_ = 20ms;
    stream_range over_{"rows"};
};

}  // namespace

TEST_SUITE("stream_range") {
    TEST_CASE("the measured delay of the first item and the gaps between items are not too short") {
        recording session;
        for (const int count : {3, 2}) {
            rows each(count);
            while (each.next()) {
            }
        }
        const recorded found = session.stop();
        const auto statistics = analysis::statistics_of_streams(found.trace);
        REQUIRE(statistics.size() == 1);
        const auto& of_rows = statistics.front();
        CHECK(of_rows.name == "rows");
        CHECK(of_rows.count == 2);
        CHECK(of_rows.items == 5);
        CHECK(of_rows.unfinished == 0);
        CHECK(of_rows.lost_items == 0);
        CHECK(of_rows.first_item.count == 2);
        CHECK(of_rows.first_item.p50_ns >= nearly(20'000'000));
        CHECK(of_rows.gap.count == 3);
        CHECK(of_rows.gap.p50_ns >= nearly(5'000'000));
        CHECK(of_rows.gap.max_ns >= of_rows.gap.p95_ns);
        CHECK(found.count("rows") == 2);
    }

    TEST_CASE("a stream is a range: copies share it, and it has end callbacks") {
        recording session;
        const stream_range over("channel");
        const stream_range copy = over;
        bool ended = false;
        over.on_end([&ended] { ended = true; });
        std::thread([&copy] { copy.item(); }).join();
        over.item();
        copy.end();
        over.item();
        CHECK(ended);
        const recorded found = session.stop();
        REQUIRE(found.trace.streams.size() == 1);
        CHECK(found.trace.streams[0].items.size() == 2);
        CHECK(found.trace.streams[0].end_ns.has_value());
    }

    TEST_CASE("a stream that yields nothing and does not end counts, too") {
        recording session;
        const stream_range open("nothing yet");
        const analysis::trace loaded = session.stop().trace;
        const auto statistics = analysis::statistics_of_streams(loaded);
        REQUIRE(statistics.size() == 1);
        CHECK(statistics[0].count == 1);
        CHECK(statistics[0].items == 0);
        CHECK(statistics[0].unfinished == 1);
        CHECK(statistics[0].first_item.count == 0);
    }

    TEST_CASE("items of several threads are numbered without a gap") {
        constexpr int threads = 4;
        constexpr int items = 500;
        recording session;
        {
            const stream_range over("shared channel");
            std::vector<std::thread> consumers;
            for (int each = 0; each < threads; ++each)
                consumers.emplace_back([&over] {
                    for (int item = 0; item < items; ++item) over.item();
                });
            for (std::thread& each : consumers) each.join();
        }
        const auto statistics = analysis::statistics_of_streams(session.stop().trace);
        REQUIRE(statistics.size() == 1);
        CHECK(statistics[0].items == threads * items);
        CHECK(statistics[0].lost_items == 0);
    }

    TEST_CASE("a handle of a stream's range is a handle of a range") {
        recording session;
        stream_range rows("rows");
        const range handle(rows);
        const range moved(std::move(rows));
        handle.end();
        CHECK(moved.ended());
        CHECK(session.stop().count("rows") == 1);
    }

    TEST_CASE("without a session, items are not recorded") {
        const stream_range early("too early");
        recording session;
        early.item();
        CHECK(session.stop().trace.streams.empty());
    }
}
