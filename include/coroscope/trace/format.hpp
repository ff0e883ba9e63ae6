// SPDX-License-Identifier: Apache-2.0
#pragma once

// The trace format, version 1: what a session leaves, as types. The prose is docs/format.md.
//
// A trace is a file header of 4096 bytes followed by chunks of equal size. Everything is
// little-endian. A chunk is a header of 64 bytes followed by records. A record is a whole number
// of 16-byte units; its second word (the *tag*) says what it is and is written last, so that a
// reader, or a process killed at any moment, never sees half a record: a tag of zero ends a chunk.
//
// This header is shared by the runtime, which writes, and the analysis, which reads. It holds no
// behaviour beyond packing and unpacking of fields and pulls in nothing but <cstdint>/<cstddef>. What records of devices
// hold stands in device_format.hpp.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/device_format.hpp>

namespace coroscope::trace {

inline constexpr std::uint64_t file_magic = 0x01'45'43'41'52'54'53'43;  // "CSTRACE\x01" in memory
inline constexpr std::uint32_t format_version = 1;
inline constexpr std::uint32_t chunk_magic = 0x4b'4e'48'43;  // "CHNK" in memory
inline constexpr std::size_t file_header_bytes = 4096;
inline constexpr std::size_t chunk_header_bytes = 64;
inline constexpr std::size_t record_unit_bytes = 16;
/// In a file, while its session runs: the word behind the last chunk that it has room for. By it the session knows that
/// nobody cut the file. Where a chunk would begin it is read as one that was never opened.
inline constexpr std::uint64_t end_mark = 0x00'00'45'4e'00'00'00'00;

/// What the session does when no free chunk is left.
enum class overflow_policy : std::uint32_t { drop_newest = 0, overwrite_oldest = 1, wait = 2 };

/// Where ticks come from.
enum class clock_source : std::uint32_t { tsc = 1, cntvct = 2, monotonic_ns = 3 };

/// One moment read on three clocks. ticks == 0 means "not taken".
struct clock_point {
    std::uint64_t ticks;
    std::int64_t monotonic_ns;
    std::int64_t realtime_ns;
};

// clang-format off: tables, whose remarks stand beside what they tell of
/// The first bytes of a trace. Fields marked (live) are updated while the session runs, each by a
/// single aligned store, and are right after a kill.
struct file_header {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t header_bytes;  ///< file_header_bytes; where the first chunk starts
    std::uint32_t chunk_bytes;   ///< size of every chunk, a multiple of 4096
    overflow_policy policy;
    clock_source clock;
    std::uint32_t process_id;
    std::uint64_t session_id;        ///< random; tells two traces apart
    std::uint64_t chunk_count;       ///< (live) chunks that the file has room for
    clock_point start;               ///< when the session started
    clock_point last;                ///< (live) the newest calibration point
    std::uint64_t finished;          ///< (live) 1 once stop() sealed the trace
    std::uint64_t lost_records;      ///< (live) dropped where no thread record could be made
    std::uint64_t tasks_without_slot;///< (live) overwrite_oldest: live tasks the task table had no room for
    std::uint64_t late_records;      ///< records in flight when the session stopped
    std::uint64_t write_error;       ///< (live) errno that stopped the trace from growing, 0 if none
    std::uint32_t scope_cost_ticks;  ///< the recorder's own cost per scope, times 256
    std::uint32_t await_cost_ticks;  ///< the same per suspension (suspend + resume), times 256
    std::uint64_t all_threads;       ///< 1: the session records every thread of the process
    std::uint64_t limit_bytes;       ///< the session's memory bound
    char process_name[64];           ///< NUL-terminated
    std::uint64_t asio;              ///< (live) asio_tracking
    char trace_id[64];               ///< NUL-terminated; chosen by the program, else random
    std::uint64_t node;              ///< of a distributed run: the node's id and 1; 0: none
    std::uint64_t asked_for;         ///< session_features
    std::uint64_t devices;           ///< (live) device_recording
    std::uint64_t lost_device_records;  ///< (live) what the devices' recorder dropped, or nobody could keep
    char device_message[160];        ///< NUL-terminated: why devices are not recorded, or not wholly
    std::uint64_t crash_signal;      ///< (live) the fatal signal that the session reported, 0 if none; written last
    char crash_report[2048];         ///< NUL-terminated: signal, thread and async stack
};
static_assert(sizeof(file_header) <= file_header_bytes);

enum class chunk_kind : std::uint16_t {
    records = 1,   ///< records of one thread, in the order it wrote them
    metadata = 2,  ///< sites, strings, threads, clock points; never overwritten
    tasks = 3,     ///< the live-task table (overwrite_oldest): an array of task_slot
};

enum class chunk_state : std::uint16_t {
    free = 0,         ///< zeroed, owned by nobody
    open = 1,         ///< its thread may be writing
    handed_over = 2,  ///< complete; waits for its checksum
    sealed = 3,       ///< used, records and checksum are valid
};

/// Does the program's Asio tell what it does?
enum class asio_tracking : std::uint64_t {
    in_order = 0,  ///< or it has none, as far as can be seen
    missing = 1,   ///< no part of the program was compiled with handler tracking
    mixed = 2,     ///< some were: the one-definition rule is broken
};

/// Does the session record devices?
enum class device_recording : std::uint64_t {
    not_asked = 0,
    recorded = 1,      ///< device_message, where there is one, says what is missing
    not_recorded = 2,  ///< device_message says why
};

/// What the session was asked to record beside scopes and tasks.
enum session_features : std::uint64_t {
    feature_shapes = 1U << 0,
    feature_memory = 1U << 1,
    feature_stacks = 1U << 2,
    feature_flops = 1U << 3,
    feature_modules = 1U << 4,
};

/// The first bytes of a chunk.
struct chunk_header {
    std::uint32_t magic;  ///< chunk_magic, or 0 where the chunk was never opened
    chunk_kind kind;
    chunk_state state;
    std::uint64_t number;  ///< order in which the session's chunks were opened, from 1
    std::uint32_t thread;  ///< logical id of the writing thread, from 1; 0 for metadata
    std::uint32_t records; ///< number of records once sealed
    std::uint32_t used_bytes;  ///< bytes of records after the header once sealed
    std::uint32_t reserved;
    std::uint64_t current_task;  ///< the task that was current on the thread when it opened this
    std::uint64_t opened_ticks;
    std::uint64_t checksum;  ///< XXH3-64 of used_bytes bytes after the header once sealed
    std::uint64_t thread_body_offset;  ///< where the thread's thread_body stands in the file, 0 if nowhere
};
static_assert(sizeof(chunk_header) == chunk_header_bytes);

/// What a record is: the low five bits of its tag. Zero ends a chunk.
enum class record_kind : std::uint8_t {
    none = 0,
    // In chunks of kind records. Sizes in 16-byte units stand in brackets.
    scope = 1,        ///< [1] start | site, duration in the tag's value
    long_scope = 2,   ///< [2] start | site, scope_flags | duration | mark of the start
    suspend = 3,      ///< [2] ticks | await site, flags | task | next
    resume = 4,       ///< [2] ticks | -, resume_flags | task | previous
    transfer = 5,     ///< [2] ticks | await site, - | awaiter | awaited: the one suspends, the other runs
    finish_transfer = 6,  ///< [2] ticks | -, finish_flags | finished | resumed: its awaiter runs on
    cancel = 7,       ///< [2] ticks | -, - | task | -: its last suspend did not happen
    spawn = 8,        ///< [2] ticks | spawn site, spawn_flags | task | parent
    wake = 9,         ///< [2] ticks | -, waker's thread | task | waker (task, 0 if none)
    finish = 10,      ///< [2] ticks | -, finish_flags | task | next
    awaiting = 11,    ///< [2] ticks | -, - | awaiter | awaited: an edge, no transition
    context = 12,     ///< [2] ticks | serial of its attribute, context_flags | task | previous: scopes from here
                      ///< belong to that task
    label = 13,       ///< [1+n] ticks | serial, byte count | text: a run-time label
    arguments = 14,   ///< [1+n] start of the scope | its site, byte count | text
    attribute = 15,   ///< [1+n] ticks | serial, byte count | attribute_body, key, value
    item = 16,        ///< [2] ticks | serial of the range's label, - | mark of its start | number, from 1; 0: it has items
    carries = 17,     ///< [2] ticks | serial of an attribute or 0, - | task or 0 | -: what its context carries from here
    note = 18,        ///< [1+n] start of the scope or range | -, byte count | note_body and what it says: what else
                      ///< is known of the scope that began at that moment on this thread
    memory = 19,      ///< [3] ticks | -, memory_event | address | bytes | allocated in all | reserved in all
    device = 25,      ///< [1+n] start | site that names it, byte count | device_body: what a device did, or a call into
                      ///< its driver
    device_wait = 26, ///< [2] ticks | stream, device_wait_kind | task, or mark of a range's start | context, and above it
                      ///< 32 bits that depend on the kind: who waits from here on for what that stream does
    // In chunks of kind metadata.
    string = 20,      ///< [1+n] - | string id, byte count | text
    site = 21,        ///< [3] - | site id, - | site_body
    thread = 22,      ///< [1+5] first ticks | thread id, byte count | thread_body (counters live)
    clock = 23,       ///< [2] ticks | -, - | monotonic ns | realtime ns
    module = 24,      ///< [1+n] load address | number, byte count | module_body, build id, path
    device_name = 27, ///< [1+n] 0 | the device's index, byte count | text; of a stream: its context and 1 | the stream
};

/// Flags of long_scope (the tag's value).
enum scope_flags : std::uint32_t {
    scope_in_frame = 1U << 0,   ///< lived in a coroutine frame or on another stack
    scope_exact = 1U << 1,      ///< in-frame, in the frame of an instrumented coroutine or an Asio task
    scope_dynamic = 1U << 2,    ///< the site field is the serial of a label record of the start's thread
    scope_explicit = 1U << 3,   ///< begin()/end() of a record_function
    scope_await = 1U << 4,      ///< an await in a coroutine that is no task: suspended throughout
    scope_clipped = 1U << 5,    ///< began before the session; start is the session's
    scope_range = 1U << 6,      ///< ended when something completed, on whatever thread; beside scope_explicit
};

/// Flags of context.
enum context_flags : std::uint32_t {
    context_restored = 1U << 0,  ///< the end of such a stretch: what was before it goes on
};

/// Flags of resume.
enum resume_flags : std::uint32_t {
    resume_handed_over = 1U << 0,  ///< woken and resumed by one hand-over: wake = resume
    resume_ready = 1U << 1,  ///< it was ready as soon as it suspended, by itself: wake = suspend
};

/// Flags of spawn.
enum spawn_flags : std::uint32_t {
    spawn_started = 1U << 0,  ///< runs from this moment on, on this thread
    spawn_ready = 1U << 1,    ///< its first wake is this moment
    spawn_adopted = 1U << 2,  ///< older than the session or restated; ticks may be 0 (unknown)
    spawn_job = 1U << 3,      ///< a job of an executor: no task of its own if all that it does is to resume others
    spawn_asio = 1U << 4,     ///< an Asio handler or coroutine
    spawn_fiber = 1U << 5,
    spawn_only_resumes = 1U << 6,  ///< a job that is known to do nothing else
};

/// Flags of finish and finish_transfer.
enum finish_flags : std::uint32_t {
    finish_exception = 1U << 0,  ///< an exception left it
    finish_destroyed = 1U << 1,  ///< destroyed while suspended: abandoned
    finish_cancelled = 1U << 2,  ///< destroyed without ever running
};

/// Site of a suspension, spawn or scope.
enum class site_kind : std::uint8_t { scope = 0, function = 1, await = 2, coroutine = 3, operation = 4, job = 5 };

/// Body of a site record. Strings are ids of string records; 0 is the empty string.
struct site_body {
    std::uint32_t label;
    std::uint32_t function;
    std::uint32_t file;
    std::uint32_t line;
    std::uint32_t category;
    std::uint32_t arguments;  ///< names of the captured arguments, comma separated
    std::uint8_t kind;        ///< site_kind
    std::uint8_t level;
    std::uint16_t reserved;
    std::uint32_t reserved2;
};
static_assert(sizeof(site_body) == 32);

/// Body of a thread record. The counters are updated in place by their thread.
struct thread_body {
    std::uint64_t os_thread_id;
    std::uint64_t dropped_newest;       ///< (live) records lost because no chunk was free
    std::uint64_t overwritten;          ///< (live) records lost to overwrite_oldest
    std::uint64_t reserved;
    std::uint64_t last_ticks;           ///< when the thread left, 0 while it lives
    std::uint64_t waited_ticks;         ///< time spent waiting for a chunk (policy wait)
    std::uint64_t truncated_payloads;   ///< labels or arguments cut to payload_limit
    char name[24];                      ///< NUL-terminated
};
static_assert(sizeof(thread_body) == 80);

/// What stands before the text of an attribute record: one attribute on top of those of its parent.
struct attribute_body {
    std::uint32_t parent;  ///< serial, 0 for none
    std::uint8_t key_bytes;
    std::uint8_t value_bytes;
    std::uint16_t reserved;
};
static_assert(sizeof(attribute_body) == 8);

/// What a note is about.
enum class note_kind : std::uint8_t {
    inputs = 1,    ///< four lines of JSON: dimensions, strides, types, values of the arguments
    stack = 2,     ///< return addresses of 8 bytes each, innermost first
    sequence = 3,  ///< sequence_body
};

/// What stands before the rest of a note.
struct note_body {
    note_kind what;
    std::uint8_t reserved[7];
};
static_assert(sizeof(note_body) == 8);

/// Ties the place that created deferred work to the place that runs it.
struct sequence_body {
    std::int64_t number;           ///< of the creating thread's sequence
    std::uint64_t forward_thread;  ///< 0 where the work is created; where it runs, the thread that did
};
static_assert(sizeof(sequence_body) == 16);

/// What a memory record tells (the tag's value).
enum class memory_event : std::uint32_t { allocated = 0, released = 1, out_of_memory = 2 };

/// What stands before a module's build id and path.
struct module_body {
    std::uint64_t bytes;  ///< from the load address to the end of its code
    std::uint8_t build_id_bytes;
    std::uint8_t reserved[7];
};
static_assert(sizeof(module_body) == 16);

/// One live task of the task table. `task` is written last; 0 is a free slot.
struct task_slot {
    std::uint64_t task;
    std::uint64_t spawn_ticks;
    std::uint64_t parent;
    std::uint32_t site;
    std::uint32_t flags;  ///< spawn_flags
};
// clang-format on
static_assert(sizeof(task_slot) == 32);

/// Longest payload of a label, arguments or string record in bytes; longer text is cut.
inline constexpr std::size_t payload_limit = 4096;

// The tag: kind (5 bits) | id (32 bits) | value (27 bits).

inline constexpr unsigned tag_kind_bits = 5;
inline constexpr unsigned tag_value_shift = 37;
inline constexpr unsigned tag_value_bits = 27;
inline constexpr std::uint64_t tag_value_limit = std::uint64_t{1} << tag_value_bits;

constexpr std::uint64_t make_tag(record_kind kind, std::uint32_t id, std::uint64_t value) noexcept {
    return static_cast<std::uint64_t>(kind) | (static_cast<std::uint64_t>(id) << tag_kind_bits) |
           (value << tag_value_shift);
}
constexpr record_kind tag_kind(std::uint64_t tag) noexcept {
    return static_cast<record_kind>(tag & ((1U << tag_kind_bits) - 1));
}
constexpr std::uint32_t tag_id(std::uint64_t tag) noexcept {
    return static_cast<std::uint32_t>(tag >> tag_kind_bits);
}
constexpr std::uint32_t tag_value(std::uint64_t tag) noexcept {
    return static_cast<std::uint32_t>(tag >> tag_value_shift);
}

// The mark: what a scope remembers of its start. Task (44 bits) | thread (20 bits, saturating).

inline constexpr unsigned mark_thread_bits = 20;
inline constexpr std::uint32_t mark_thread_unknown = (1U << mark_thread_bits) - 1;
inline constexpr std::uint64_t task_id_limit = std::uint64_t{1} << (64 - mark_thread_bits);

constexpr std::uint64_t make_mark(std::uint64_t task, std::uint32_t thread) noexcept {
    return (task << mark_thread_bits) |
           (thread < mark_thread_unknown ? thread : mark_thread_unknown);
}
constexpr std::uint64_t mark_task(std::uint64_t mark) noexcept { return mark >> mark_thread_bits; }
constexpr std::uint32_t mark_thread(std::uint64_t mark) noexcept {
    return static_cast<std::uint32_t>(mark) & mark_thread_unknown;
}

/// Bytes of payload after the first unit, padded to whole units.
constexpr std::size_t padded_payload(std::size_t bytes) noexcept {
    return (bytes + record_unit_bytes - 1) / record_unit_bytes * record_unit_bytes;
}

/// Size of a record in bytes, from its tag; 0 where the kind is unknown.
constexpr std::size_t record_bytes(std::uint64_t tag) noexcept {
    switch (tag_kind(tag)) {
        case record_kind::scope: return 16;
        case record_kind::long_scope:
        case record_kind::suspend:
        case record_kind::resume:
        case record_kind::transfer:
        case record_kind::finish_transfer:
        case record_kind::cancel:
        case record_kind::spawn:
        case record_kind::wake:
        case record_kind::finish:
        case record_kind::awaiting:
        case record_kind::context:
        case record_kind::carries:
        case record_kind::item:
        case record_kind::device_wait:
        case record_kind::clock: return 32;
        case record_kind::memory: return 48;
        case record_kind::site: return 16 + sizeof(site_body);
        case record_kind::thread: return 16 + sizeof(thread_body);
        case record_kind::label:
        case record_kind::arguments:
        case record_kind::attribute:
        case record_kind::note:
        case record_kind::module:
        case record_kind::device:
        case record_kind::device_name:
        case record_kind::string: return 16 + padded_payload(tag_value(tag));
        case record_kind::none: break;
    }
    return 0;
}

}  // namespace coroscope::trace
