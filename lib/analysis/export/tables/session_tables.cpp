// SPDX-License-Identifier: Apache-2.0

// The tables of things that exist once: the session, places, threads, executors, objects,
// attributes.

#include <array>
#include <set>

#include <coroscope/analysis/executor_statistics.hpp>

#include "../../words/places.hpp"
#include "data_tables.hpp"

namespace coroscope::analysis::inline data_tables {
namespace {

constexpr std::array session_columns{
    data_column{"id"},
    data_column{"process", column_type::text},
    data_column{"process_id"},
    data_column{"trace_id", column_type::text},
    data_column{"clock", column_type::text},
    data_column{"start_realtime_ns"},
    data_column{"start_monotonic_ns"},
    data_column{"duration_ns"},
    data_column{"policy", column_type::text},
    data_column{"all_threads"},
    data_column{"scope_cost_ns", column_type::real},
    data_column{"await_cost_ns", column_type::real},
    data_column{"finished"},
    data_column{"dropped_newest"},
    data_column{"overwritten"},
    data_column{"late_records"},
    data_column{"damaged_chunks"},
    data_column{"lost_device_records"},
    data_column{"attributes_without_room"},
    data_column{"places_without_room"},
    data_column{"left_out_requests"},
    data_column{"folded_tasks"},
    data_column{"write_error"},
};

void write_session(const trace& from, row_sink& to) {
    const trace_health& health = from.health;
    to.integer(1);
    to.text(from.process_name);
    to.integer(from.process_id);
    to.text(from.trace_id);
    to.text(from.clock);
    to.integer(from.start_realtime_ns);
    to.integer(from.start_monotonic_ns);
    to.integer(from.duration_ns);
    to.text(from.policy);
    to.flag(from.all_threads);
    to.real(from.scope_cost_ns);
    to.real(from.await_cost_ns);
    to.flag(health.finished);
    for (const std::uint64_t count :
         {health.dropped_newest, health.overwritten, health.late_records, health.damaged_chunks,
          health.lost_device_records, health.attributes_without_room, health.places_without_room,
          health.left_out_requests, health.folded_tasks})
        to.integer(static_cast<std::int64_t>(count));
    to.integer(health.write_error);
    to.end_row();
}

constexpr std::array sites_columns{
    data_column{"id"},
    data_column{"name", column_type::text},
    data_column{"label", column_type::text},
    data_column{"function", column_type::text},
    data_column{"file", column_type::text},
    data_column{"line"},
    data_column{"category", column_type::text},
    data_column{"frame_bytes"},
};

void write_sites(const trace& from, row_sink& to) {
    std::int64_t id = 0;
    for (const site_info& each : from.sites) {
        to.integer(++id);
        to.text(name_of(each));
        to.maybe_text(each.label);
        to.maybe_text(each.function);
        to.maybe_text(each.file);
        to.maybe(each.line == 0 ? optional_ns() : each.line);
        to.maybe_text(each.category);
        to.maybe(each.frame_bytes == 0 ? optional_ns() : each.frame_bytes);
        to.end_row();
    }
}

constexpr std::array threads_columns{
    data_column{"id"},
    data_column{"number"},
    data_column{"os_id"},
    data_column{"name", column_type::text},
    data_column{"dropped_newest"},
    data_column{"overwritten"},
    data_column{"waited_ns"},
    data_column{"on_cpu_ns"},
    data_column{"blocked_ns"},
    data_column{"preempted_ns"},
    data_column{"unknown_state_ns"},
};

void write_threads(const trace& from, row_sink& to) {
    for (std::uint32_t thread = 0; thread < from.threads.size() && !to.failed(); ++thread) {
        const thread_info& each = from.threads[thread];
        to.integer(std::int64_t{thread} + 1);
        to.integer(each.id);
        to.integer(static_cast<std::int64_t>(each.os_id));
        to.text(each.name);
        to.integer(static_cast<std::int64_t>(each.dropped_newest));
        to.integer(static_cast<std::int64_t>(each.overwritten));
        to.integer(each.waited_ns);
        write_states(to, from.states.sums_of(thread));
        to.end_row();
    }
}

constexpr std::array executors_columns{
    data_column{"id"},
    data_column{"number"},
    data_column{"kind", column_type::text},
    data_column{"name", column_type::text},
    data_column{"inner"},
};

void write_executors(const trace& from, row_sink& to) {
    for (std::uint32_t executor = 0; executor < from.executors.size(); ++executor) {
        const executor_info& each = from.executors[executor];
        to.integer(std::int64_t{executor} + 1);
        to.integer(each.number);
        to.text(name_of_kind(each.kind));
        to.text(name_of_executor(from, executor));
        to.reference(each.inner, from.executors.size());
        to.end_row();
    }
}

constexpr std::array objects_columns{
    data_column{"id"},
    data_column{"number"},
    data_column{"kind", column_type::text},
    data_column{"name", column_type::text},
};

void write_objects(const trace& from, row_sink& to) {
    for (std::uint32_t object = 0; object < from.objects.size(); ++object) {
        to.integer(std::int64_t{object} + 1);
        to.integer(from.objects[object].number);
        to.text(object_kind_name(from.objects[object]));
        to.text(object_name(from, object));
        to.end_row();
    }
}

constexpr std::array attributes_columns{
    data_column{"id"},
    data_column{"key", column_type::text},
    data_column{"value", column_type::text},
    data_column{"parent"},
};

void write_attributes(const trace& from, row_sink& to) {
    for (std::uint32_t index = 0; index < from.attributes.size() && !to.failed(); ++index) {
        const attribute_info& each = from.attributes[index];
        to.integer(std::int64_t{index} + 1);
        write_string(from, to, each.key);
        write_string(from, to, each.value);
        to.reference(each.parent, from.attributes.size());
        to.end_row();
    }
}

constexpr std::array attribute_values_columns{
    data_column{"attribute"},
    data_column{"key", column_type::text},
    data_column{"value", column_type::text},
};

/// Writes each key that an attribute carries, with the value of the innermost attribute. The keys
/// below an unknown attribute are unknown.
void write_attribute_values(const trace& from, row_sink& to) {
    std::set<std::uint32_t> keys;
    for (std::uint32_t index = 0; index < from.attributes.size() && !to.failed(); ++index) {
        keys.clear();
        std::size_t steps = 0;  // in a damaged trace attributes may form a cycle
        for (std::uint32_t at = index;
             at < from.attributes.size() && steps < from.attributes.size(); ++steps) {
            const attribute_info& each = from.attributes[at];
            at = each.parent;
            if (each.unknown) break;
            if (each.key >= from.strings.size() || !keys.insert(each.key).second) continue;
            to.integer(std::int64_t{index} + 1);
            to.text(from.strings[each.key]);
            write_string(from, to, each.value);
            to.end_row();
        }
    }
}

}  // namespace

const data_table session_table{"session", session_columns, write_session};
const data_table sites_table{"sites", sites_columns, write_sites};
const data_table threads_table{"threads", threads_columns, write_threads};
const data_table executors_table{"executors", executors_columns, write_executors};
const data_table objects_table{"objects", objects_columns, write_objects};
const data_table attributes_table{"attributes", attributes_columns, write_attributes};
const data_table attribute_values_table{"attribute_values", attribute_values_columns,
                                        write_attribute_values};

}  // namespace coroscope::analysis::inline data_tables
