// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <coroscope/analysis/comparison.hpp>

#include "rows.hpp"

namespace coroscope::analysis {
namespace {

/// The differences between times show the resolution of the clock; the least one of all rows is
/// nearest to it.
double resolution_of_run(const std::vector<run_row>& rows) {
    double least_ns = 0;
    for (const run_row& each : rows) {
        const double found_ns = each.time.resolution_ns;
        if (found_ns != 0 && (least_ns == 0 || found_ns < least_ns)) least_ns = found_ns;
    }
    return least_ns;
}

void take_facts(run_summary& run, const trace& loaded) {
    const trace_health& health = loaded.health;
    run.process_name = loaded.process_name;
    run.clock = loaded.clock;
    run.categories = loaded.categories;
    run.features = loaded.asked_for;
    run.all_threads = loaded.all_threads;
    run.asio_tracked = health.asio_version != 0 || health.boost_asio_version != 0;
    run.states_known = loaded.states.any() &&
                       loaded.states.source == coroscope::trace::thread_state_source::switches;
    run.damaged = health.damaged_chunks != 0 || health.partial || health.write_error != 0;
    run.finished = health.finished;
    run.lost = health.dropped_newest + health.late_records;
    run.overwritten = health.overwritten;
    run.left_out_requests = health.left_out_requests;
    run.samples_requests = loaded.sampling.is_on() || health.left_out_requests != 0;
    run.scope_cost_ns = loaded.scope_cost_ns;
}

}  // namespace

run_summary summarize_run(const trace& loaded, std::string title) {
    run_summary run;
    run.title = std::move(title);
    take_facts(run, loaded);
    const request_list list = requests_of(loaded);
    run.requests_guessed = list.guessed;
    run.requests =
        static_cast<std::uint64_t>(std::ranges::count_if(list.requests, &request_info::is_whole));
    // Calls are counted in requests that are recorded in full.
    const auto in_full = static_cast<double>(std::ranges::count_if(
        list.requests, [](const request_info& each) { return each.is_whole() && !each.left_out; }));
    const work_of_requests work(loaded, list);
    run.rows = rows_of_scopes(loaded, work, in_full);
    for (auto& rows : {rows_of_awaits(loaded, work, in_full), rows_of_requests(loaded, list),
                       rows_of_executors(loaded, in_full)})
        run.rows.insert(run.rows.end(), rows.begin(), rows.end());
    run.resolution_ns = resolution_of_run(run.rows);
    return run;
}

}  // namespace coroscope::analysis
