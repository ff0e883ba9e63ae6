// SPDX-License-Identifier: Apache-2.0
#include "data_tables.hpp"

#include <algorithm>
#include <array>

namespace coroscope::analysis::inline data_tables {

std::span<const data_table> all_data_tables() noexcept {
    static const std::array tables{session_table,
                                   sites_table,
                                   threads_table,
                                   executors_table,
                                   objects_table,
                                   attributes_table,
                                   attribute_values_table,
                                   tasks_table,
                                   slices_table,
                                   awaits_table,
                                   scopes_table,
                                   notes_table,
                                   requests_table,
                                   path_segments_table,
                                   numbers_table,
                                   lock_waits_table,
                                   resource_waits_table,
                                   blocking_calls_table,
                                   thread_states_table,
                                   streams_table,
                                   stream_items_table,
                                   devices_table,
                                   device_activities_table,
                                   device_waits_table,
                                   device_ranges_table,
                                   memory_table};
    return tables;
}

const data_table* find_data_table(std::string_view name) noexcept {
    const auto tables = all_data_tables();
    const auto found = std::ranges::find(tables, name, &data_table::name);
    return found == tables.end() ? nullptr : &*found;
}

void write_string(const trace& from, row_sink& to, std::uint32_t string) {
    if (string < from.strings.size())
        to.text(from.strings[string]);
    else
        to.null();
}

// Waiting time was suspended or queued. A part of 0 beside it is unknown, as in the views.
void write_split(row_sink& to, const time_split& time) {
    to.integer(time.running_ns);
    for (const std::int64_t part : {time.suspended_ns, time.queued_ns})
        to.maybe(time.waiting_ns > 0 && part == 0 ? optional_ns() : part);
    to.integer(time.waiting_ns);
}

void write_states(row_sink& to, const state_times& times) {
    const bool nothing = times.known_ns() == 0 && times.unknown_ns != 0;
    for (const std::int64_t part : {times.on_cpu_ns, times.blocked_ns, times.preempted_ns})
        to.maybe(nothing ? optional_ns() : part);
    to.integer(times.unknown_ns);
}

}  // namespace coroscope::analysis::inline data_tables
