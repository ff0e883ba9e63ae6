// SPDX-License-Identifier: Apache-2.0
#pragma once

// event_list: the thread view in torch's words, for traces of every supported format.
//
//     // Kineto, Chrome, nvprof, Nsight, .cst:
//     auto events = analysis::load_events("trace.json.gz");
//     for (const function_event each : *events)
//         if (each.name() == "aten::mm") use(each.cpu_time_total_ns());
//     auto rows = analysis::key_averages(*events, {.by_input_shape = true});
//
// A list may hold tens of millions of events, so it is compact: a row of 64 bytes each, each text
// once, and separate storage for rare data. function_event is a handle on one row: a pointer and an
// index. It may be copied freely. It is valid while its list lives and has no events added. Times
// are int64 nanoseconds since the trace's base.
//
// Thread-safety: lists are plain values; const access is safe on any thread.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/text_table.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The kind of an event (Kineto: activity type). Texts of older files map to these: "Operator" is
/// cpu_op.
enum class activity : std::uint8_t {
    cpu_op,
    user_annotation,
    runtime,  ///< a call of the device's runtime or driver: cuda_runtime, mtia_runtime, …
    kernel,
    gpu_memcpy,
    gpu_memset,
    gpu_user_annotation,
    synchronization,  ///< cuda_sync
    python_function,
    overhead,
    memory,  ///< made by build_tree: "[memory]", "[OutOfMemory]"
    other,   ///< has its own category's text
};

/// The kind of processor on which an event ran.
enum class device_kind : std::uint8_t { cpu, cuda };

/// Facts about an event, as bits of event_row::flags.
enum event_row_flags : std::uint16_t {
    /// The recorder's flag, or it ended on another thread: it has a total, no children, and self
    /// time 0.
    row_async = 1U << 0,
    row_remote = 1U << 1,  ///< of another node
    row_legacy = 1U << 2,
    row_user_annotation = 1U << 3,
    row_unfinished = 1U << 4,  ///< had no end; extended to the end of its parent or of the trace
    row_hidden = 1U << 5,      ///< not in the tree, in averages or in tables (the profiler's own)
    /// In a list with recorded times: lies in another event of its name and category.
    row_nested = 1U << 7,
    /// Its running time is unknown: all of its split is waiting.
    row_suspension_unknown = 1U << 6,
};

/// One event as it is stored. A row holds all data that averages need; rare data are in
/// event_extra.
struct event_row {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t children_ns = 0;  ///< set by build_tree: sum of the direct children's times
    /// of an op; in a device event or runtime call, the id of its op
    std::uint64_t external_id = 0;
    std::uint32_t name = none;      ///< index into texts; "ProfilerStep#7" is "ProfilerStep*" here
    std::uint32_t category = none;  ///< index into texts; as the file spells it
    std::uint32_t thread = none;    ///< index into threads
    /// Set by build_tree: index of the enclosing event. Of a device event: index of the event that
    /// launched it.
    std::uint32_t parent = none;
    std::uint32_t extra = none;  ///< index into extras
    /// same number in a runtime call and its launched work; 0: none
    std::uint32_t correlation = 0;
    activity what = activity::other;
    device_kind device = device_kind::cpu;
    std::uint16_t flags = 0;    ///< event_row_flags
    std::uint32_t sums = none;  ///< index into sums
};
static_assert(sizeof(event_row) == 64);

/// Data that only some events have. Texts are indices into event_list::texts; `none`: the event has
/// none.
struct event_extra {
    std::uint32_t trace_name = none;  ///< if it differs from the name
    std::uint32_t overload_name = none;
    std::uint32_t input_shapes = none;  ///< as JSON, "[[2, 3], []]"
    std::uint32_t input_strides = none;
    std::uint32_t input_dtypes = none;
    std::uint32_t concrete_inputs = none;
    std::uint32_t keyword_inputs = none;
    std::uint32_t stack = none;    ///< frames innermost first, one per line
    std::uint32_t modules = none;  ///< "A.B.C", outermost first
    /// The file's other arguments, as JSON, if loading keeps them.
    std::uint32_t metadata = none;
    /// The event's other members, `"key": value, …`, if loading keeps them.
    std::uint32_t members = none;
    std::int64_t sequence_number = -1;
    /// For an event that runs deferred work: the thread that deferred that work.
    std::uint64_t forward_thread = 0;
    std::uint64_t flow_id = 0;
    std::uint32_t flow_type = 0;
    bool flow_start = false;
    std::uint32_t end_thread = none;  ///< index into threads; none: the thread on which it began
    std::int32_t device_index = -1;
    std::int64_t device_resource = -1;  ///< a stream
    std::int64_t node_id = -1;
    double flops = 0;
    time_split split;           ///< of an event that may have been suspended; else all zero
    std::int64_t self_ns = -1;  ///< in a list with recorded times: the self CPU time; -1: all of it
};

/// The device work and memory of an event, if it has any; set by build_tree.
struct event_sums {
    std::int64_t kernels_ns = 0;          ///< of the event's own launches
    std::int64_t children_device_ns = 0;  ///< of the launches of its descendants
    std::int64_t cpu_memory = 0;          ///< net bytes, including its children's
    std::int64_t device_memory = 0;
    std::int64_t children_cpu_memory = 0;
    std::int64_t children_device_memory = 0;
};

/// A lane of the file: a thread of a process, or a stream of a device.
struct event_thread {
    /// Text of its id, from "pid", whether or not it is a number: index into texts.
    std::uint32_t process = none;
    std::uint32_t thread = none;  ///< the same from "tid"
    std::int64_t node_id = -1;    ///< of a distributed run
    std::string process_name;
    std::string name;
};

/// One allocation or release.
struct memory_record {
    std::int64_t time_ns = 0;
    std::int64_t bytes = 0;  ///< negative: released
    std::uint64_t address = 0;
    std::int64_t total_allocated = 0;
    std::int64_t total_reserved = 0;
    device_kind device = device_kind::cpu;
    std::int32_t device_index = -1;
    std::uint32_t thread = none;
    bool out_of_memory = false;
};

/// An arrow of the file.
struct event_flow {
    std::int64_t time_ns = 0;
    std::uint64_t id = 0;
    std::uint32_t category = none;
    std::uint32_t name = none;  ///< index into texts; none: the same as the category
    std::uint32_t thread = none;
    bool start = false;
    bool step = false;      ///< between the start and the end: "t"
    bool enclosing = true;  ///< of an end: binds to the enclosing slice, else to the next ("bp")
};

/// Further data of the file about a process or a thread, if loading keeps arguments.
struct event_metadata {
    std::uint32_t name = none;       ///< index into texts: "process_labels", "thread_sort_index"
    std::uint32_t thread = none;     ///< index into threads
    std::uint32_t arguments = none;  ///< index into texts: a JSON object
};

/// The events, in the order of their addition until build_tree orders them.
class event_list {
public:
    std::vector<event_row> rows;
    std::vector<event_extra> extras;
    std::vector<event_sums> sums;
    /// Set by build_tree: device rows that have a parent, by parent.
    std::vector<std::uint32_t> launched;
    std::vector<event_thread> threads;
    std::vector<memory_record> memory;  ///< by time
    std::vector<event_flow> flows;
    std::vector<event_metadata> metadata;
    std::int64_t base_realtime_ns = 0;  ///< base of all times; 0: unknown
    std::int64_t duration_ns = 0;
    /// Whether the recording included these.
    bool shapes = false, stacks = false, memory_profile = false, flops = false;
    std::string trace_id;    ///< identifies the recording; empty if the file has none
    std::int64_t node = -1;  ///< the recording node of a distributed run; -1: none
    std::string use_device;  ///< "cuda", "xpu", "mtia", …; empty if devices were not recorded
    /// The reason why devices were not recorded, for the header of the table; empty if there is
    /// none.
    std::string device_note;
    trace_health health;
    /// Set by build_tree: events that were merged into their parent of the same name.
    std::uint64_t folded_events = 0;
    std::uint64_t left_out_events = 0;  ///< counters, marks and samples: events without an interval
    bool is_built = false;              ///< build_tree has run
    /// The file is a Chrome export of a native trace. Its recorded times count, not the nesting of
    /// its bars.
    bool has_recorded_times = false;
    /// set by build_tree: no event is one of torch's CPU activities
    bool every_event_nests = false;

    event_list() = default;
    event_list(event_list&&) noexcept = default;
    event_list& operator=(event_list&&) noexcept = default;
    event_list(const event_list&) = delete;
    event_list& operator=(const event_list&) = delete;

    /// Returns the index of the text, and stores it at its first use. Throws std::bad_alloc and
    /// std::length_error.
    std::uint32_t intern(std::string_view text) { return texts_.insert(text); }
    [[nodiscard]] std::string_view text(std::uint32_t index) const { return texts_[index]; }
    /// Returns the index of the lane, which is made at its first use.
    COROSCOPE_API std::uint32_t lane(std::string_view process, std::string_view thread,
                                     std::int64_t node_id = -1);
    /// Returns the row's extra, which is made at its first use.
    COROSCOPE_API event_extra& extra_of(event_row& row);
    /// Returns the row's sums, which are made at their first use.
    COROSCOPE_API event_sums& sums_of(event_row& row);

    /// The number of texts; indices of texts are smaller.
    [[nodiscard]] std::size_t text_count() const noexcept { return texts_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return rows.size(); }
    [[nodiscard]] bool empty() const noexcept { return rows.empty(); }

private:
    text_table texts_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::uint32_t> lanes_;
};

}  // namespace coroscope::analysis
