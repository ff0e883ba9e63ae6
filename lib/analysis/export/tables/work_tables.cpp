// SPDX-License-Identifier: Apache-2.0

// The tables of the program's work: tasks, slices, awaits, scopes.

#include <array>

#include <coroscope/analysis/await_statistics.hpp>

#include "../../view/timeline/open_rows.hpp"
#include "../../words/await_names.hpp"
#include "../../words/places.hpp"
#include "data_tables.hpp"

namespace coroscope::analysis::inline data_tables {
namespace {

constexpr std::array tasks_columns{
    data_column{"id"},
    data_column{"number"},
    data_column{"name", column_type::text},
    data_column{"site"},
    data_column{"parent"},
    data_column{"awaiter"},
    data_column{"spawn_thread"},
    data_column{"executor"},
    data_column{"state", column_type::text},
    data_column{"spawn_ns"},
    data_column{"first_wake_ns"},
    data_column{"end_ns"},
    data_column{"running_ns"},
    data_column{"suspended_ns"},
    data_column{"queued_ns"},
    data_column{"waiting_ns"},
    data_column{"wall_ns"},
    data_column{"spawn_to_wake_ns"},
    data_column{"attribute"},
    data_column{"spawned_at", column_type::text},
    data_column{"older_than_session"},
    data_column{"losses"},
};

/// Of a task that is only named, nothing is known; of one that was never ready, no part is. A task
/// that was cancelled before it was ready has no time.
void write_task_times(row_sink& to, const task_info& task) {
    const bool has_none = task.state == task_state::cancelled && !task.losses;
    if (task.first_wake_ns || has_none) {
        write_split(to, task.time);
        to.integer(task.time.wall_ns());
        return;
    }
    for (int unknown = 0; unknown < 5; ++unknown) to.null();
}

void write_tasks(const trace& from, row_sink& to) {
    for (std::uint32_t task = 0; task < from.tasks.size() && !to.failed(); ++task) {
        const task_info& each = from.tasks[task];
        to.integer(std::int64_t{task} + 1);
        to.integer(static_cast<std::int64_t>(each.id));
        to.text(site_name(from, each.spawn_site));
        to.reference(each.spawn_site, from.sites.size());
        to.reference(each.parent, from.tasks.size());
        to.reference(each.awaiter, from.tasks.size());
        to.reference(each.spawn_thread, from.threads.size());
        to.reference(each.executor, from.executors.size());
        to.text(state_of(each));
        to.maybe(each.spawn_ns);
        to.maybe(each.first_wake_ns);
        to.maybe(each.end_ns);
        write_task_times(to, each);
        to.maybe(each.spawn_to_wake_ns);
        to.reference(each.attribute, from.attributes.size());
        to.maybe_text(spawn_place_text(from, each.spawn_place));
        to.flag(each.older_than_session);
        to.flag(each.losses);
        to.end_row();
    }
}

constexpr std::array slices_columns{
    data_column{"id"},         data_column{"task"},         data_column{"thread"},
    data_column{"start_ns"},   data_column{"end_ns"},       data_column{"on_cpu_ns"},
    data_column{"blocked_ns"}, data_column{"preempted_ns"}, data_column{"unknown_state_ns"},
};

void write_slices(const trace& from, row_sink& to) {
    for (std::uint32_t index = 0; index < from.slices.size() && !to.failed(); ++index) {
        const slice& each = from.slices[index];
        to.integer(std::int64_t{index} + 1);
        to.reference(each.task, from.tasks.size());
        to.reference(each.thread, from.threads.size());
        to.integer(each.start_ns);
        to.integer(each.end_ns);
        write_states(to, from.states.between(each.thread, each.start_ns, each.end_ns));
        to.end_row();
    }
}

constexpr std::array awaits_columns{
    data_column{"id"},
    data_column{"task"},
    data_column{"name", column_type::text},
    data_column{"site"},
    data_column{"scope"},
    data_column{"awaited"},
    data_column{"waker"},
    data_column{"waker_thread"},
    data_column{"executor"},
    data_column{"object"},
    data_column{"suspend_ns"},
    data_column{"wake_ns"},
    data_column{"resume_ns"},
    data_column{"length_ns"},
    data_column{"suspended_ns"},
    data_column{"queued_ns"},
    data_column{"waiting_ns"},
    data_column{"wake", column_type::text},
    data_column{"resumed", column_type::text},
    data_column{"outcome", column_type::text},
    data_column{"handed_over"},
    data_column{"clipped"},
};

/// The wake of an await with waiting time is unknown, and so are its suspended and queued time.
void write_await_times(row_sink& to, const time_split& split) {
    to.integer(split.wall_ns());
    for (const std::int64_t part : {split.suspended_ns, split.queued_ns})
        to.maybe(split.waiting_ns > 0 && part == 0 ? optional_ns() : part);
    to.integer(split.waiting_ns);
}

void write_awaits(const trace& from, row_sink& to) {
    for (std::uint32_t index = 0; index < from.awaits.size() && !to.failed(); ++index) {
        const await_info& each = from.awaits[index];
        const time_split split = split_of(from, each);
        to.integer(std::int64_t{index} + 1);
        to.reference(each.task, from.tasks.size());
        to.text(await_title(from, each));
        to.reference(await_place(from, each), from.sites.size());
        to.reference(each.scope, from.events.size());
        to.reference(each.awaited, from.tasks.size());
        to.reference(each.waker, from.tasks.size());
        to.reference(each.waker_thread, from.threads.size());
        to.reference(each.executor, from.executors.size());
        to.reference(each.object, from.objects.size());
        to.integer(each.suspend_ns);
        to.maybe(each.wake_ns);
        to.maybe(each.resume_ns);
        write_await_times(to, split);
        to.text(wake_text(from, each));
        to.text(resumed_text(each));
        to.text(outcome_name(each.outcome));
        to.flag(each.handed_over);
        to.flag(each.clipped);
        to.end_row();
    }
}

constexpr std::array scopes_columns{
    data_column{"id"},
    data_column{"name", column_type::text},
    data_column{"category", column_type::text},
    data_column{"site"},
    data_column{"thread"},
    data_column{"end_thread"},
    data_column{"task"},
    data_column{"parent"},
    data_column{"start_ns"},
    data_column{"end_ns"},
    data_column{"wall_ns"},
    data_column{"running_ns"},
    data_column{"suspended_ns"},
    data_column{"queued_ns"},
    data_column{"waiting_ns"},
    data_column{"self_running_ns"},
    data_column{"nested"},
    data_column{"arguments", column_type::text},
    data_column{"attribute"},
    data_column{"is_range"},
    data_column{"is_await"},
    data_column{"clipped"},
    data_column{"abandoned"},
    data_column{"open"},
    data_column{"left_out"},
    data_column{"suspension_unknown"},
};

/// If a scope's suspension is unknown, all parts but its waiting time are, too.
void write_scope_times(row_sink& to, const event& scope, const time_split& time) {
    if ((scope.flags & event_suspension_unknown) == 0) {
        write_split(to, time);
        to.integer(scope.self_running_ns);
        return;
    }
    for (int unknown = 0; unknown < 3; ++unknown) to.null();
    to.integer(time.waiting_ns);
    to.null();
}

void write_scope(const trace& from, row_sink& to, std::uint32_t index, bool is_nested) {
    const event& each = from.events[index];
    const event_detail* const detail =
        each.detail < from.details.size() ? &from.details[each.detail] : nullptr;
    const std::int64_t wall_ns = each.end_ns - each.start_ns;
    const site_info* const site = find_site(from, each.site);
    to.integer(std::int64_t{index} + 1);
    write_string(from, to, each.name);
    to.maybe_text(site == nullptr ? std::string_view() : std::string_view(site->category));
    to.reference(each.site, from.sites.size());
    to.reference(each.thread, from.threads.size());
    to.reference(detail == nullptr ? each.thread : detail->end_thread, from.threads.size());
    to.reference(each.task, from.tasks.size());
    to.reference(each.parent, from.events.size());
    to.integer(each.start_ns);
    to.integer(each.end_ns);
    to.integer(wall_ns);
    write_scope_times(to, each,
                      detail == nullptr ? time_split{.running_ns = wall_ns} : detail->time);
    to.flag(is_nested);
    write_string(from, to, detail == nullptr ? none : detail->arguments);
    to.reference(each.attribute, from.attributes.size());
    for (const event_flags flag : {event_explicit, event_await, event_clipped, event_abandoned,
                                   event_open, event_left_out, event_suspension_unknown})
        to.flag((each.flags & flag) != 0);
    to.end_row();
}

void write_scopes(const trace& from, row_sink& to) {
    open_rows nesting(from);
    for (std::uint32_t index = 0; index < from.events.size() && !to.failed(); ++index)
        write_scope(from, to, index, nesting.take(index));
}

constexpr std::array notes_columns{
    data_column{"scope"},
    data_column{"input_shapes", column_type::text},
    data_column{"input_strides", column_type::text},
    data_column{"input_types", column_type::text},
    data_column{"concrete_inputs", column_type::text},
    data_column{"sequence_number"},
};

void write_notes(const trace& from, row_sink& to) {
    for (const event_note& each : from.notes) {
        if (to.failed()) return;
        to.reference(each.event, from.events.size());
        for (const std::uint32_t text :
             {each.input_shapes, each.input_strides, each.input_types, each.concrete_inputs})
            write_string(from, to, text);
        to.maybe(each.sequence_number < 0 ? optional_ns() : each.sequence_number);
        to.end_row();
    }
}

}  // namespace

const data_table tasks_table{"tasks", tasks_columns, write_tasks};
const data_table slices_table{"slices", slices_columns, write_slices};
const data_table awaits_table{"awaits", awaits_columns, write_awaits};
const data_table scopes_table{"scopes", scopes_columns, write_scopes};
const data_table notes_table{"notes", notes_columns, write_notes};

}  // namespace coroscope::analysis::inline data_tables
