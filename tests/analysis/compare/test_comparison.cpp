// SPDX-License-Identifier: Apache-2.0
// The verdicts of a comparison, from summaries of runs.

#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../compare/made_runs.hpp"
#include <coroscope/analysis/comparison.hpp>

using namespace coroscope_tests;
using analysis::comparison_verdict;

namespace {

/// The runs of one side of an executor's row, whose mean times in the queue these are.
std::vector<analysis::run_summary> queues(const std::vector<double>& lows_ns) {
    std::vector<analysis::run_summary> runs;
    for (const double low_ns : lows_ns)
        runs.push_back(run_with({row_of(analysis::compared_kind::executor, "pool", low_ns)}));
    return runs;
}

}  // namespace

TEST_CASE("a steady scope that takes a tenth longer is slower, with one run a side") {
    const auto found =
        compare({run_with({steady_row("parse", 10'000), steady_row("send", 9'000)})},
                {run_with({steady_row("parse", 11'000), steady_row("send", 9'000)})});
    const auto& parse = row_named(found, "parse");
    CHECK(parse.verdict == comparison_verdict::slower);
    CHECK(*parse.change == doctest::Approx(0.1));
    CHECK(*parse.low > 0);
    CHECK(*parse.low < 0.1);
    CHECK(*parse.high > 0.1);
    CHECK(parse.effect_ns == doctest::Approx(1000));
    CHECK(row_named(found, "send").verdict == comparison_verdict::same);
    CHECK(found.rows.front().name == "parse");
    const auto back = compare({run_with({steady_row("parse", 11'000)})},
                              {run_with({steady_row("parse", 10'000)})});
    CHECK(row_named(back, "parse").verdict == comparison_verdict::faster);
}

TEST_CASE("a scope whose run is disturbed by more than the change is unclear") {
    auto before = steady_row("look up", 10'000);
    auto after = steady_row("look up", 11'000);
    before.time.variance = after.time.variance = 0.01;
    before.with_delay = before.time;
    after.with_delay = after.time;
    const auto found = compare({run_with({before})}, {run_with({after})});
    CHECK(row_named(found, "look up").verdict == comparison_verdict::unclear);
    CHECK(*row_named(found, "look up").low < 0);
}

TEST_CASE("a scope as short as the clock's resolution is unclear") {
    auto before = run_with({steady_row("tiny", 40)});
    auto after = run_with({steady_row("tiny", 50)});
    before.resolution_ns = after.resolution_ns = 10;
    CHECK(row_named(compare({before}, {after}), "tiny").verdict == comparison_verdict::unclear);
}

TEST_CASE("the more rows are compared, the wider is the interval of each") {
    const auto with_rows = [](int others) {
        std::vector<analysis::run_row> before{steady_row("parse", 10'000)};
        std::vector<analysis::run_row> after{steady_row("parse", 10'500)};
        for (int other = 0; other < others; ++other) {
            before.push_back(steady_row("other " + std::to_string(other), 1'000));
            after.push_back(steady_row("other " + std::to_string(other), 1'000));
        }
        const auto found = compare({run_with(before)}, {run_with(after)});
        CHECK(found.certain_rows == static_cast<std::size_t>(others) + 1);
        return row_named(found, "parse");
    };
    CHECK(*with_rows(100).low < *with_rows(0).low);
    CHECK(with_rows(0).verdict == comparison_verdict::slower);
    CHECK(with_rows(100).verdict == comparison_verdict::unclear);
}

TEST_CASE("with several runs a side the interval is that of Student's t between their means") {
    // A queue has no figure within a run. Logarithms before: 0 and ±0.1; after: 0.5 and 0.5 ± 0.1.
    const double mean = 1e6;
    const auto found =
        compare(queues({mean, mean * std::exp(0.1), mean * std::exp(-0.1)}),
                queues({mean * std::exp(0.5), mean * std::exp(0.6), mean * std::exp(0.4)}));
    const auto& pool = row_named(found, "pool");
    const double half = 2.7764 * 0.1 * std::sqrt(2.0 / 3.0);  // 4 degrees of freedom, 95 %
    CHECK(std::log1p(*pool.change) == doctest::Approx(0.5));
    CHECK(std::log1p(*pool.low) == doctest::Approx(0.5 - half).epsilon(0.001));
    CHECK(std::log1p(*pool.high) == doctest::Approx(0.5 + half).epsilon(0.001));
    CHECK(pool.verdict == comparison_verdict::slower);
}

TEST_CASE("one run a side says nothing of a queue") {
    const auto found = compare(queues({1e6}), queues({3e6}));
    const auto& pool = row_named(found, "pool");
    CHECK(pool.verdict == comparison_verdict::unclear);
    CHECK(*pool.change == doctest::Approx(2));
    CHECK_FALSE(pool.low.has_value());
    CHECK(pool.note == "one run does not show how much a queue varies");
}

TEST_CASE("runs of a side that differ make a change between the sides unclear") {
    const auto run = [](double low_ns) { return run_with({steady_row("parse", low_ns)}); };
    const auto apart =
        compare({run(10'000), run(12'000), run(9'000)}, {run(11'000), run(13'000), run(10'000)});
    CHECK(row_named(apart, "parse").verdict == comparison_verdict::unclear);
    const auto alike =
        compare({run(10'000), run(10'020), run(9'990)}, {run(11'000), run(11'030), run(10'980)});
    CHECK(row_named(alike, "parse").verdict == comparison_verdict::slower);
}

TEST_CASE("a fifth more in an await is found with three runs a side, one of them disturbed") {
    const auto run = [](double low_ns, double variance) {
        auto row = row_of(analysis::compared_kind::await, "db.query", low_ns);
        row.time.variance = variance;
        return run_with({row});
    };
    const auto found = compare({run(2e6, 1e-4), run(2.02e6, 0.3), run(2.01e6, 1e-4)},
                               {run(2.4e6, 1e-4), run(2.41e6, 1e-4), run(2.43e6, 1e-4)});
    CHECK(row_named(found, "db.query").verdict == comparison_verdict::slower);
}

TEST_CASE("runs that differ less than their parts let a change of a noisy row be seen") {
    const auto run = [](double factor, double first_ns, int rows) {
        std::vector<analysis::run_row> all;
        for (int at = 0; at < rows; ++at) {
            all.push_back(
                steady_row("noisy " + std::to_string(at), factor * (at == 0 ? first_ns : 10'000)));
            all.back().time.variance = 0.1;
            all.back().with_delay = all.back().time;
        }
        return run_with(all);
    };
    const auto compared = [&](int rows) {
        return compare({run(1, 10'000, rows), run(1.01, 10'000, rows), run(0.99, 10'000, rows)},
                       {run(1, 14'000, rows), run(1.01, 14'000, rows), run(0.99, 14'000, rows)});
    };
    CHECK(row_named(compared(6), "noisy 0").verdict == comparison_verdict::slower);
    CHECK(row_named(compared(6), "noisy 1").verdict != comparison_verdict::slower);
    CHECK(row_named(compared(2), "noisy 0").verdict == comparison_verdict::unclear);
}

TEST_CASE("awaits without known wakes are compared up to their resume") {
    auto before = row_of(analysis::compared_kind::await, "recv", 1e6);
    before.time.count = 10;
    auto after = before;
    after.with_delay.low_ns = 2e6;
    const auto found = compare({run_with({before})}, {run_with({after})});
    const auto& recv = row_named(found, "recv");
    CHECK(recv.measured == analysis::compared_time::waiting);
    CHECK(*recv.change == doctest::Approx(1));
}

TEST_CASE("a scope that ends at a moment of the clock is compared with its preempted time") {
    auto before = steady_row("spin", 1e6);
    before.with_delay = before.time;
    before.time.variance = 0.1;  // the own time is less if the thread was preempted
    auto after = before;
    after.with_delay.low_ns = 1.1e6;
    const auto found = compare({run_with({before})}, {run_with({after})});
    const auto& spin = row_named(found, "spin");
    CHECK(spin.verdict == comparison_verdict::slower);
    CHECK(spin.measured == analysis::compared_time::own_with_preempted);
}

TEST_CASE("a row of one side is new or gone") {
    const auto found =
        compare({run_with({steady_row("old", 1'000)})}, {run_with({steady_row("young", 1'000)})});
    CHECK(row_named(found, "old").verdict == comparison_verdict::gone);
    CHECK(row_named(found, "young").verdict == comparison_verdict::appeared);
    CHECK(name_of(comparison_verdict::appeared) == "new");
    CHECK(row_named(found, "old").effect_ns == doctest::Approx(-1000));
}

TEST_CASE("a row of few calls is neither new nor gone") {
    auto rare = steady_row("rare", 1'000);
    rare.calls = 2;
    const auto found = compare({run_with({})}, {run_with({rare})});
    CHECK(row_named(found, "rare").verdict == comparison_verdict::unclear);
    CHECK(row_named(found, "rare").note ==
          "only after: so few calls that the other side may lack them by chance");
}

TEST_CASE("another guess of the requests is no new type") {
    auto before = run_with({row_of(analysis::compared_kind::request, "load", 1e6)});
    auto after = run_with({row_of(analysis::compared_kind::request, "store", 1e6)});
    before.requests_guessed = after.requests_guessed = true;
    const auto found = compare({before}, {after});
    CHECK(found.count(comparison_verdict::unclear) == 2);
    CHECK_FALSE(found.per_request);
}

TEST_CASE("a row is neither new nor gone if the traces do not prove its absence") {
    auto before = run_with({steady_row("old", 1'000)});
    auto after = run_with({});
    SUBCASE("records were lost") { after.lost = 1; }
    SUBCASE("the trace has a part of its run only") { after.overwritten = 1; }
    SUBCASE("requests were sampled") { after.samples_requests = true; }
    SUBCASE("the sessions recorded other categories") { after.categories = "http"; }
    SUBCASE("the session was not stopped") { after.finished = false; }
    const auto found = compare({before}, {after});
    CHECK(row_named(found, "old").verdict == comparison_verdict::unclear);
    CHECK(row_named(found, "old").note.starts_with("only before: "));
    CHECK_FALSE(found.notes.empty());
}

TEST_CASE("a row that only some runs of a side have is unclear if the other side has none") {
    const auto found = compare({run_with({steady_row("rare", 1'000)}), run_with({})},
                               {run_with({}), run_with({})});
    CHECK(row_named(found, "rare").verdict == comparison_verdict::unclear);
}

TEST_CASE("times have no verdict if the recordings differ or lost records") {
    auto before = run_with({steady_row("parse", 10'000)});
    auto after = run_with({steady_row("parse", 15'000)});
    SUBCASE("lost records") { after.lost = 100; }
    SUBCASE("damage") { after.damaged = true; }
    SUBCASE("other facts were recorded") { after.features = 1; }
    const auto found = compare({before}, {after});
    const auto& parse = row_named(found, "parse");
    CHECK(parse.verdict == comparison_verdict::unclear);
    CHECK_FALSE(parse.low.has_value());
    CHECK_FALSE(parse.note.empty());
    CHECK_FALSE(found.notes.empty());
}

TEST_CASE("a few lost records do not matter to a row of many calls") {
    auto after = run_with({steady_row("parse", 15'000)});
    after.lost = 10;
    const auto found = compare({run_with({steady_row("parse", 10'000)})}, {after});
    CHECK(row_named(found, "parse").verdict == comparison_verdict::slower);
}

TEST_CASE("too few calls have no verdict") {
    auto before = steady_row("start", 10'000);
    before.time.parts = 0;
    const auto found = compare({run_with({before})}, {run_with({before})});
    CHECK(row_named(found, "start").verdict == comparison_verdict::unclear);
    CHECK(row_named(found, "start").note == "too few calls");
}
