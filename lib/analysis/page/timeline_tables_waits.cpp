// SPDX-License-Identifier: Apache-2.0

// The tables of waits for locks and resources, of blocking calls, of values and of devices.

#include "timeline_tables.hpp"

#include <algorithm>

#include <coroscope/analysis/blocking_statistics.hpp>
#include <fmt/format.h>

#include "../words/places.hpp"

namespace coroscope::analysis::inline pages {
namespace {

/// Writes rows of a list that are in the shown time.
template <class Entry>
class shown_table {
public:
    template <class TimeOf>
    shown_table(const page_input& input, table_target to, std::string_view table,
                const std::vector<Entry>& list, const TimeOf& time_of)
        : in_(input), from_(input.from), to_(to), list_(list) {
        for (std::uint32_t at = 0; at < list.size(); ++at) {
            const auto [from_ns, to_ns] = time_of(list[at]);
            if (input.shown.shows(from_ns, to_ns)) rows_.push_back(at);
        }
        to.tables.begin(table, rows_.size());
    }
    ~shown_table() { to_.tables.end(); }
    shown_table(const shown_table&) = delete;
    shown_table& operator=(const shown_table&) = delete;

    template <class Value>
    void column(const column_head& head, const Value& value) {
        to_.tables.column(head, [&](std::size_t row) { return value(list_[rows_[row]]); });
    }
    template <class Value>
    void thread(std::string_view name, const Value& value) {
        column({name, column_coding::maybe, "threads"},
               [&](const Entry& each) { return reference(value(each), from_.threads.size()); });
    }
    template <class Value>
    void task(std::string_view name, const Value& value) {
        column({name, column_coding::delta, "tasks"},
               [&](const Entry& each) { return in_.shown.tasks.row_of(value(each)); });
    }
    template <class Value>
    void scope(std::string_view name, const Value& value) {
        column({name, column_coding::delta, "scopes"},
               [&](const Entry& each) { return in_.shown.scopes.row_of(value(each)); });
    }
    template <class Value>
    void site(std::string_view name, const Value& value) {
        column({name, column_coding::maybe, "sites"},
               [&](const Entry& each) { return reference(value(each), from_.sites.size()); });
    }
    void times() {
        column({"start_ns", column_coding::delta}, [](const Entry& each) { return each.start_ns; });
        column({"length_ns"}, [](const Entry& each) { return each.end_ns - each.start_ns; });
    }

private:
    const page_input& in_;
    const trace& from_;
    table_target to_;
    const std::vector<Entry>& list_;
    std::vector<std::uint32_t> rows_;
};

constexpr auto time_of_entry = [](const auto& each) {
    return std::pair(each.start_ns, each.end_ns);
};

void write_page_locks(const page_input& input, table_target to) {
    shown_table<lock_wait> table(input, to, "locks", input.from.lock_waits, time_of_entry);
    table.times();
    table.column({"lock", column_coding::maybe, "names"}, [&](const lock_wait& each) {
        return to.names.number_of(fmt::format("{:#x}", each.address));
    });
    table.column({"kind", column_coding::byte, "lock_kinds"},
                 [](const lock_wait& each) { return static_cast<std::int64_t>(each.kind); });
    table.thread("thread", [](const lock_wait& each) { return each.waiter.thread; });
    table.task("task", [](const lock_wait& each) { return each.waiter.task; });
    table.scope("scope", [](const lock_wait& each) { return each.waiter.scope; });
    table.thread("holder_thread", [](const lock_wait& each) { return each.blamed().thread; });
    table.task("holder_task", [](const lock_wait& each) { return each.blamed().task; });
    table.scope("holder_scope", [](const lock_wait& each) { return each.blamed().scope; });
    table.column({"released_ns", column_coding::maybe},
                 [](const lock_wait& each) { return each.released_ns.value_or(-1); });
    table.column({"flags"}, [](const lock_wait& each) {
        return flag(each.gave_up, 1) | flag(each.began_before, 2);
    });
}

void write_page_resources(const page_input& input, table_target to) {
    shown_table<resource_wait> table(input, to, "resources", input.from.resource_waits,
                                     time_of_entry);
    table.times();
    table.column({"name", column_coding::maybe, "names"}, [&](const resource_wait& each) {
        return to.names.number_of(site_name(input.from, each.site));
    });
    table.site("site", [](const resource_wait& each) { return each.site; });
    table.thread("thread", [](const resource_wait& each) { return each.thread; });
    table.task("task", [](const resource_wait& each) { return each.task; });
    table.thread("holder_thread", [](const resource_wait& each) { return each.holder_thread; });
    table.task("holder_task", [](const resource_wait& each) { return each.holder_task; });
    table.scope("holder_scope", [](const resource_wait& each) { return each.holder_scope; });
    table.column({"released_ns", column_coding::maybe},
                 [](const resource_wait& each) { return each.released_ns.value_or(-1); });
    table.column({"flags"}, [](const resource_wait& each) {
        return flag(each.gave_up, 1) | flag(each.shared, 2) | flag(each.clipped, 4);
    });
}

void write_page_blocking(const page_input& input, table_target to) {
    shown_table<blocking_call> table(input, to, "blocking", input.from.blocking_calls,
                                     time_of_entry);
    table.times();
    table.column({"name", column_coding::maybe, "names"}, [&](const blocking_call& each) {
        std::string name(name_of_function(each.function));
        if (const std::string_view of = name_of_descriptor(each.descriptor); !of.empty())
            name.append(" of a ").append(of);
        return to.names.number_of(name);
    });
    table.thread("thread", [](const blocking_call& each) { return each.thread; });
    table.task("task", [](const blocking_call& each) { return each.task; });
    table.scope("scope", [](const blocking_call& each) { return each.scope; });
}

void write_page_values(const page_input& input, table_target to) {
    shown_table<value_info> table(
        input, to, "values", input.from.values,
        [](const value_info& each) { return std::pair(each.time_ns, each.time_ns); });
    table.column({"time_ns", column_coding::delta},
                 [](const value_info& each) { return each.time_ns; });
    table.column({"number", column_coding::real},
                 [](const value_info& each) { return each.number; });
    table.column({"name", column_coding::maybe, "names"}, [&](const value_info& each) {
        return to.names.number_of(site_name(input.from, each.site));
    });
    table.site("site", [](const value_info& each) { return each.site; });
    table.thread("thread", [](const value_info& each) { return each.thread; });
    table.task("task", [](const value_info& each) { return each.task; });
    table.scope("scope", [](const value_info& each) { return each.scope; });
}

void write_page_activities(const page_input& input, table_target to) {
    shown_table<device_activity> table(input, to, "activities", input.from.device_activities,
                                       time_of_entry);
    table.times();
    table.column({"name", column_coding::maybe, "names"},
                 [&](const device_activity& each) { return to.names.of_string(each.name); });
    table.column({"kind", column_coding::byte, "activity_kinds"},
                 [](const device_activity& each) { return static_cast<std::int64_t>(each.what); });
    table.column({"device", column_coding::maybe, "devices"}, [&](const device_activity& each) {
        return reference(each.device, input.from.devices.size());
    });
    table.column({"stream", column_coding::maybe},
                 [](const device_activity& each) { return reference(each.stream, none); });
    table.thread("thread", [](const device_activity& each) { return each.thread; });
    table.scope("scope", [](const device_activity& each) { return each.event; });
    table.task("task", [](const device_activity& each) { return each.task; });
}

}  // namespace

void write_wait_tables(const page_input& input, table_target to) {
    write_page_locks(input, to);
    write_page_resources(input, to);
    write_page_blocking(input, to);
    write_page_values(input, to);
    write_page_activities(input, to);
}

}  // namespace coroscope::analysis::inline pages
