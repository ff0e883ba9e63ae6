// SPDX-License-Identifier: Apache-2.0

// The tables of waits beside awaits: locks, resources, blocking calls, the states of threads.

#include <array>

#include <coroscope/analysis/blocking_statistics.hpp>
#include <coroscope/analysis/lock_statistics.hpp>
#include <fmt/format.h>

#include "../../words/places.hpp"
#include "data_tables.hpp"

namespace coroscope::analysis::inline data_tables {
namespace {

constexpr std::array lock_waits_columns{
    data_column{"id"},
    data_column{"lock", column_type::text},
    data_column{"address", column_type::text},
    data_column{"start_ns"},
    data_column{"end_ns"},
    data_column{"released_ns"},
    data_column{"thread"},
    data_column{"task"},
    data_column{"scope"},
    data_column{"holder_os_id"},
    data_column{"holder_thread"},
    data_column{"holder_task"},
    data_column{"holder_scope"},
    data_column{"releaser_thread"},
    data_column{"releaser_task"},
    data_column{"releaser_scope"},
    data_column{"gave_up"},
    data_column{"began_before"},
};

void write_work(const trace& from, row_sink& to, const thread_work& work) {
    to.reference(work.thread, from.threads.size());
    to.reference(work.task, from.tasks.size());
    to.reference(work.scope, from.events.size());
}

void write_lock_waits(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const lock_wait& each : from.lock_waits) {
        if (to.failed()) return;
        to.integer(++id);
        to.text(name_of_lock(each.kind));
        to.text(fmt::format("{:#x}", each.address));
        to.integer(each.start_ns);
        to.integer(each.end_ns);
        to.maybe(each.released_ns);
        write_work(from, to, each.waiter);
        to.maybe(each.holder_os_id == 0 ? optional_ns()
                                        : static_cast<std::int64_t>(each.holder_os_id));
        write_work(from, to, each.holder);
        write_work(from, to, each.releaser);
        to.flag(each.gave_up);
        to.flag(each.began_before);
        to.end_row();
    }
}

constexpr std::array resource_waits_columns{
    data_column{"id"},
    data_column{"name", column_type::text},
    data_column{"site"},
    data_column{"instance"},
    data_column{"capacity"},
    data_column{"start_ns"},
    data_column{"end_ns"},
    data_column{"released_ns"},
    data_column{"task"},
    data_column{"thread"},
    data_column{"holder_task"},
    data_column{"holder_thread"},
    data_column{"holder_scope"},
    data_column{"releaser_task"},
    data_column{"releaser_thread"},
    data_column{"gave_up"},
    data_column{"shared"},
    data_column{"clipped"},
};

void write_resource_waits(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const resource_wait& each : from.resource_waits) {
        if (to.failed()) return;
        to.integer(++id);
        to.text(site_name(from, each.site));
        to.reference(each.site, from.sites.size());
        to.integer(each.instance);
        to.maybe(each.capacity == 0 ? optional_ns() : each.capacity);
        to.integer(each.start_ns);
        to.integer(each.end_ns);
        to.maybe(each.released_ns);
        to.reference(each.task, from.tasks.size());
        to.reference(each.thread, from.threads.size());
        to.reference(each.holder_task, from.tasks.size());
        to.reference(each.holder_thread, from.threads.size());
        to.reference(each.holder_scope, from.events.size());
        to.reference(each.releaser_task, from.tasks.size());
        to.reference(each.releaser_thread, from.threads.size());
        to.flag(each.gave_up);
        to.flag(each.shared);
        to.flag(each.clipped);
        to.end_row();
    }
}

constexpr std::array blocking_calls_columns{
    data_column{"id"},
    data_column{"function", column_type::text},
    data_column{"descriptor", column_type::text},
    data_column{"start_ns"},
    data_column{"end_ns"},
    data_column{"thread"},
    data_column{"task"},
    data_column{"scope"},
};

void write_blocking_calls(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const blocking_call& each : from.blocking_calls) {
        if (to.failed()) return;
        to.integer(++id);
        to.text(name_of_function(each.function));
        to.maybe_text(name_of_descriptor(each.descriptor));
        to.integer(each.start_ns);
        to.integer(each.end_ns);
        to.reference(each.thread, from.threads.size());
        to.reference(each.task, from.tasks.size());
        to.reference(each.scope, from.events.size());
        to.end_row();
    }
}

constexpr std::array thread_states_columns{
    data_column{"thread"},
    data_column{"state", column_type::text},
    data_column{"start_ns"},
    data_column{"end_ns"},
};

std::string_view state_text(thread_state state) {
    switch (state) {
        case thread_state::on_cpu: return "on-CPU";
        case thread_state::blocked: return "blocked";
        case thread_state::preempted: return "preempted";
        case thread_state::unknown: break;
    }
    return "unknown";
}

void write_thread_states(const trace& from, row_sink& to) {
    for (std::uint32_t thread = 0; thread < from.states.histories.size(); ++thread) {
        const std::vector<state_point>& points = from.states.histories[thread].points;
        for (std::size_t at = 1; at < points.size() && !to.failed(); ++at) {
            to.reference(thread, from.threads.size());
            to.text(state_text(points[at - 1].state));
            to.integer(points[at - 1].time_ns);
            to.integer(points[at].time_ns);
            to.end_row();
        }
    }
}

}  // namespace

const data_table lock_waits_table{"lock_waits", lock_waits_columns, write_lock_waits};
const data_table resource_waits_table{"resource_waits", resource_waits_columns,
                                      write_resource_waits};
const data_table blocking_calls_table{"blocking_calls", blocking_calls_columns,
                                      write_blocking_calls};
const data_table thread_states_table{"thread_states", thread_states_columns, write_thread_states};

}  // namespace coroscope::analysis::inline data_tables
