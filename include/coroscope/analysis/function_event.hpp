// SPDX-License-Identifier: Apache-2.0
#pragma once

// function_event: one event of an event_list in torch's words (torch: FunctionEvent).
//
//   for (const function_event each : events)
//       if (const auto parent = each.cpu_parent())
//           use(parent->name(), each.self_cpu_time_total_ns());
//
// A handle: a pointer and an index. It may be copied freely. It is valid while its list lives and
// has no events added. build_tree must have run for the figures of the tree (parents, children,
// kernels, self figures); load_events and events_of have run it. Times are int64 nanoseconds since
// the list's base. Memory is in bytes.
//
// Thread-safety: const access is safe on any thread.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// A stretch of time (torch: Interval).
struct interval {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    [[nodiscard]] std::int64_t elapsed_ns() const { return end_ns - start_ns; }
    bool operator==(const interval&) const = default;
};

/// Work that an event launched on a device (torch: Kernel).
struct kernel {
    std::string_view name;
    std::int32_t device = -1;  ///< the device's index, -1 if unknown
    std::int64_t duration_ns = 0;
};

/// The kind of a scope by its origin (torch: RecordScope).
enum class record_scope : std::uint8_t { function, backward_function, user_scope };

/// Returns the name of an activity in CSV and JSON: "cpu_op", "user_annotation", "runtime",
/// "kernel", …
[[nodiscard]] COROSCOPE_API std::string_view activity_name(activity what) noexcept;

class COROSCOPE_API function_event {
public:
    /// `index` must be less than list.size().
    function_event(const event_list& list, std::uint32_t index) noexcept
        : list_(&list), index_(index) {}

    // Identity and time.
    [[nodiscard]] std::uint32_t id() const noexcept { return index_; }
    [[nodiscard]] std::string_view name() const { return list_->text(row().name); }
    [[nodiscard]] std::string_view overload_name() const;
    /// The name as the file spells it: "ProfilerStep#7", for which name() is "ProfilerStep*".
    [[nodiscard]] std::string_view trace_name() const;
    [[nodiscard]] std::string_view key() const { return name(); }
    [[nodiscard]] activity activity_type() const noexcept { return row().what; }
    [[nodiscard]] std::string_view category() const { return list_->text(row().category); }
    [[nodiscard]] record_scope scope() const;
    [[nodiscard]] std::uint32_t thread() const noexcept {
        return row().thread;
    }  ///< a lane's index
    [[nodiscard]] std::uint32_t end_thread() const;
    [[nodiscard]] interval time_range() const { return {row().start_ns, row().end_ns}; }
    [[nodiscard]] std::int64_t node_id() const;
    [[nodiscard]] std::uint64_t count() const noexcept { return 1; }
    [[nodiscard]] std::string_view use_device() const { return list_->use_device; }

    // The arguments of the call, as JSON; empty if they were not recorded.
    [[nodiscard]] std::string_view input_shapes() const;
    [[nodiscard]] std::string_view input_strides() const;
    [[nodiscard]] std::string_view input_dtypes() const;
    [[nodiscard]] std::string_view concrete_inputs() const;
    [[nodiscard]] std::string_view keyword_inputs() const;
    [[nodiscard]] std::string_view metadata() const;

    // Tree and stack.
    [[nodiscard]] std::optional<function_event> cpu_parent() const;
    /// Returns the children in the list's order. Examines each event that begins before this one
    /// ends.
    [[nodiscard]] std::vector<function_event> cpu_children() const;
    /// Returns the work that this event launched itself. Examines every event of the list.
    [[nodiscard]] std::vector<kernel> kernels() const;
    /// Frames, innermost first, one per line.
    [[nodiscard]] std::string_view stack() const;
    [[nodiscard]] std::string_view modules() const;

    // Links.
    [[nodiscard]] std::int64_t sequence_nr() const;  ///< -1: none
    [[nodiscard]] std::uint64_t fwd_thread() const;  ///< 0: none
    [[nodiscard]] std::uint64_t flow_id() const;
    [[nodiscard]] std::uint32_t flow_type() const;
    [[nodiscard]] bool flow_start() const;
    [[nodiscard]] std::uint64_t external_id() const noexcept { return row().external_id; }
    /// The id of the event that launched this one; 0 if this is neither a device event nor a
    /// runtime call.
    [[nodiscard]] std::uint64_t linked_correlation_id() const noexcept;

    // Device.
    [[nodiscard]] device_kind device_type() const noexcept { return row().device; }
    [[nodiscard]] std::int32_t device_index() const;
    [[nodiscard]] std::int64_t device_resource_id() const;  ///< a stream; -1: none

    // Facts.
    /// Whether the event is asynchronous: the recorder marked it so, or it ended on another thread.
    /// Such an event has a total, but no children and no self time.
    [[nodiscard]] bool is_async() const;
    [[nodiscard]] bool is_remote() const noexcept { return has(row_remote); }
    [[nodiscard]] bool is_legacy() const noexcept { return has(row_legacy); }
    [[nodiscard]] bool is_user_annotation() const noexcept;
    [[nodiscard]] bool is_unfinished() const noexcept { return has(row_unfinished); }

    // Time. One event's average is its total.
    [[nodiscard]] std::int64_t cpu_time_total_ns() const;
    [[nodiscard]] std::int64_t self_cpu_time_total_ns() const;
    [[nodiscard]] std::int64_t device_time_total_ns() const;
    [[nodiscard]] std::int64_t self_device_time_total_ns() const;
    [[nodiscard]] std::int64_t cpu_time_ns() const { return cpu_time_total_ns(); }
    [[nodiscard]] std::int64_t device_time_ns() const { return device_time_total_ns(); }
    /// The division of the time of an event that may have been suspended; all zero for other
    /// events.
    [[nodiscard]] time_split split() const;

    // Memory and work.
    [[nodiscard]] std::int64_t cpu_memory_usage() const;
    [[nodiscard]] std::int64_t self_cpu_memory_usage() const;
    [[nodiscard]] std::int64_t device_memory_usage() const;
    [[nodiscard]] std::int64_t self_device_memory_usage() const;
    [[nodiscard]] double flops() const;

    [[nodiscard]] const event_row& row() const { return list_->rows[index_]; }
    [[nodiscard]] const event_list& list() const noexcept { return *list_; }

private:
    [[nodiscard]] bool has(event_row_flags flag) const noexcept {
        return (row().flags & flag) != 0;
    }
    [[nodiscard]] const event_extra& extra() const;
    [[nodiscard]] const event_sums& sums() const;

    const event_list* list_;
    std::uint32_t index_;
};

/// An iterator over a list; `begin` and `end` below make the list a range of function_event.
class event_iterator {
public:
    using value_type = function_event;
    using difference_type = std::ptrdiff_t;
    event_iterator() = default;
    event_iterator(const event_list& list, std::uint32_t index) noexcept
        : list_(&list), index_(index) {}
    function_event operator*() const { return {*list_, index_}; }
    event_iterator& operator++() {
        ++index_;
        return *this;
    }
    event_iterator operator++(int) { return {*list_, index_++}; }
    bool operator==(const event_iterator&) const = default;

private:
    const event_list* list_ = nullptr;
    std::uint32_t index_ = 0;
};

[[nodiscard]] inline event_iterator begin(const event_list& list) { return {list, 0}; }
[[nodiscard]] inline event_iterator end(const event_list& list) {
    return {list, static_cast<std::uint32_t>(list.size())};
}

/// The values of an event that add_event() adds. Texts are copied.
struct event_values {
    std::string_view name{};
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t thread = 1;
    std::uint64_t process = 1;
    std::int64_t node_id = -1;
    activity what = activity::cpu_op;
    bool is_async = false;
    bool is_remote = false;  ///< of another node: its lane is " node_id:N, thread_id:T "
    /// of an op; in a device event or runtime call, the id of its op
    std::uint64_t external_id = 0;
    std::string_view stack{};
    std::string_view input_shapes{};
    std::string_view overload_name{};
    std::int64_t sequence_number = -1;
    std::uint64_t forward_thread = 0;
    std::int64_t cpu_memory = 0;
    std::int64_t device_memory = 0;
    double flops = 0;
};

/// Adds the event and returns its index. `what` decides whether it ran on a device.
/// "ProfilerStep#7" becomes "ProfilerStep*". Throws std::bad_alloc and std::length_error.
COROSCOPE_API std::uint32_t add_event(event_list& to, const event_values& added);

}  // namespace coroscope::analysis
