// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model: a loaded trace as plain structs, from which every answer is computed.
//
// Times are int64 nanoseconds since the session's start. "Unknown" is std::nullopt for a figure and
// `none` for an index; it is never zero. The model has two views: the thread view (the scopes of a
// thread, nested by torch's rule) and the task view (the times of a logical task). Threads may read
// a trace concurrently; a thread that changes it must be its only user.
//
// Memory: a trace may hold tens of millions of tasks, awaits and slices, so these are packed_lists.
// A const trace gives them by value: take a copy or a const reference, and no pointer. While it is
// loaded, a trace takes about 40 bytes for a plain await, and 155 for a short task with its await
// and two slices, beside the file. An event takes 56 bytes, and 40 more if it has details.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/blocking_model.hpp>
#include <coroscope/analysis/device_model.hpp>
#include <coroscope/analysis/executor_model.hpp>
#include <coroscope/analysis/index_range.hpp>
#include <coroscope/analysis/lock_model.hpp>
#include <coroscope/analysis/packed_list.hpp>
#include <coroscope/analysis/request_model.hpp>
#include <coroscope/analysis/resource_model.hpp>
#include <coroscope/analysis/task_model.hpp>
#include <coroscope/analysis/thread_states.hpp>
#include <coroscope/analysis/trace_health.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/trace/await_format.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::analysis {

/// One place in the source.
struct site_info {
    std::string label;
    std::string function;
    std::string file;
    std::uint32_t line = 0;
    std::string category;
    std::string arguments;
    std::uint8_t kind = 0;     ///< trace::site_kind
    std::uint16_t column = 0;  ///< 0: unknown
    /// Of a coroutine: the size of its frame, rounded up to 64 bytes, the largest if the place has
    /// several coroutines (instances of a template); 0: unknown.
    std::uint32_t frame_bytes = 0;
};

/// A place at which the program calls a coroutine.
struct spawn_place {
    std::uint32_t site = none;  ///< of the coroutine: index into trace::sites
    std::uint64_t inside = 0;   ///< as in coroscope::trace::spawn_place_body
    std::uint64_t caller = 0;
    // Filled by name_spawn_places(), as far as symbols and debug information go.
    std::string function;    ///< the function that contains the call; empty if unknown
    std::string file;        ///< empty if unknown
    std::uint32_t line = 0;  ///< 0: unknown
    /// As in coroscope::trace::spawn_calls_body, in place of the two addresses.
    std::vector<std::uint64_t> calls{};
};

/// An object that tasks awaited.
struct object_info {
    std::uint32_t number = 0;  ///< unique in the process
    coroscope::trace::object_kind kind = coroscope::trace::object_kind::other;
    std::string name;  ///< may be empty
    /// True if the trace has no description of it, so that its kind is unknown.
    bool undescribed = false;
};

/// One attribute (a key and a value that a context carries) on top of the earlier ones.
struct attribute_info {
    std::uint32_t key = none;     ///< index into trace::strings
    std::uint32_t value = none;   ///< index into trace::strings
    std::uint32_t parent = none;  ///< index into trace::attributes
    /// The recorder had no room for this attribute: this attribute and all to which `parent` would
    /// lead are unknown. An unknown attribute has no key; its value is "(unknown)".
    bool unknown = false;
};

/// One thread that recorded.
struct thread_info {
    std::uint32_t id = 0;  ///< logical, from 1
    std::uint64_t os_id = 0;
    std::string name;
    std::uint64_t dropped_newest = 0;
    std::uint64_t overwritten = 0;
    std::int64_t waited_ns = 0;
    /// Scopes of the thread that are not in trace::events, because load() was asked for fewer.
    std::uint64_t scopes_left_out = 0;
};

/// Facts about an event, as bits of event::flags.
enum event_flags : std::uint16_t {
    event_in_frame = 1U << 0,            ///< lived in a coroutine frame or on another stack
    event_suspension_unknown = 1U << 1,  ///< in-frame in a coroutine that is not instrumented
    event_async = 1U << 2,               ///< ended on another thread, or spanned a suspension
    event_clipped = 1U << 3,             ///< began before the session
    event_abandoned = 1U << 4,           ///< its frame was destroyed while its task was suspended
    event_await = 1U << 5,               ///< an await in a coroutine that is not a task
    event_explicit = 1U << 6,            ///< a range: begun and ended by calls, or by a completion
    event_open = 1U << 7,      ///< a scope or a range that did not end; its end is the session's
    event_left_out = 1U << 8,  ///< a request of which nothing else is recorded
};

/// Data of those events that have arguments, or during which their task may have been suspended.
struct event_detail {
    time_split time;  ///< of the scope; if the suspension is unknown, all of it is waiting
    std::uint32_t end_thread = none;  ///< index into trace::threads
    std::uint32_t arguments = none;   ///< index into trace::strings
};

/// One decoded scope or range with its place in the tree (torch: FunctionEvent's timing part). The
/// struct is small because a trace may hold tens of millions of events.
struct event {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    /// Running time, minus the time of child scopes of the same task and of nested slices of other
    /// tasks.
    std::int64_t self_running_ns = 0;
    std::uint32_t name = none;    ///< index into trace::strings
    std::uint32_t site = none;    ///< index into trace::sites; none for run-time labels
    std::uint32_t thread = none;  ///< the thread on which it started: index into trace::threads
    std::uint32_t task = none;    ///< index into trace::tasks; none outside tasks
    /// The enclosing event: an event of the same task; for an event outside tasks, an event of the
    /// same thread.
    std::uint32_t parent = none;
    /// Index into trace::details; `none`: the event ran on `thread` from start to end.
    std::uint32_t detail = none;
    std::uint32_t attribute = none;  ///< carried when it began: index into trace::attributes
    std::uint16_t flags = 0;         ///< event_flags
};
static_assert(sizeof(event) == 56);

/// Optional notes of an event, recorded on request. Texts are indices into trace::strings.
struct event_note {
    std::uint32_t event = none;            ///< index into trace::events
    std::uint32_t input_shapes = none;     ///< as JSON, "[[2, 3], []]"
    std::uint32_t input_strides = none;    ///< the same; empty if the strides are unknown
    std::uint32_t input_types = none;      ///< as JSON, "[\"float\", \"int\"]"
    std::uint32_t concrete_inputs = none;  ///< values of the arguments without dimensions, as JSON
    std::uint32_t stack = none;            ///< index into trace::stacks
    /// The thread that created the deferred work which this event runs: index into trace::threads.
    /// `none` if this event creates deferred work itself.
    std::uint32_t forward_thread = none;
    std::uint32_t unused = 0;
    std::int64_t sequence_number = -1;  ///< -1: none
};

/// A stack of calls: addresses inside the calls, innermost first.
struct call_stack {
    std::uint32_t first = 0;  ///< index into trace::frames
    std::uint32_t count = 0;
};

/// A file whose code was loaded.
struct code_module {
    std::uint64_t load_address = 0;
    std::uint64_t bytes = 0;
    std::string path;
    std::string build_id;  ///< hexadecimal; empty if the file has none
};

/// One report of an allocator.
struct memory_event {
    std::int64_t time_ns = 0;
    std::int64_t bytes = 0;  ///< negative: released; out of memory: the size asked for
    std::uint64_t address = 0;
    std::int64_t total_allocated = 0;  ///< of the allocator, afterwards
    std::int64_t total_reserved = 0;
    std::uint32_t thread = none;  ///< index into trace::threads
    bool out_of_memory = false;
};

/// One item that a stream yielded.
struct stream_item {
    std::int64_t time_ns = 0;
    std::uint64_t number = 0;  ///< from 1; a missing number was lost
};

/// A range over something that yields items.
struct stream_info {
    std::uint32_t name = none;    ///< index into trace::strings
    std::uint32_t task = none;    ///< the task in which it began: index into trace::tasks
    std::uint32_t thread = none;  ///< the thread on which it began: index into trace::threads
    std::int64_t start_ns = 0;
    optional_ns end_ns;  ///< none: it did not end while the session ran
    index_range items;   ///< indices into trace::stream_items, by number
};

/// Duration of loading (torch: part of _stats).
struct load_statistics {
    std::int64_t parse_ns = 0;       ///< to read the records
    std::int64_t tree_build_ns = 0;  ///< to order the events and find their parents
};

/// A loaded trace.
struct trace {
    std::string process_name;
    std::uint32_t process_id = 0;
    std::string clock;  ///< "tsc", "cntvct", "monotonic"
    std::int64_t start_realtime_ns = 0;
    std::int64_t start_monotonic_ns = 0;
    std::int64_t duration_ns = 0;  ///< session start to stop (or to the last known moment)
    double scope_cost_ns = 0;      ///< the recorder's own cost per scope
    double await_cost_ns = 0;
    std::uint64_t file_bytes = 0;    ///< of a packed trace: before it was packed
    std::uint64_t packed_bytes = 0;  ///< of a packed trace; else 0
    std::string policy;              ///< "drop newest", "overwrite oldest", "wait"
    bool all_threads = false;
    std::string trace_id;
    std::int64_t node_id = -1;          ///< of a distributed run; -1: none
    std::uint64_t asked_for = 0;        ///< coroscope::trace::session_features
    std::uint64_t limit_bytes = 0;      ///< the bound of the whole trace
    std::uint64_t container_bytes = 0;  ///< the container's limit, if the bound follows from it
    std::vector<std::string> strings;
    std::vector<site_info> sites;
    std::vector<thread_info> threads;
    packed_list<task_info> tasks;
    packed_list<slice> slices;         ///< by (task, start): the slices of a task are contiguous
    packed_list<await_info> awaits;    ///< by (task, suspend)
    std::vector<object_info> objects;  ///< in the order of their first descriptions
    std::vector<event_detail> details;
    std::vector<attribute_info> attributes;
    std::vector<stream_info> streams;       ///< by start
    std::vector<stream_item> stream_items;  ///< by (stream, number)
    std::vector<event_note> notes;          ///< by event; few events have one
    std::vector<call_stack> stacks;
    std::vector<std::uint64_t> frames;
    std::vector<code_module> modules;           ///< by load address
    std::vector<memory_event> memory;           ///< by (time, thread)
    std::vector<resource_wait> resource_waits;  ///< by (start, end, thread)
    std::vector<executor_info> executors;       ///< by number, process by process
    std::vector<blocking_call> blocking_calls;  ///< by (start, end, thread)
    std::vector<request_info> requests;         ///< marked ones, by id
    std::vector<value_info> values;             ///< by (time, thread)
    std::vector<lock_wait> lock_waits;          ///< by (start, end, thread of the waiter)
    std::vector<device_info> devices;
    std::vector<device_stream> device_streams;  ///< those that have a name, by (context, stream)
    std::vector<device_activity> device_activities;  ///< by (start ascending, end descending)
    /// Activities that ran on a stream, by (context, stream), then in execution order.
    std::vector<std::uint32_t> stream_order;
    std::vector<device_wait> device_waits;               ///< by (await, context, stream), each once
    std::vector<device_dependency> device_dependencies;  ///< by (context, stream, time)
    std::vector<device_range> device_ranges;             ///< by start
    /// Positions in stream_order, by range, then in execution order.
    std::vector<std::uint32_t> range_work;
    /// By (start ascending, end descending, stream position descending).
    std::vector<event> events;
    thread_states states;
    trace_health health;
    load_statistics took;
    std::vector<spawn_place> spawn_places;  ///< in the order of their descriptions
    request_sampling sampling;
    std::string categories;  ///< the list of the last set_categories() of the process; empty: none
};

/// Returns the note of an event (an index into trace::events), or null if it has none.
[[nodiscard]] COROSCOPE_API const event_note* find_note(const trace& loaded, std::uint32_t event);

/// Returns the waits of an await (an index into trace::awaits): positions in trace::device_waits.
[[nodiscard]] COROSCOPE_API index_range find_device_waits(const trace& loaded, std::uint32_t await);

/// Returns the value of `key` in `attribute` or in an attribute below it, as an index into
/// trace::strings. Returns `none` if the key is not carried. If an unknown attribute comes first,
/// the value is the text of that attribute, "(unknown)".
[[nodiscard]] COROSCOPE_API std::uint32_t
attribute_value(const trace& loaded, std::uint32_t attribute, std::string_view key);

}  // namespace coroscope::analysis
