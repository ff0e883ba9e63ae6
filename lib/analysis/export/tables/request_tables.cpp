// SPDX-License-Identifier: Apache-2.0

// The tables of requests, their critical paths, and values.

#include <array>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/request_statistics.hpp>

#include "../../view/listing/request_cells.hpp"
#include "../../words/path_words.hpp"
#include "../../words/places.hpp"
#include "../../words/request_words.hpp"
#include "data_tables.hpp"

namespace coroscope::analysis::inline data_tables {
namespace {

constexpr std::array requests_columns{
    data_column{"id"},
    data_column{"type", column_type::text},
    data_column{"site"},
    data_column{"scope"},
    data_column{"task"},
    data_column{"thread"},
    data_column{"start_ns"},
    data_column{"end_ns"},
    data_column{"wall_ns"},
    data_column{"running_ns"},
    data_column{"suspended_ns"},
    data_column{"queued_ns"},
    data_column{"waiting_ns"},
    data_column{"on_cpu_ns"},
    data_column{"blocked_ns"},
    data_column{"preempted_ns"},
    data_column{"unknown_state_ns"},
    data_column{"deadline_ns"},
    data_column{"is_late"},
    data_column{"outcome", column_type::text},
    data_column{"is_whole"},
    data_column{"left_out"},
    data_column{"guessed"},
};

void write_request_time(row_sink& to, const request_time& time) {
    if (time.known) {
        write_split(to, time.time);
        write_states(to, time.states);
        return;
    }
    for (int unknown = 0; unknown < 8; ++unknown) to.null();
}

void write_requests(const trace& from, row_sink& to) {
    const request_list list = requests_of(from);
    const std::vector<request_time> times = times_of_requests(from, list.requests);
    for (std::size_t at = 0; at < list.requests.size() && !to.failed(); ++at) {
        const request_info& each = list.requests[at];
        to.integer(static_cast<std::int64_t>(each.id));
        to.text(request_name(from, each));
        to.reference(each.site, from.sites.size());
        to.reference(each.event, from.events.size());
        to.reference(each.task, from.tasks.size());
        to.reference(each.thread, from.threads.size());
        to.integer(each.start_ns);
        to.integer(each.end_ns);
        to.integer(each.wall_ns());
        write_request_time(to, times[at]);
        to.maybe(each.deadline_ns);
        to.flag(each.is_late());
        to.text(end_text(each));
        to.flag(each.is_whole());
        to.flag(each.left_out);
        to.flag(list.guessed);
        to.end_row();
    }
}

constexpr std::array path_segments_columns{
    data_column{"request"},
    data_column{"kind", column_type::text},
    data_column{"name", column_type::text},
    data_column{"start_ns"},
    data_column{"end_ns"},
    data_column{"length_ns"},
    data_column{"site"},
    data_column{"task"},
    data_column{"thread"},
    data_column{"scope"},
    data_column{"await"},
};

void write_segment(const trace& from, row_sink& to, std::uint64_t request,
                   const path_segment& each) {
    to.integer(static_cast<std::int64_t>(request));
    to.text(name_of(each.kind));
    to.text(segment_label(from, each));
    to.integer(each.start_ns);
    to.integer(each.end_ns);
    to.integer(each.length_ns());
    to.reference(segment_site(from, each), from.sites.size());
    to.reference(each.task, from.tasks.size());
    to.reference(each.thread, from.threads.size());
    to.reference(each.event, from.events.size());
    to.reference(each.await, from.awaits.size());
    to.end_row();
}

/// The segments of a request add up to its wall time. Requests that were left out have none.
void write_path_segments(const trace& from, row_sink& to) {
    std::vector<request_info> requests = requests_of(from).requests;
    std::erase_if(requests, [](const request_info& each) { return each.left_out; });
    std::size_t at = 0;
    for_each_critical_path(from, requests, {.blame = false}, [&](const critical_path& path) {
        for (const path_segment& each : path.segments) {
            if (to.failed()) return;
            write_segment(from, to, requests[at].id, each);
        }
        ++at;
    });
}

constexpr std::array numbers_columns{
    data_column{"id"},      data_column{"name", column_type::text},
    data_column{"site"},    data_column{"number", column_type::real},
    data_column{"time_ns"}, data_column{"thread"},
    data_column{"task"},    data_column{"scope"},
};

void write_numbers(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const value_info& each : from.values) {
        if (to.failed()) return;
        to.integer(++id);
        to.text(site_name(from, each.site));
        to.reference(each.site, from.sites.size());
        to.real(each.number);
        to.integer(each.time_ns);
        to.reference(each.thread, from.threads.size());
        to.reference(each.task, from.tasks.size());
        to.reference(each.scope, from.events.size());
        to.end_row();
    }
}

}  // namespace

const data_table requests_table{"requests", requests_columns, write_requests};
const data_table path_segments_table{"path_segments", path_segments_columns, write_path_segments};
const data_table numbers_table{"numbers", numbers_columns, write_numbers};

}  // namespace coroscope::analysis::inline data_tables
