// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <coroscope/analysis/executor_statistics.hpp>

#include "../words/places.hpp"
#include "../words/request_words.hpp"
#include "call_times.hpp"

namespace coroscope::analysis::inline compare {
namespace {

struct collected_type {
    run_row row;
    std::vector<std::int64_t> times_ns;
};

/// The numbers of executors may differ from run to run, so executors without a name are compared by
/// kind.
std::string name_between_runs(const trace& loaded, const executor_statistics& of) {
    const executor_info& info = loaded.executors[of.executor];
    return info.name.empty() ? std::string(name_of_kind(info.kind)) : info.name;
}

}  // namespace

std::vector<run_row> rows_of_requests(const trace& loaded, const request_list& list) {
    std::map<std::string, collected_type> types;
    for (const request_info& each : list.requests) {
        const std::string name = request_name(loaded, each);
        auto [found, is_new] = types.try_emplace(name);
        collected_type& type = found->second;
        if (is_new) {
            type.row.kind = compared_kind::request;
            type.row.measured = compared_time::wall;
            type.row.name = name;
            set_place(type.row, loaded, each.site);
        }
        type.row.calls += 1;
        if (each.is_whole()) type.times_ns.push_back(std::max<std::int64_t>(each.wall_ns(), 0));
    }
    std::vector<run_row> rows;
    for (auto& [name, type] : types) {
        type.row.time = call_times_of(type.times_ns);
        type.row.per_request = static_cast<double>(type.row.time.count);
        rows.push_back(std::move(type.row));
    }
    double whole = 0;
    for (const run_row& each : rows) whole += each.per_request;
    for (run_row& each : rows) each.per_request = whole == 0 ? 0 : each.per_request / whole;
    return rows;
}

std::vector<run_row> rows_of_executors(const trace& loaded, double requests) {
    struct sums {
        double jobs = 0;
        double queued_ns = 0;
    };
    std::map<std::string, sums> executors;
    for (const executor_statistics& each : statistics_of_executors(loaded)) {
        sums& of = executors[name_between_runs(loaded, each)];
        of.jobs += static_cast<double>(each.jobs);
        of.queued_ns += static_cast<double>(each.queued_while_busy_ns);
    }
    std::vector<run_row> rows;
    for (const auto& [name, of] : executors) {
        if (of.jobs == 0) continue;
        run_row& row = rows.emplace_back();
        row.kind = compared_kind::executor;
        row.measured = compared_time::queued;
        row.name = name;
        row.calls = of.jobs;
        row.time.count = static_cast<std::uint64_t>(of.jobs);
        row.time.low_ns = of.queued_ns / of.jobs;
        row.per_request = requests == 0 ? 0 : of.jobs / requests;
    }
    return rows;
}

}  // namespace coroscope::analysis::inline compare
