// SPDX-License-Identifier: Apache-2.0

// The tables of devices and memory, and of streams of items.

#include <array>

#include "../../words/places.hpp"
#include "data_tables.hpp"

namespace coroscope::analysis::inline data_tables {
namespace {

/// A number of the trace that may be `none`.
void write_number(row_sink& to, std::uint32_t number) {
    to.maybe(number == none ? optional_ns() : number);
}

constexpr std::array streams_columns{
    data_column{"id"},       data_column{"name", column_type::text},
    data_column{"task"},     data_column{"thread"},
    data_column{"start_ns"}, data_column{"end_ns"},
};

void write_streams(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const stream_info& each : from.streams) {
        to.integer(++id);
        write_string(from, to, each.name);
        to.reference(each.task, from.tasks.size());
        to.reference(each.thread, from.threads.size());
        to.integer(each.start_ns);
        to.maybe(each.end_ns);
        to.end_row();
    }
}

constexpr std::array stream_items_columns{
    data_column{"stream"},
    data_column{"number"},
    data_column{"time_ns"},
};

void write_stream_items(const trace& from, row_sink& to) {
    for (std::uint32_t stream = 0; stream < from.streams.size() && !to.failed(); ++stream) {
        for (const std::uint32_t item : from.streams[stream].items) {
            to.reference(stream, from.streams.size());
            to.integer(static_cast<std::int64_t>(from.stream_items[item].number));
            to.integer(from.stream_items[item].time_ns);
            to.end_row();
        }
    }
}

constexpr std::array devices_columns{
    data_column{"id"},
    data_column{"number"},
    data_column{"name", column_type::text},
};

void write_devices(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const device_info& each : from.devices) {
        to.integer(++id);
        to.integer(each.id);
        to.text(each.name);
        to.end_row();
    }
}

constexpr std::array device_activities_columns{
    data_column{"id"},
    data_column{"kind", column_type::text},
    data_column{"name", column_type::text},
    data_column{"device"},
    data_column{"context"},
    data_column{"stream"},
    data_column{"start_ns"},
    data_column{"end_ns"},
    data_column{"queued_ns"},
    data_column{"bytes"},
    data_column{"correlation"},
    data_column{"call"},
    data_column{"task"},
    data_column{"thread"},
    data_column{"scope"},
};

std::string_view activity_text(coroscope::trace::device_activity what) {
    using coroscope::trace::device_activity;
    switch (what) {
        case device_activity::kernel: return "kernel";
        case device_activity::copy: return "copy";
        case device_activity::set: return "set";
        case device_activity::runtime_call: return "runtime_call";
        case device_activity::driver_call: return "driver_call";
        case device_activity::synchronization: return "synchronization";
        case device_activity::overhead: return "overhead";
        case device_activity::allocated: return "allocated";
        case device_activity::released: return "released";
        case device_activity::dependency: return "dependency";
    }
    return "other";
}

void write_device_activities(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const device_activity& each : from.device_activities) {
        if (to.failed()) return;
        to.integer(++id);
        to.text(activity_text(each.what));
        write_string(from, to, each.name);
        to.reference(each.device, from.devices.size());
        write_number(to, each.context);
        write_number(to, each.stream);
        to.integer(each.start_ns);
        to.integer(each.end_ns);
        to.maybe(each.queued_ns);
        to.integer(each.bytes);
        to.integer(each.correlation);
        to.reference(each.call, from.device_activities.size());
        to.reference(each.task, from.tasks.size());
        to.reference(each.thread, from.threads.size());
        to.reference(each.event, from.events.size());
        to.end_row();
    }
}

constexpr std::array device_waits_columns{
    data_column{"await"},   data_column{"task"},     data_column{"context"},
    data_column{"stream"},  data_column{"is_event"}, data_column{"is_indirect"},
    data_column{"time_ns"},
};

void write_device_waits(const trace& from, row_sink& to) {
    for (const device_wait& each : from.device_waits) {
        if (to.failed()) return;
        to.reference(each.await, from.awaits.size());
        to.reference(each.task, from.tasks.size());
        write_number(to, each.context);
        write_number(to, each.stream);
        to.flag(each.is_event);
        to.flag(each.is_indirect);
        to.integer(each.time_ns);
        to.end_row();
    }
}

constexpr std::array device_ranges_columns{
    data_column{"id"},          data_column{"name", column_type::text},
    data_column{"task"},        data_column{"thread"},
    data_column{"scope"},       data_column{"context"},
    data_column{"stream"},      data_column{"start_ns"},
    data_column{"attached_ns"}, data_column{"end_ns"},
};

void write_device_ranges(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const device_range& each : from.device_ranges) {
        if (to.failed()) return;
        to.integer(++id);
        write_string(from, to, each.name);
        to.reference(each.task, from.tasks.size());
        to.reference(each.thread, from.threads.size());
        to.reference(each.event, from.events.size());
        write_number(to, each.context);
        write_number(to, each.stream);
        to.integer(each.start_ns);
        to.integer(each.attached_ns);
        to.maybe(each.end_ns);
        to.end_row();
    }
}

constexpr std::array memory_columns{
    data_column{"time_ns"},         data_column{"bytes"},          data_column{"address"},
    data_column{"total_allocated"}, data_column{"total_reserved"}, data_column{"thread"},
    data_column{"out_of_memory"},
};

void write_memory(const trace& from, row_sink& to) {
    for (const memory_event& each : from.memory) {
        if (to.failed()) return;
        to.integer(each.time_ns);
        to.integer(each.bytes);
        to.integer(static_cast<std::int64_t>(each.address));
        to.integer(each.total_allocated);
        to.integer(each.total_reserved);
        to.reference(each.thread, from.threads.size());
        to.flag(each.out_of_memory);
        to.end_row();
    }
}

}  // namespace

const data_table streams_table{"streams", streams_columns, write_streams};
const data_table stream_items_table{"stream_items", stream_items_columns, write_stream_items};
const data_table devices_table{"devices", devices_columns, write_devices};
const data_table device_activities_table{"device_activities", device_activities_columns,
                                         write_device_activities};
const data_table device_waits_table{"device_waits", device_waits_columns, write_device_waits};
const data_table device_ranges_table{"device_ranges", device_ranges_columns, write_device_ranges};
const data_table memory_table{"memory", memory_columns, write_memory};

}  // namespace coroscope::analysis::inline data_tables
