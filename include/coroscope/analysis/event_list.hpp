// SPDX-License-Identifier: Apache-2.0
#pragma once

// event_list: the thread view in torch's words, whatever the trace came from.
//
//     auto events = analysis::load_events("trace.json.gz");          // Kineto, Chrome, nvprof, Nsight, .cst
//     for (const function_event each : *events) if (each.name() == "aten::mm") use(each.cpu_time_total_ns());
//     auto rows = analysis::key_averages(*events, {.by_input_shape = true});
//
// A list holds its events compactly, tens of millions of them: a row of 64 bytes each, texts once, and what
// few events have beside them. function_event is a handle on one row, a pointer and an index: it is copied
// freely and is valid while its list lives and is not added to. Times are int64 nanoseconds since the trace's
// base. Lists are plain values; const access is safe on any thread.

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

/// What an event is about (Kineto: activity type). Texts of older files mean the same: "Operator" is cpu_op.
enum class activity : std::uint8_t {
    cpu_op,
    user_annotation,
    runtime,  ///< a call of the device's runtime or driver: cuda_runtime, cuda_driver, Runtime
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

/// Where an event ran.
enum class device_kind : std::uint8_t { cpu, cuda };

/// Facts about an event, as bits of event_row::flags.
enum event_row_flags : std::uint16_t {
    row_async =
        1U << 0,  ///< recorder's flag, or ended on another thread: a total, no children, self 0
    row_remote = 1U << 1,  ///< of another node
    row_legacy = 1U << 2,
    row_user_annotation = 1U << 3,
    row_unfinished = 1U << 4,  ///< had no end; extended to its parent's or the trace's
    row_hidden = 1U << 5,      ///< not in the tree, in averages and in tables (the profiler's own)
    row_suspension_unknown =
        1U << 6,  ///< nobody saw how much of it ran: all of its split is waiting
};

/// One event as it is stored. Everything an averages run touches is here; what is rare is in event_extra.
struct event_row {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t children_ns = 0;   ///< set by build_tree: sum of the direct children's times
    std::uint64_t external_id = 0;  ///< of an op; of a device event and a runtime call, the op's
    std::uint32_t name = none;      ///< index into texts; "ProfilerStep#7" is "ProfilerStep*" here
    std::uint32_t category = none;  ///< index into texts; as the file spells it
    std::uint32_t thread = none;    ///< index into threads
    std::uint32_t parent =
        none;  ///< set by build_tree: index of the enclosing event; of a device event,
               ///< of the one that launched it
    std::uint32_t extra = none;     ///< index into extras
    std::uint32_t correlation = 0;  ///< of a runtime call and what it launched; 0: none
    activity what = activity::other;
    device_kind device = device_kind::cpu;
    std::uint16_t flags = 0;    ///< event_row_flags
    std::uint32_t sums = none;  ///< index into sums
};
static_assert(sizeof(event_row) == 64);

/// What only some events have. Texts are indices into event_list::texts, `none` where there is none.
struct event_extra {
    std::uint32_t trace_name = none;  ///< where it differs from the name
    std::uint32_t overload_name = none;
    std::uint32_t input_shapes = none;  ///< as JSON, "[[2, 3], []]"
    std::uint32_t input_strides = none;
    std::uint32_t input_dtypes = none;
    std::uint32_t concrete_inputs = none;
    std::uint32_t keyword_inputs = none;
    std::uint32_t stack = none;    ///< frames innermost first, one per line
    std::uint32_t modules = none;  ///< "A.B.C", outermost first
    std::uint32_t metadata =
        none;  ///< the file's other arguments, as JSON; only where loading keeps them
    std::int64_t sequence_number = -1;
    std::uint64_t forward_thread =
        0;  ///< of an event that runs deferred work: the thread that deferred it
    std::uint64_t flow_id = 0;
    std::uint32_t flow_type = 0;
    bool flow_start = false;
    std::uint32_t end_thread = none;  ///< index into threads; none: where it began
    std::int32_t device_index = -1;
    std::int64_t device_resource = -1;  ///< a stream
    std::int64_t node_id = -1;
    double flops = 0;
    time_split split;  ///< of an event that may have been suspended; all zero elsewhere
};

/// What an event launched on devices and allocated, where it did; set by build_tree.
struct event_sums {
    std::int64_t kernels_ns = 0;          ///< of what the event itself launched
    std::int64_t children_device_ns = 0;  ///< of what its children did, theirs included
    std::int64_t cpu_memory = 0;          ///< net bytes, its children's included
    std::int64_t device_memory = 0;
    std::int64_t children_cpu_memory = 0;
    std::int64_t children_device_memory = 0;
};

/// A lane of the file: a thread of a process, or a stream of a device.
struct event_thread {
    std::uint32_t process =
        none;  ///< its id's text, as "pid" reads it, number or not: index into texts
    std::uint32_t thread = none;  ///< the same of "tid"
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
    std::uint32_t thread = none;
    bool start = false;
};

/// The events, in the order in which they were added until build_tree orders them.
class event_list {
public:
    std::vector<event_row> rows;
    std::vector<event_extra> extras;
    std::vector<event_sums> sums;
    std::vector<std::uint32_t>
        launched;  ///< set by build_tree: rows of devices with a parent, by parent
    std::vector<event_thread> threads;
    std::vector<memory_record> memory;  ///< by time
    std::vector<event_flow> flows;
    std::int64_t base_realtime_ns = 0;  ///< what times count from; 0: unknown
    std::int64_t duration_ns = 0;
    bool shapes = false, stacks = false, memory_profile = false, flops = false;  ///< were recorded
    std::string trace_id;    ///< names the recording; empty where the file has none
    std::int64_t node = -1;  ///< of a distributed run: the node that recorded; -1: none
    std::string use_device;  ///< "cuda"; empty where devices were not recorded
    std::string
        device_note;  ///< why they were not, for the table's header; empty where nothing is to be said
    trace_health health;
    bool is_built = false;           ///< build_tree has run
    bool every_event_nests = false;  ///< set by build_tree: none of torch's activities on the CPU

    event_list() = default;
    event_list(event_list&&) noexcept = default;
    event_list& operator=(event_list&&) noexcept = default;
    event_list(const event_list&) = delete;
    event_list& operator=(const event_list&) = delete;

    /// The text's index; each text is stored once. Throws std::bad_alloc and std::length_error.
    std::uint32_t intern(std::string_view text) { return texts_.insert(text); }
    [[nodiscard]] std::string_view text(std::uint32_t index) const { return texts_[index]; }
    /// The lane's index, made at its first use.
    COROSCOPE_API std::uint32_t lane(std::string_view process, std::string_view thread,
                                     std::int64_t node_id = -1);
    /// The row's extra, made at its first use.
    COROSCOPE_API event_extra& extra_of(event_row& row);
    /// The row's sums, made at their first use.
    COROSCOPE_API event_sums& sums_of(event_row& row);

    /// Indices of texts are below it.
    [[nodiscard]] std::size_t text_count() const noexcept { return texts_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return rows.size(); }
    [[nodiscard]] bool empty() const noexcept { return rows.empty(); }

private:
    text_table texts_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, std::uint32_t> lanes_;
};

}  // namespace coroscope::analysis
