// SPDX-License-Identifier: Apache-2.0
// Comparisons of traces that are built tick by tick, with noise that is the same on each machine.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../compare/made_runs.hpp"
#include "../loading.hpp"
#include <coroscope/analysis/comparison.hpp>

using namespace coroscope::test;
using namespace coroscope_tests;
using analysis::comparison_verdict;

namespace {

/// A program of six scopes. The machine disturbs a third of the calls, and more in some seconds
/// than in others. One scope uses caches: in each run all of its calls are disturbed differently.
class noisy_program {
public:
    explicit noisy_program(std::uint32_t seed) : random_(seed) {}

    noisy_program& plant(const std::string& scope, double share) {
        planted_[scope] = share;
        return *this;
    }

    analysis::run_summary run() {
        trace_builder built(std::size_t{1} << 20);
        std::vector<std::uint32_t> sites;
        for (const auto& [name, length_ns] : scopes) sites.push_back(built.site(name));
        std::int64_t now_ns = 1'000;
        const double caches = std::exp(0.2 * normal_(random_));
        for (int call = 0; call < 600; ++call) {
            if (call % 60 == 0) load_ = 0.1 + 0.5 * uniform_(random_);
            for (std::size_t at = 0; at < scopes.size(); ++at) {
                const std::int64_t length_ns = length_of(at, caches);
                built.on(1).scope(sites[at], now_ns, now_ns + length_ns);
                now_ns += length_ns + 500;
            }
        }
        built.lasts(now_ns);
        return analysis::summarize_run(load(built), "run.cst");
    }

private:
    struct scope_of_program {
        std::string name;
        double length_ns;
    };
    static inline const std::vector<scope_of_program> scopes{
        {"parse", 4'000},     {"signature", 21'000}, {"render", 15'000},
        {"compress", 65'000}, {"block", 3'000},      {"look up", 10'000}};

    std::int64_t length_of(std::size_t scope, double caches) {
        const scope_of_program& of = scopes[scope];
        double length_ns = of.length_ns * std::exp(0.002 * normal_(random_));
        if (of.name == "look up") length_ns *= caches * std::exp(0.1 * normal_(random_));
        if (uniform_(random_) < load_) length_ns *= 1 + 0.5 * uniform_(random_);
        if (const auto found = planted_.find(of.name); found != planted_.end())
            length_ns *= 1 + found->second;
        return std::llround(length_ns);
    }

    std::minstd_rand random_;
    std::normal_distribution<double> normal_;
    std::uniform_real_distribution<double> uniform_;
    double load_ = 0;
    std::map<std::string, double> planted_;
};

/// The rows that are slower or faster: "slower parse, ".
std::string named(const analysis::comparison& of) {
    std::string names;
    for (const auto& each : of.rows)
        if (each.verdict == comparison_verdict::slower ||
            each.verdict == comparison_verdict::faster)
            names += std::string(name_of(each.verdict)) + " " + each.name + ", ";
    return names;
}

/// A task that awaits `site`; it is woken after `wait_ns` and resumed after the delay.
std::int64_t add_await(trace_builder& built, std::uint64_t task, std::uint32_t site,
                       std::int64_t now_ns, std::int64_t wait_ns, std::int64_t delay_ns) {
    const std::int64_t wake_ns = now_ns + 100 + wait_ns;
    const std::int64_t resume_ns = wake_ns + delay_ns;
    built.on(1).spawn(now_ns, task).wake(now_ns + 10, task).resume(now_ns + 20, task);
    built.on(1).suspend(now_ns + 100, task, site);
    built.on(2).wake(wake_ns, task);
    built.on(1).resume(resume_ns, task).finish(resume_ns + 50, task);
    return resume_ns + 100;
}

analysis::run_summary run_of_awaits(std::uint32_t seed, double wait_ns) {
    std::minstd_rand random(seed);
    std::normal_distribution<double> normal;
    std::exponential_distribution<double> delay(1e-5);
    trace_builder built(std::size_t{1} << 20);
    const auto site = built.site("db.query", "store.cpp", 42, coroscope::trace::site_kind::await);
    const double run = std::exp(0.01 * normal(random));
    std::int64_t now_ns = 1'000;
    for (std::uint64_t task = 1; task <= 300; ++task)
        now_ns = add_await(built, task, site, now_ns,
                           std::llround(wait_ns * run * std::exp(0.05 * std::abs(normal(random)))),
                           std::llround(delay(random)));
    built.lasts(now_ns);
    return analysis::summarize_run(load(built), "run.cst");
}

}  // namespace

TEST_CASE("fifteen pairs of equal runs have no regression") {
    for (std::uint32_t pair = 0; pair < 15; ++pair) {
        CAPTURE(pair);
        const auto found =
            compare({noisy_program(2 * pair + 1).run()}, {noisy_program(2 * pair + 2).run()});
        CHECK(named(found).empty());
    }
}

TEST_CASE("a tenth more in one scope is found in fifteen pairs of runs, and nothing else") {
    for (std::uint32_t pair = 0; pair < 15; ++pair) {
        CAPTURE(pair);
        const std::string scope = pair % 2 == 0 ? "compress" : "parse";
        const auto found = compare({noisy_program(100 + 2 * pair).run()},
                                   {noisy_program(101 + 2 * pair).plant(scope, 0.1).run()});
        CHECK(named(found) == "slower " + scope + ", ");
    }
}

TEST_CASE(
    "a fifth more in an await is found with three runs a side, whatever the delay of resumes") {
    const auto side = [](std::uint32_t seed, double wait_ns) {
        return std::vector<analysis::run_summary>{run_of_awaits(seed, wait_ns),
                                                  run_of_awaits(seed + 1, wait_ns),
                                                  run_of_awaits(seed + 2, wait_ns)};
    };
    const auto found = compare(side(1, 2e6), side(4, 2.4e6));
    CHECK(row_named(found, "db.query").verdict == comparison_verdict::slower);
    CHECK(row_named(found, "db.query").line == 42);
    CHECK(named(compare(side(7, 2e6), side(10, 2e6))).empty());
}

TEST_CASE("a scope's own time is without the scopes inside it") {
    trace_builder built;
    const auto outer = built.site("outer");
    const auto inner = built.site("inner");
    for (int call = 0; call < 100; ++call) {
        const std::int64_t at = 1'000 + call * 1'000;
        built.on(1).scope(inner, at + 100, at + 400).scope(outer, at, at + 500);
    }
    const auto run = analysis::summarize_run(load(built.lasts(200'000)), "run.cst");
    const auto found = std::ranges::find(run.rows, "outer", &analysis::run_row::name);
    REQUIRE(found != run.rows.end());
    CHECK(found->time.low_ns == 200);
    CHECK(found->inner_per_call == 1);
    CHECK(found->time.count == 100);
}

TEST_CASE("an await of a task has the time for which that task was suspended") {
    trace_builder built;
    const auto load_site = built.site("load", "a.cpp", 1, coroscope::trace::site_kind::await);
    const auto timer = built.site("timer", "a.cpp", 2, coroscope::trace::site_kind::await);
    auto thread = built.on(1);
    for (std::uint64_t call = 0; call < 30; ++call) {
        const std::int64_t at = 1'000 + static_cast<std::int64_t>(call) * 10'000;
        const std::uint64_t parent = 2 * call + 1, child = 2 * call + 2;
        thread.spawn(at, parent).wake(at + 1, parent).resume(at + 2, parent);
        thread.spawn(at + 3, child, 0, 0, parent);
        thread.transfer(at + 100, parent, child, load_site);
        thread.suspend(at + 600, child, timer);  // ran for 500
        built.on(2).wake(at + 2'600, child);     // waited for 2000
        thread.resume(at + 3'000, child);        // queued for 400
        thread.finish_transfer(at + 4'000, child, parent);
        thread.finish(at + 4'100, parent);
    }
    const auto run = analysis::summarize_run(load(built.lasts(400'000)), "run.cst");
    for (const char* name : {"load", "timer"}) {
        const auto found = std::ranges::find(run.rows, name, &analysis::run_row::name);
        REQUIRE(found != run.rows.end());
        CHECK(found->kind == analysis::compared_kind::await);
        CHECK(found->time.count == 30);
        CHECK(found->time.low_ns == 2'000);
    }
}

TEST_CASE("an await that began in the file before is no row of its own") {
    trace_builder built;
    const auto timer = built.site("timer", "a.cpp", 2, coroscope::trace::site_kind::await);
    auto thread = built.on(1);
    for (std::uint64_t task = 1; task <= 30; ++task) {
        const std::int64_t at = 1'000 + static_cast<std::int64_t>(task) * 10'000;
        built.on(2).wake(at, task);
        thread.resume(at + 100, task).suspend(at + 200, task, timer);
        built.on(2).wake(at + 300, task);
        thread.resume(at + 400, task).finish(at + 500, task);
    }
    const auto run = analysis::summarize_run(load(built.lasts(400'000)), "trace.2.cst");
    REQUIRE(run.rows.size() == 1);
    CHECK(run.rows.front().name == "timer");
    CHECK(run.rows.front().calls == 30);
}
