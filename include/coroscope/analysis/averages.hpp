// SPDX-License-Identifier: Apache-2.0
#pragma once

// key_averages: adds up all events with the same key (torch: EventList.key_averages), for a native
// trace and for an event_list.
//
// The CPU columns of a native trace are running time. The suspended, queued and waiting times of a
// coroutine's scope have columns of their own and never count as CPU time. The device columns are
// the work that the scope launched, and the work of the scopes inside it.
//
// In an event_list torch's rule holds: an asynchronous event has its whole length as total, and no
// self time. If its division is known, the other columns show it. A scope whose suspension is
// unknown adds nothing to the CPU columns: it counts in unknown_count, and its length in
// waiting_ns.
//
// The totals of a row (CPU, device, suspended, queued, waiting and wall times) leave out an event
// that lies in another event of the row, because that event's time includes it. In a torch trace
// each event counts in full, as in torch.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The events of one key (torch: FunctionEventAvg). Sums are over all events; the other members are
/// those of the first event.
struct function_event_avg {
    std::string name;  ///< torch: key
    std::string category;
    std::string overload_name;  ///< empty unless rows are grouped by it, like the next two
    std::string input_shapes;
    std::string stack;  ///< frames innermost first, one per line
    /// The part of the key beside the name: the value of an attribute (index into trace::strings),
    /// a task or a thread.
    std::uint32_t group = none;
    /// Index into trace::sites; `none` for run-time labels and in event lists.
    std::uint32_t site = none;
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
    /// Events whose suspension is unknown: their whole wall time is in waiting_ns.
    std::uint64_t unknown_count = 0;
    std::uint64_t unfinished_count = 0;  ///< events without an end in the file; theirs is derived
    /// Events of a native trace that began before the session, or did not end in it: their times
    /// are those within the session, so the row's sums are lower bounds.
    std::uint64_t partial_count = 0;
    std::int64_t cpu_time_total_ns = 0;
    std::int64_t self_cpu_time_total_ns = 0;
    std::int64_t device_time_total_ns = 0;
    std::int64_t self_device_time_total_ns = 0;
    std::int64_t suspended_ns = 0;
    std::int64_t queued_ns = 0;
    std::int64_t waiting_ns = 0;   ///< suspended or queued, with an unknown division
    std::int64_t wall_ns = 0;      ///< begin to end
    std::int64_t min_wall_ns = 0;  ///< this and the next: 0 if all events are partial, which do
                                   ///< not count here
    std::int64_t max_wall_ns = 0;
    std::int64_t cpu_memory_usage = 0;  ///< net bytes
    std::int64_t self_cpu_memory_usage = 0;
    std::int64_t device_memory_usage = 0;
    std::int64_t self_device_memory_usage = 0;
    double flops = 0;
    /// The division of cpu_time_total_ns and of self_cpu_time_total_ns by the states of the
    /// threads, in a native trace that has states. Else all 0.
    state_times states;
    state_times self_states;
    /// Of the times from begin to end, if add_percentiles() was called. Without events of
    /// partial_count, and without those of unfinished_count.
    std::optional<percentiles> wall_percentiles{};

    [[nodiscard]] std::int64_t cpu_time_ns() const { return average(cpu_time_total_ns); }
    [[nodiscard]] std::int64_t device_time_ns() const { return average(device_time_total_ns); }

    /// Adds an event, or another sum; adding the object to itself is allowed. The first addition
    /// gives the row its identity. Returns false and adds nothing if the names differ.
    COROSCOPE_API bool add(const function_event& added);
    COROSCOPE_API bool add(const function_event_avg& added);
    /// Adds the figures alone, without regard to the name.
    COROSCOPE_API void sum_up(const function_event_avg& added);

private:
    [[nodiscard]] std::int64_t average(std::int64_t total_ns) const {
        return count == 0 ? 0 : total_ns / static_cast<std::int64_t>(count);
    }
};

/// The key by which events of a native trace share a row.
enum class average_key : std::uint8_t {
    name,         ///< name and category
    source_line,  ///< name, category, file and line
    attribute,    ///< name, category and an attribute's value at the start
    task,         ///< name, category and task
    thread,       ///< name, category and the thread of the start
};

/// Returns one entry per key, in the order in which the keys first appear in trace::events.
/// `attribute` is the key of the attribute to group by. Events that carried none share a row of
/// their own.
COROSCOPE_API std::vector<function_event_avg> key_averages(const trace& loaded,
                                                           average_key key = average_key::name,
                                                           std::string_view attribute = {});

/// Sets wall_percentiles of the rows that key_averages() returned for the same arguments. Exact, by
/// nearest rank. Needs eight bytes for each event.
COROSCOPE_API void add_percentiles(std::vector<function_event_avg>& rows, const trace& loaded,
                                   average_key key = average_key::name,
                                   std::string_view attribute = {});

/// Returns the sum of all device work, whatever requested it: the denominator of the device
/// columns' shares.
[[nodiscard]] COROSCOPE_API std::int64_t self_device_time_total_ns(const trace& loaded);

/// Returns the sum of all events under the name "Total".
COROSCOPE_API function_event_avg total_average(const trace& loaded);

/// Returns all running time that the trace knows: that of tasks, and the self time of scopes
/// outside tasks. The denominator of the shares of running time. A scope's running time includes
/// tasks that ran within it, and such a task may have no scope, so the sum of the self times of
/// scopes may be smaller.
[[nodiscard]] COROSCOPE_API std::int64_t running_time_total_ns(const trace& loaded);

/// The selection of the events of a list that are added up.
enum class event_selection : std::uint8_t {
    all,  ///< as in torch: all below, annotations of devices, "[memory]"
    /// Operations, annotations and runtime calls; in a file without any of these, every CPU event.
    cpu,
    device,  ///< kernels, copies and sets
};

/// The key by which events of a list share a row, beside the name, the activity, the node and the
/// device.
struct grouping {
    bool by_input_shape = false;
    std::size_t stack_frames = 0;  ///< torch: group_by_stack_n
    bool by_overload_name = false;
    bool by_thread = false;
    event_selection select = event_selection::all;
};

/// Returns one entry per key, in the order in which the keys first appear. build_tree must have
/// run.
COROSCOPE_API std::vector<function_event_avg> key_averages(const event_list& events,
                                                           const grouping& by = {});

/// As above, for the rows of a list.
COROSCOPE_API void add_percentiles(std::vector<function_event_avg>& rows, const event_list& events,
                                   const grouping& by = {});

/// Returns the sum of all events under the name "Total".
COROSCOPE_API function_event_avg total_average(const event_list& events);

/// Returns the sum of the events' self CPU times: the denominator of the CPU columns' shares.
[[nodiscard]] COROSCOPE_API std::int64_t self_cpu_time_total_ns(const event_list& events);

/// Returns the sum of all device work without annotations: the denominator of the device columns'
/// shares.
[[nodiscard]] COROSCOPE_API std::int64_t self_device_time_total_ns(const event_list& events);

}  // namespace coroscope::analysis
