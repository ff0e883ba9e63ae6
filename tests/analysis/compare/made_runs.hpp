// SPDX-License-Identifier: Apache-2.0
#pragma once

// Summaries of runs that are written down, not recorded.

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/comparison.hpp>

namespace coroscope_tests {

namespace analysis = coroscope::analysis;

/// A scope with many calls, of which nearly none is disturbed.
inline analysis::run_row steady_row(std::string name, double low_ns, std::uint32_t line = 10) {
    analysis::run_row row;
    row.name = std::move(name);
    row.file = "src/service.cpp";
    row.line = line;
    row.time = {1000, low_ns, 1e-8, 10, 1};
    row.with_delay = row.time;
    row.calls = 1000;
    row.per_request = 1;
    return row;
}

inline analysis::run_row row_of(analysis::compared_kind kind, std::string name, double low_ns) {
    analysis::run_row row = steady_row(std::move(name), low_ns);
    row.kind = kind;
    if (kind == analysis::compared_kind::await) row.measured = analysis::compared_time::suspended;
    if (kind == analysis::compared_kind::request) row.measured = analysis::compared_time::wall;
    if (kind == analysis::compared_kind::executor) {
        row.measured = analysis::compared_time::queued;
        row.time.parts = 0;
        row.file.clear();
    }
    return row;
}

inline analysis::run_summary run_with(std::vector<analysis::run_row> rows) {
    analysis::run_summary run;
    run.title = "run.cst";
    run.rows = std::move(rows);
    run.requests = 1000;
    run.resolution_ns = 1;
    return run;
}

inline const analysis::comparison_row& row_named(const analysis::comparison& of,
                                                 std::string_view name) {
    const auto found = std::ranges::find(of.rows, name, &analysis::comparison_row::name);
    REQUIRE(found != of.rows.end());
    return *found;
}

inline analysis::comparison compare(const std::vector<analysis::run_summary>& before,
                                    const std::vector<analysis::run_summary>& after) {
    return analysis::compare_runs(before, after);
}

}  // namespace coroscope_tests
