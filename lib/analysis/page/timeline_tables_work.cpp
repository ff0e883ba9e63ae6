// SPDX-License-Identifier: Apache-2.0

// The tables of scopes, tasks, slices and awaits.

#include "timeline_tables.hpp"

#include "../words/await_names.hpp"

namespace coroscope::analysis::inline pages {
namespace {

class work_writer {
public:
    work_writer(const page_input& input, table_target to)
        : from_(input.from), shown_(input.shown), to_(to) {}

    void write() {
        write_scopes();
        write_parts();
        write_tasks();
        write_slices();
        write_awaits();
    }

private:
    template <class Value>
    void scope_column(const column_head& head, const Value& value) {
        to_.tables.column(head,
                          [&](std::size_t row) { return value(from_.events[shown_.scopes[row]]); });
    }

    void write_scopes() {
        to_.tables.begin("scopes", shown_.scopes.size());
        scope_column({"start_ns", column_coding::delta},
                     [](const event& each) { return each.start_ns; });
        scope_column({"length_ns"}, [](const event& each) { return each.end_ns - each.start_ns; });
        scope_column({"self_ns"}, [](const event& each) { return each.self_running_ns; });
        scope_column({"name", column_coding::maybe, "names"},
                     [this](const event& each) { return to_.names.of_string(each.name); });
        scope_column({"site", column_coding::maybe, "sites"}, [this](const event& each) {
            return reference(each.site, from_.sites.size());
        });
        scope_column({"thread", column_coding::maybe, "threads"}, [this](const event& each) {
            return reference(each.thread, from_.threads.size());
        });
        scope_column({"task", column_coding::delta, "tasks"},
                     [this](const event& each) { return shown_.tasks.row_of(each.task); });
        scope_column({"parent", column_coding::back, "scopes"},
                     [this](const event& each) { return shown_.scopes.row_of(each.parent); });
        write_scope_facts();
        to_.tables.end();
    }

    void write_scope_facts() {
        std::vector<bool> requests(from_.events.size());
        for (const request_info& each : from_.requests)
            if (each.event < requests.size()) requests[each.event] = true;
        to_.tables.column({"flags"}, [&](std::size_t row) {
            const std::uint32_t at = shown_.scopes[row];
            const std::uint16_t flags = from_.events[at].flags;
            return flag((flags & (event_explicit | event_async)) != 0, 1) |
                   flag((flags & event_clipped) != 0, 2) | flag((flags & event_open) != 0, 4) |
                   flag((flags & event_abandoned) != 0, 8) |
                   flag((flags & event_suspension_unknown) != 0, 16) |
                   flag((flags & event_left_out) != 0, 32) | flag(requests[at], 64);
        });
        scope_column({"attributes", column_coding::maybe, "names"},
                     [this](const event& each) { return to_.names.of_attribute(each.attribute); });
        scope_column({"arguments", column_coding::maybe, "names"}, [this](const event& each) {
            return each.detail < from_.details.size()
                       ? to_.names.of_string(from_.details[each.detail].arguments)
                       : -1;
        });
    }

    /// The scopes with suspended, queued or waiting time.
    void write_parts() {
        std::vector<std::uint32_t> rows;
        for (std::uint32_t row = 0; row < shown_.scopes.size(); ++row) {
            const std::uint32_t detail = from_.events[shown_.scopes[row]].detail;
            if (detail >= from_.details.size()) continue;
            const time_split& time = from_.details[detail].time;
            if (time.suspended_ns != 0 || time.queued_ns != 0 || time.waiting_ns != 0)
                rows.push_back(row);
        }
        const auto time_of = [&](std::size_t row) -> const time_split& {
            return from_.details[from_.events[shown_.scopes[rows[row]]].detail].time;
        };
        to_.tables.begin("parts", rows.size());
        to_.tables.column({"scope", column_coding::delta, "scopes"},
                          [&](std::size_t row) { return rows[row]; });
        write_split(time_of);
        to_.tables.end();
    }

    template <class TimeOf>
    void write_split(const TimeOf& time_of) {
        to_.tables.column({"running_ns"}, [&](std::size_t row) { return time_of(row).running_ns; });
        to_.tables.column({"suspended_ns"},
                          [&](std::size_t row) { return time_of(row).suspended_ns; });
        to_.tables.column({"queued_ns"}, [&](std::size_t row) { return time_of(row).queued_ns; });
        to_.tables.column({"waiting_ns"}, [&](std::size_t row) { return time_of(row).waiting_ns; });
    }

    template <class Value>
    void task_column(const column_head& head, const Value& value) {
        to_.tables.column(head, [&](std::size_t row) {
            const task_info task = from_.tasks[shown_.tasks[row]];
            return value(task);
        });
    }

    void write_tasks() {
        to_.tables.begin("tasks", shown_.tasks.size());
        task_column({"id", column_coding::delta},
                    [](const task_info& each) { return static_cast<std::int64_t>(each.id); });
        task_column({"name", column_coding::maybe, "names"}, [this](const task_info& each) {
            return to_.names.number_of(site_name(from_, each.spawn_site));
        });
        task_column({"site", column_coding::maybe, "sites"}, [this](const task_info& each) {
            return reference(each.spawn_site, from_.sites.size());
        });
        task_column({"parent", column_coding::delta, "tasks"},
                    [this](const task_info& each) { return shown_.tasks.row_of(each.parent); });
        task_column({"awaiter", column_coding::delta, "tasks"},
                    [this](const task_info& each) { return shown_.tasks.row_of(each.awaiter); });
        task_column({"executor", column_coding::maybe, "executors"}, [this](const task_info& each) {
            return reference(each.executor, from_.executors.size());
        });
        task_column({"spawn_thread", column_coding::maybe, "threads"},
                    [this](const task_info& each) {
                        return reference(each.spawn_thread, from_.threads.size());
                    });
        write_task_times();
        to_.tables.end();
    }

    void write_task_times() {
        task_column({"spawn_ns", column_coding::delta},
                    [](const task_info& each) { return each.spawn_ns.value_or(-1); });
        task_column({"wake_ns", column_coding::delta},
                    [](const task_info& each) { return each.first_wake_ns.value_or(-1); });
        task_column({"end_ns", column_coding::delta},
                    [](const task_info& each) { return each.end_ns.value_or(-1); });
        task_column({"state", column_coding::byte, "task_states"}, [](const task_info& each) {
            return static_cast<std::int64_t>(is_named_only(each) ? task_state::unknown
                                                                 : each.state);
        });
        write_split([this](std::size_t row) {
            const task_info task = from_.tasks[shown_.tasks[row]];
            return task.time;
        });
        task_column({"attributes", column_coding::maybe, "names"}, [this](const task_info& each) {
            return to_.names.of_attribute(each.attribute);
        });
        task_column({"spawned_at", column_coding::maybe, "names"}, [this](const task_info& each) {
            const std::string text = spawn_place_text(from_, each.spawn_place);
            return text.empty() ? -1 : to_.names.number_of(text);
        });
    }

    template <class Value>
    void slice_column(const column_head& head, const Value& value) {
        to_.tables.column(head, [&](std::size_t row) {
            const slice run = from_.slices[shown_.slices[row]];
            return value(run);
        });
    }

    void write_slices() {
        to_.tables.begin("slices", shown_.slices.size());
        slice_column({"start_ns", column_coding::delta},
                     [](const slice& each) { return each.start_ns; });
        slice_column({"length_ns"}, [](const slice& each) { return each.end_ns - each.start_ns; });
        slice_column({"task", column_coding::delta, "tasks"},
                     [this](const slice& each) { return shown_.tasks.row_of(each.task); });
        slice_column({"thread", column_coding::maybe, "threads"}, [this](const slice& each) {
            return reference(each.thread, from_.threads.size());
        });
        to_.tables.end();
    }

    template <class Value>
    void await_column(const column_head& head, const Value& value) {
        to_.tables.column(head, [&](std::size_t row) {
            const await_info await = from_.awaits[shown_.awaits[row]];
            return value(await);
        });
    }

    void write_awaits() {
        to_.tables.begin("awaits", shown_.awaits.size());
        await_column({"task", column_coding::delta, "tasks"},
                     [this](const await_info& each) { return shown_.tasks.row_of(each.task); });
        await_column({"name", column_coding::maybe, "names"}, [this](const await_info& each) {
            return to_.names.number_of(await_title(from_, each));
        });
        await_column({"site", column_coding::maybe, "sites"}, [this](const await_info& each) {
            return reference(await_place(from_, each), from_.sites.size());
        });
        await_column({"scope", column_coding::delta, "scopes"},
                     [this](const await_info& each) { return shown_.scopes.row_of(each.scope); });
        await_column({"start_ns", column_coding::delta},
                     [](const await_info& each) { return each.suspend_ns; });
        await_column({"wake_ns", column_coding::delta},
                     [](const await_info& each) { return each.wake_ns.value_or(-1); });
        await_column({"resume_ns", column_coding::delta},
                     [](const await_info& each) { return each.resume_ns.value_or(-1); });
        write_await_facts();
        to_.tables.end();
    }

    void write_await_facts() {
        await_column({"awaited", column_coding::delta, "tasks"},
                     [this](const await_info& each) { return shown_.tasks.row_of(each.awaited); });
        await_column({"waker", column_coding::delta, "tasks"},
                     [this](const await_info& each) { return shown_.tasks.row_of(each.waker); });
        await_column({"waker_thread", column_coding::maybe, "threads"},
                     [this](const await_info& each) {
                         return reference(each.waker_thread, from_.threads.size());
                     });
        await_column({"reason", column_coding::byte, "wake_reasons"},
                     [](const await_info& each) { return static_cast<std::int64_t>(each.reason); });
        await_column({"outcome", column_coding::byte, "outcomes"}, [](const await_info& each) {
            return static_cast<std::int64_t>(each.outcome);
        });
        await_column({"object", column_coding::maybe, "names"}, [this](const await_info& each) {
            return each.object < from_.objects.size()
                       ? to_.names.number_of(object_name(from_, each.object))
                       : -1;
        });
        await_column({"executor", column_coding::maybe, "executors"},
                     [this](const await_info& each) {
                         return reference(each.executor, from_.executors.size());
                     });
        await_column({"flags"}, [](const await_info& each) {
            return flag(each.clipped, 1) | flag(each.handed_over, 2) | flag(each.at_once, 4) |
                   flag(each.resume_overdue, 8) | flag(each.reason == wake_reason::noticed, 16);
        });
    }

    const trace& from_;
    const shown_rows& shown_;
    table_target to_;
};

}  // namespace

void write_work_tables(const page_input& input, table_target to) { work_writer(input, to).write(); }

}  // namespace coroscope::analysis::inline pages
