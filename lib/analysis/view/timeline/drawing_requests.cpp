// SPDX-License-Identifier: Apache-2.0

// The lanes of the slowest requests, the slowest first: each request has a lane of its own, and in
// it the segments of its critical path.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "../../path/slowest_paths.hpp"
#include "../../words/path_words.hpp"
#include "../../words/request_words.hpp"
#include "../listing/request_cells.hpp"
#include "drawing.hpp"

namespace coroscope::analysis::inline timelines {

void drawing::draw_requests() {
    // Guessed requests have no lanes: to guess them takes memory for each task.
    const std::vector<request_info> requests =
        slowest_requests(from_.requests, most_request_timelines);
    if (requests.empty() || canvas_.failed()) return;
    const std::string name = from_.process_name.empty() ? "process" : from_.process_name;
    canvas_.name_process(requests_process(from_), name + ": slowest requests", 0);
    const std::vector<request_time> times = times_of_requests(from_, requests);
    std::uint32_t at = 0;
    for_each_critical_path(from_, requests, {.blame = false}, [&](const critical_path& path) {
        if (!canvas_.failed()) draw_request(requests[at], times[at], path, at);
        ++at;
    });
}

void drawing::draw_request(const request_info& request, const request_time& time,
                           const critical_path& path, std::uint32_t rank) {
    const lane_ref where = new_lane(requests_process(from_), rank + 1);
    canvas_.name_lane(where, std::to_string(rank + 1) + ". " + request_title(from_, request), rank);
    const std::string name = request_name(from_, request);
    bar& drawn = open(where, span_between(request.start_ns, request.end_ns), none,
                      names_.category(kind_of_bar::request_lane));
    drawn.own_name = name.empty() ? std::string_view("(unnamed)") : name;
    drawn.integer(argument::request, static_cast<std::int64_t>(request.id));
    add_task_id(drawn, argument::task, request.task);
    drawn.text(argument::state, end_text(request));
    add_place(drawn, request.site);
    if (time.known) add_split(drawn, time.time);
    if (time.known && running_) add_states(drawn, time.states);
    canvas_.draw(drawn);
    for (const path_segment& each : path.segments)
        if (each.length_ns() > 0) draw_segment(where, each);
}

void drawing::draw_segment(const lane_ref& where, const path_segment& segment) {
    std::string name(analysis::name_of(segment.kind));
    name.append(": ").append(segment_label(from_, segment));
    bar& drawn = open(where, span_between(segment.start_ns, segment.end_ns), none,
                      names_.category(kind_of_bar::path_segment));
    drawn.own_name = name;
    add_task_id(drawn, argument::task, segment.task);
    add_place(drawn, segment_site(from_, segment));
    canvas_.draw(drawn);
}

}  // namespace coroscope::analysis::inline timelines
