// SPDX-License-Identifier: Apache-2.0
#pragma once

// key_averages: every event with the same key added up (torch: EventList.key_averages), of a native trace and of
// an event_list.
//
// The CPU columns of a native trace are running time; what a coroutine's scope spent suspended, queued or waiting
// stands beside them and never in them. Its device columns are what the scope launched, and what the scopes in it did.
// In an event_list torch's rule holds: an asynchronous event has a total,
// its whole length, and no self time; where its division is known, it stands beside that. Of a scope whose suspension
// is unknown the CPU columns know nothing: it counts in unknown_count, its length in waiting_ns.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The events of one key (torch: FunctionEventAvg). Sums are over all of them; the rest is the first one's.
struct function_event_avg {
    std::string name;  ///< torch: key
    std::string category;
    std::string overload_name;  ///< empty where rows are not by it, as are the next two
    std::string input_shapes;
    std::string stack;  ///< frames innermost first, one per line
    std::uint32_t group =
        none;  ///< what average_key tells apart beside the name: an attribute's value (index
               ///< into trace::strings), a task or a thread
    std::uint32_t site =
        none;  ///< index into trace::sites, none for run-time labels and in event lists
    activity what = activity::cpu_op;
    device_kind device = device_kind::cpu;
    bool is_async = false;
    bool is_remote = false;
    bool is_legacy = false;
    bool is_user_annotation = false;
    bool has_parent = false;  ///< of the first event; top-level tables leave such rows out
    std::int64_t node_id = -1;
    std::uint64_t count = 0;
    std::uint64_t in_frame_count = 0;  ///< events that may have been suspended while open
    std::uint64_t unknown_count =
        0;  ///< events whose suspension is unknown: their whole wall is in waiting_ns
    std::int64_t cpu_time_total_ns = 0;
    std::int64_t self_cpu_time_total_ns = 0;
    std::int64_t device_time_total_ns = 0;
    std::int64_t self_device_time_total_ns = 0;
    std::int64_t suspended_ns = 0;
    std::int64_t queued_ns = 0;
    std::int64_t waiting_ns = 0;  ///< suspended or queued, which of them nobody saw
    std::int64_t wall_ns = 0;     ///< begin to end
    std::int64_t min_wall_ns = 0;
    std::int64_t max_wall_ns = 0;
    std::int64_t cpu_memory_usage = 0;  ///< net bytes
    std::int64_t self_cpu_memory_usage = 0;
    std::int64_t device_memory_usage = 0;
    std::int64_t self_device_memory_usage = 0;
    double flops = 0;

    [[nodiscard]] std::int64_t cpu_time_ns() const { return average(cpu_time_total_ns); }
    [[nodiscard]] std::int64_t device_time_ns() const { return average(device_time_total_ns); }

    /// Adds an event, or what was added up elsewhere; adding itself is fine. The first one gives the row its
    /// identity. False, and nothing is added, where the name is another.
    COROSCOPE_API bool add(const function_event& added);
    COROSCOPE_API bool add(const function_event_avg& added);
    /// Adds the figures alone, whatever the name.
    COROSCOPE_API void sum_up(const function_event_avg& added);

private:
    [[nodiscard]] std::int64_t average(std::int64_t total_ns) const {
        return count == 0 ? 0 : total_ns / static_cast<std::int64_t>(count);
    }
};

/// What makes two events of a native trace one row.
enum class average_key : std::uint8_t {
    name,         ///< name and category
    source_line,  ///< name, category, file and line
    attribute,    ///< name, category and the value of an attribute that was carried at the start
    task,         ///< name, category and task
    thread,       ///< name, category and the thread of the start
};

/// One entry per key, in the order in which the keys first appear in trace::events. `attribute` is the
/// key of the attribute to group by; an event that carried none is in a row of its own.
COROSCOPE_API std::vector<function_event_avg> key_averages(const trace& loaded,
                                                           average_key key = average_key::name,
                                                           std::string_view attribute = {});

/// Sum of what ran on devices, whoever asked for it: the denominator of the device columns' shares.
[[nodiscard]] COROSCOPE_API std::int64_t self_device_time_total_ns(const trace& loaded);

/// All events added up under the name "Total". Its self_cpu_time_total_ns is the table's denominator.
COROSCOPE_API function_event_avg total_average(const trace& loaded);

/// Which events of a list are added up.
enum class event_selection : std::uint8_t {
    all,  ///< as torch does: all below, the annotations of devices, "[memory]"
    cpu,  ///< operations, annotations and runtime calls; where a file has none of these, every CPU event
    device,  ///< kernels, copies and sets
};

/// What makes two events of a list one row, beside the name, the activity, the node and the device.
struct grouping {
    bool by_input_shape = false;
    std::size_t stack_frames = 0;  ///< torch: group_by_stack_n
    bool by_overload_name = false;
    bool by_thread = false;
    event_selection select = event_selection::all;
};

/// One entry per key, in the order in which the keys first appear. Precondition: build_tree has run.
COROSCOPE_API std::vector<function_event_avg> key_averages(const event_list& events,
                                                           const grouping& by = {});

/// Everything added up under the name "Total".
COROSCOPE_API function_event_avg total_average(const event_list& events);

/// Sum of the events' self CPU times: the denominator of the CPU columns' shares.
[[nodiscard]] COROSCOPE_API std::int64_t self_cpu_time_total_ns(const event_list& events);

/// Sum of what ran on devices, without the annotations there: the denominator of the device columns' shares.
[[nodiscard]] COROSCOPE_API std::int64_t self_device_time_total_ns(const event_list& events);

}  // namespace coroscope::analysis
