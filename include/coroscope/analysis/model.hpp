// SPDX-License-Identifier: Apache-2.0
#pragma once

// The model that every answer is computed from: a loaded trace as plain structs.
//
// Times are int64 nanoseconds since the session's start. "Unknown" is std::nullopt for a figure and
// `none` for an index; it is never zero. Two views stand side by side: the thread view (what a
// thread executed, nested by torch's rule) and the task view (what belongs to a logical task).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/index_range.hpp>
#include <coroscope/analysis/saturated.hpp>
#include <coroscope/analysis/trace_health.hpp>
#include <coroscope/detail/export.hpp>
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
    std::uint8_t kind = 0;  ///< trace::site_kind
};

/// One attribute (a key and a value that a context carries) on top of those that were carried before.
struct attribute_info {
    std::uint32_t key = none;     ///< index into trace::strings
    std::uint32_t value = none;   ///< index into trace::strings
    std::uint32_t parent = none;  ///< index into trace::attributes
};

struct thread_info {
    std::uint32_t id = 0;  ///< logical, from 1
    std::uint64_t os_id = 0;
    std::string name;
    std::uint64_t dropped_newest = 0;
    std::uint64_t overwritten = 0;
    std::int64_t waited_ns = 0;
};

/// How an await or a stretch of waiting divides.
struct time_split {
    std::int64_t running_ns = 0;
    std::int64_t suspended_ns = 0;
    std::int64_t queued_ns = 0;
    std::int64_t waiting_ns = 0;  ///< suspend to resume where nobody saw the wake
    [[nodiscard]] std::int64_t wall_ns() const {
        return saturated_sum(saturated_sum(running_ns, suspended_ns),
                             saturated_sum(queued_ns, waiting_ns));
    }
    /// Adds each part to the same part; none leaves the range.
    void add(const time_split& added) {
        add_to(running_ns, added.running_ns);
        add_to(suspended_ns, added.suspended_ns);
        add_to(queued_ns, added.queued_ns);
        add_to(waiting_ns, added.waiting_ns);
    }
};

/// One uninterrupted run of a task on one thread.
struct slice {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint32_t thread = none;  ///< index into trace::threads
};

/// One suspension of a task.
struct await_info {
    std::uint32_t task = none;  ///< index into trace::tasks
    std::uint32_t site = none;  ///< index into trace::sites
    std::uint32_t scope =
        none;  ///< innermost scope of the task that was open: index into trace::events
    std::uint32_t awaited = none;       ///< the task that was awaited, if it was one
    std::uint32_t waker = none;         ///< the task that woke it
    std::uint32_t waker_thread = none;  ///< none, too, of a thread that recorded nothing itself
    std::int64_t suspend_ns = 0;
    optional_ns wake_ns;    ///< unknown where nobody saw it
    optional_ns resume_ns;  ///< none: never resumed while the session ran
    bool clipped = false;   ///< straddles the session's start or stop
};

enum class task_state : std::uint8_t {
    spawned,
    running,
    suspended,
    queued,
    finished,
    failed,
    abandoned,
    cancelled,
    unknown  ///< it is not told to have ended, and records are missing from where it might be
};

struct task_info {
    std::uint64_t id = 0;
    std::uint32_t spawn_site = none;
    std::uint32_t parent = none;   ///< the task whose context created it
    std::uint32_t awaiter = none;  ///< the task that awaits it
    std::uint32_t spawn_thread = none;
    optional_ns spawn_ns;       ///< unknown for tasks older than the session
    optional_ns first_wake_ns;  ///< start of the wall time; the first resume where no wake was seen
    optional_ns end_ns;         ///< finish; none while it lives at the stop
    task_state state = task_state::spawned;
    bool older_than_session = false;
    bool losses =
        false;  ///< records of it were lost: the split may have gaps, which count as waiting
    bool asio = false;
    bool fiber = false;
    bool job = false;
    std::uint32_t attribute = none;  ///< the first that it carried: index into trace::attributes
    time_split time;                 ///< within the session, from first wake to finish or stop
    optional_ns spawn_to_wake_ns;
    index_range slices;  ///< indices into trace::slices, by time
    index_range awaits;  ///< indices into trace::awaits, by time
};

/// Facts about an event, as bits of event::flags.
enum event_flags : std::uint16_t {
    event_in_frame = 1U << 0,            ///< lived in a coroutine frame or on another stack
    event_suspension_unknown = 1U << 1,  ///< in-frame in a coroutine that is not instrumented
    event_async = 1U << 2,               ///< ended on another thread, or spanned a suspension
    event_clipped = 1U << 3,             ///< straddles the session's start
    event_abandoned = 1U << 4,           ///< its frame was destroyed while suspended
    event_await = 1U << 5,               ///< an await in a coroutine that is no task
    event_explicit = 1U << 6,            ///< a range: begun and ended by calls, or by a completion
    event_open = 1U << 7,                ///< a range that did not end; its end is the session's
};

/// What only some events have: those of tasks that may have been suspended, and those with arguments.
struct event_detail {
    time_split time;  ///< of the scope; where suspension is unknown, all of it is waiting
    std::uint32_t end_thread = none;  ///< index into trace::threads
    std::uint32_t arguments = none;   ///< index into trace::strings
};

/// One decoded scope or range with its place in the tree (torch: FunctionEvent's timing part).
/// Kept small: a trace holds tens of millions.
struct event {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t self_running_ns =
        0;  ///< running less child scopes of the same task and nested slices of others
    std::uint32_t name = none;    ///< index into trace::strings
    std::uint32_t site = none;    ///< index into trace::sites; none for run-time labels
    std::uint32_t thread = none;  ///< where it started: index into trace::threads
    std::uint32_t task = none;    ///< index into trace::tasks; none outside tasks
    std::uint32_t parent =
        none;  ///< enclosing event: of the same task, else of the same thread outside tasks
    std::uint32_t detail =
        none;  ///< index into trace::details; none: it ran from start to end on `thread`
    std::uint32_t attribute = none;  ///< carried when it began: index into trace::attributes
    std::uint16_t flags = 0;         ///< event_flags
};
static_assert(sizeof(event) == 56);

/// What the session asked to know beside an event's times. Texts are indices into trace::strings.
struct event_note {
    std::uint32_t event = none;            ///< index into trace::events
    std::uint32_t input_shapes = none;     ///< as JSON, "[[2, 3], []]"
    std::uint32_t input_strides = none;    ///< the same; empty where they are not known
    std::uint32_t input_types = none;      ///< as JSON, "[\"float\", \"int\"]"
    std::uint32_t concrete_inputs = none;  ///< values of what has no dimensions, as JSON
    std::uint32_t stack = none;            ///< index into trace::stacks
    std::uint32_t forward_thread =
        none;  ///< where the deferred work was created that it runs: index
               ///< into trace::threads; none where it creates some
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
    std::string build_id;  ///< hexadecimal; empty where it has none
};

/// What an allocator reported.
struct memory_event {
    std::int64_t time_ns = 0;
    std::int64_t bytes = 0;  ///< negative: released; out of memory: asked for
    std::uint64_t address = 0;
    std::int64_t total_allocated = 0;  ///< of the allocator, afterwards
    std::int64_t total_reserved = 0;
    std::uint32_t thread = none;  ///< index into trace::threads
    bool out_of_memory = false;
};

/// One item that a stream yielded.
struct stream_item {
    std::int64_t time_ns = 0;
    std::uint64_t number = 0;  ///< from 1; one that is missing was lost
};

/// A range over something that yields items.
struct stream_info {
    std::uint32_t name = none;    ///< index into trace::strings
    std::uint32_t task = none;    ///< that of its beginning: index into trace::tasks
    std::uint32_t thread = none;  ///< where it began: index into trace::threads
    std::int64_t start_ns = 0;
    optional_ns end_ns;  ///< none: it did not end while the session ran
    index_range items;   ///< indices into trace::stream_items, by number
};

struct device_info {
    std::uint32_t id = 0;  ///< its index on the machine
    std::string name;
};

struct device_stream {
    std::uint32_t context = none;
    std::uint32_t stream = none;
    std::string name;
};

/// What a device did, or a call into its runtime or driver that asked for it.
struct device_activity {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    optional_ns queued_ns;   ///< of a kernel: when it came to the device's queue
    std::int64_t bytes = 0;  ///< copied, set, allocated or released
    std::uint64_t address = 0;
    std::uint32_t name = none;     ///< index into trace::strings
    std::uint32_t device = none;   ///< index into trace::devices
    std::uint32_t context = none;  ///< none: unknown
    std::uint32_t stream = none;   ///< none: unknown
    std::uint32_t task = none;     ///< that asked for it: index into trace::tasks
    std::uint32_t thread =
        none;  ///< of calls and what they waited for, allocated and released: index into
               ///< trace::threads; none of what ran on a device
    std::uint32_t call = none;   ///< that asked for it: index into trace::device_activities
    std::uint32_t event = none;  ///< innermost scope around the call: index into trace::events
    std::uint32_t correlation =
        0;  ///< the same in a call and in what it asked for, and may be used again
    coroscope::trace::device_activity what{};
};

/// A suspension that waited for what a stream had been asked to do: a stream that it awaited, that of an event, or one
/// that such a stream had been made to wait for.
struct device_wait {
    std::int64_t time_ns = 0;
    std::uint32_t task = none;   ///< index into trace::tasks
    std::uint32_t await = none;  ///< index into trace::awaits; none: the task did not suspend
    std::uint32_t context = none;
    std::uint32_t stream = none;  ///< none: nobody knows
    std::uint32_t call =
        none;  ///< of an event: that recorded it, and before which what counts had been asked for;
               ///< index into trace::device_activities
    std::uint32_t correlation = 0;  ///< of that call
    bool is_event = false;
    bool is_indirect = false;  ///< another stream of the await was made to wait for it
    /// Positions in trace::stream_order: what had been asked for and ran during the suspension. One that ended
    /// before may stand among them where another, that began earlier, did not.
    index_range activities;
};

/// A stream was made to wait for what another one had been asked to do, up to a recorded event.
struct device_dependency {
    std::int64_t time_ns = 0;  ///< of the call that made it wait
    std::uint32_t context = none;
    std::uint32_t stream = none;
    std::uint32_t awaited_context = none;
    std::uint32_t awaited_stream = none;  ///< none: nobody knows
    std::int64_t recorded_ns =
        0;  ///< of the call that recorded the event; what was asked for before is waited for
};

/// A range that ended where a device's stream came to.
struct device_range {
    std::uint32_t name = none;    ///< index into trace::strings
    std::uint32_t task = none;    ///< that of its beginning: index into trace::tasks
    std::uint32_t thread = none;  ///< where it began: index into trace::threads
    std::uint32_t event = none;   ///< index into trace::events
    std::int64_t start_ns = 0;
    std::int64_t attached_ns = 0;  ///< when it was tied to the stream
    optional_ns end_ns;            ///< none: it did not end while the session ran
    std::uint32_t context = none;
    std::uint32_t stream = none;  ///< none: nobody knows
    /// Positions in trace::range_work: what its task and the tasks that this spawned in it, or outside tasks its
    /// thread, asked that stream to do between its beginning and that moment.
    index_range work;
};

/// What loading took (torch: part of _stats).
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
    std::int64_t duration_ns = 0;  ///< session start to stop (or the last thing known)
    double scope_cost_ns = 0;      ///< the recorder's own cost per scope
    double await_cost_ns = 0;
    std::uint64_t file_bytes = 0;    ///< of a packed trace: before it was packed
    std::uint64_t packed_bytes = 0;  ///< of a packed trace; else 0
    std::string policy;              ///< "drop newest", "overwrite oldest", "wait"
    bool all_threads = false;
    std::string trace_id;
    std::int64_t node_id = -1;    ///< of a distributed run; -1: none
    std::uint64_t asked_for = 0;  ///< coroscope::trace::session_features
    std::vector<std::string> strings;
    std::vector<site_info> sites;
    std::vector<thread_info> threads;
    std::vector<task_info> tasks;
    std::vector<slice> slices;       ///< by (task, start), so that a task's stand together
    std::vector<await_info> awaits;  ///< by (task, suspend)
    std::vector<event_detail> details;
    std::vector<attribute_info> attributes;
    std::vector<stream_info> streams;       ///< by start
    std::vector<stream_item> stream_items;  ///< by (stream, number)
    std::vector<event_note> notes;          ///< by event; few events have one
    std::vector<call_stack> stacks;
    std::vector<std::uint64_t> frames;
    std::vector<code_module> modules;  ///< by load address
    std::vector<memory_event> memory;  ///< by (time, thread)
    std::vector<device_info> devices;
    std::vector<device_stream> device_streams;  ///< those that have a name, by (context, stream)
    std::vector<device_activity> device_activities;  ///< by (start ascending, end descending)
    std::vector<std::uint32_t>
        stream_order;  ///< those that ran on a stream, by (context, stream), then in their order
    std::vector<device_wait> device_waits;               ///< by (await, context, stream), each once
    std::vector<device_dependency> device_dependencies;  ///< by (context, stream, time)
    std::vector<device_range> device_ranges;             ///< by start
    std::vector<std::uint32_t>
        range_work;  ///< positions in stream_order, by range, then in their order
    std::vector<event>
        events;  ///< by (start ascending, end descending, stream position descending)
    trace_health health;
    load_statistics took;
};

/// The note of an event (an index into trace::events), null where it has none.
[[nodiscard]] COROSCOPE_API const event_note* find_note(const trace& loaded, std::uint32_t event);

/// The waits of an await (an index into trace::awaits): positions in trace::device_waits.
[[nodiscard]] COROSCOPE_API index_range find_device_waits(const trace& loaded, std::uint32_t await);

/// Whether it is a call into the runtime or the driver.
[[nodiscard]] constexpr bool is_call(coroscope::trace::device_activity what) {
    return what == coroscope::trace::device_activity::runtime_call ||
           what == coroscope::trace::device_activity::driver_call;
}

/// Whether it is work of the device itself: a kernel, a copy or a set.
[[nodiscard]] constexpr bool is_device_work(coroscope::trace::device_activity what) {
    return what >= coroscope::trace::device_activity::kernel &&
           what <= coroscope::trace::device_activity::set;
}

/// The value of a key among an attribute and those below it: an index into trace::strings, `none` where
/// it is not carried.
[[nodiscard]] COROSCOPE_API std::uint32_t
attribute_value(const trace& loaded, std::uint32_t attribute, std::string_view key);

}  // namespace coroscope::analysis
