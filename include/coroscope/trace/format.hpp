// SPDX-License-Identifier: Apache-2.0
#pragma once

// The trace format, version 2, as types: the output of a session. See also
// docs/reference/format.md.
//
// A trace is a file header of 4096 bytes followed by chunks of equal size. Everything is
// little-endian. A chunk is a header of 64 bytes followed by records. A record is a whole number of
// 16-byte units. Its second word, the *tag*, names its kind and is written last. A reader therefore
// never sees half a record, even if the process was killed: a tag of zero ends a chunk.
//
// The runtime writes through this header and the analysis reads through it. The header must hold no
// behaviour beyond packing and unpacking of fields, and must include nothing but <cstdint> and
// <cstddef>. file_header.hpp defines the first bytes of a trace, device_format.hpp the bodies of
// device records.

#include <cstddef>
#include <cstdint>

#include <coroscope/trace/device_format.hpp>
#include <coroscope/trace/file_header.hpp>

namespace coroscope::trace {

inline constexpr std::uint64_t file_magic = 0x01'45'43'41'52'54'53'43;  // "CSTRACE\x01" in memory
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint32_t chunk_magic = 0x4b'4e'48'43;  // "CHNK" in memory
inline constexpr std::size_t chunk_header_bytes = 64;
inline constexpr std::size_t record_unit_bytes = 16;
/// The word behind the last chunk of a file while its session runs. If it is gone, the file was
/// cut. A chunk that begins at this word counts as never opened.
inline constexpr std::uint64_t end_mark = 0x00'00'45'4e'00'00'00'00;

// clang-format off: tables with a remark beside each row
/// The content of a chunk.
enum class chunk_kind : std::uint16_t {
    records = 1,   ///< records in writing order, of one thread or of several (see next_thread)
    metadata = 2,  ///< sites, strings, threads, clock points; never overwritten
    tasks = 3,     ///< the live-task table (overwrite_oldest): an array of task_slot
    open = 5,      ///< scopes that have not ended: open_scope (open_format.hpp); never overwritten
    kernel = 6,    ///< the kernel's facts about threads (kernel_format.hpp)
};

/// The state of a chunk.
enum class chunk_state : std::uint16_t {
    free = 0,         ///< zeroed, without an owner
    open = 1,         ///< its thread may be writing
    handed_over = 2,  ///< complete; waits for its checksum
    sealed = 3,       ///< used, records and checksum are valid
};

/// The first bytes of a chunk.
struct chunk_header {
    std::uint32_t magic;  ///< chunk_magic; 0 if the chunk was never opened
    chunk_kind kind;
    chunk_state state;
    std::uint64_t number;  ///< order in which the session's chunks were opened, from 1
    std::uint32_t thread;  ///< logical id of its first or only writing thread, from 1; 0: metadata
    std::uint32_t records; ///< number of records once sealed
    std::uint32_t used_bytes;  ///< bytes of records after the header once sealed
    std::uint32_t reserved;
    std::uint64_t current_task;  ///< the thread's current task when it opened the chunk
    std::uint64_t opened_ticks;
    std::uint64_t checksum;  ///< XXH3-64 of used_bytes bytes after the header once sealed
    std::uint64_t thread_body_offset;  ///< offset of the thread's thread_body; 0: none
};
static_assert(sizeof(chunk_header) == chunk_header_bytes);

/// The kind of a record: the low five bits of its tag. Zero ends a chunk.
enum class record_kind : std::uint8_t {
    none = 0,
    // Kinds in chunks of kind records. The number in brackets is the size in 16-byte units.
    scope = 1,        ///< [1] start | site, duration in the tag's value
    long_scope = 2,   ///< [2] start | site, scope_flags | duration | mark of the start
    suspend = 3,      ///< [2] ticks | await site, awaited object | task | next
    /// [2] ticks | executor or 0, resume_flags and the await's outcome | task | previous
    resume = 4,
    transfer = 5,  ///< [2] ticks | await site, - | awaiter | awaited: one suspends, the other runs
    finish_transfer = 6,  ///< [2] ticks | -, finish_flags | finished | resumed: the awaiter runs on
    cancel = 7,       ///< [2] ticks | -, - | task | -: its last suspend did not happen
    /// [2] ticks | spawn site, spawn_flags and the executor (spawn_on()) | task | parent
    spawn = 8,
    /// [2] ticks | executor or 0, waker's thread and wake_flags | task | waker (task, 0 if none)
    wake = 9,
    finish = 10,      ///< [2] ticks | -, finish_flags | task | next
    awaiting = 11,    ///< [2] ticks | -, - | awaiter | awaited: an edge, no transition
    /// [2] ticks | attribute serial, context_flags | task | previous: owner of later scopes
    context = 12,
    label = 13,       ///< [1+n] ticks | serial, byte count | text: a run-time label
    arguments = 14,   ///< [1+n] start of the scope | its site, byte count | text
    attribute = 15,   ///< [1+n] ticks | serial, byte count | attribute_body, key, value
    /// [2] ticks | serial of the range's label, - | mark of its start | number from 1; 0: its start
    item = 16,
    /// [2] ticks | serial of an attribute or 0, - | task or 0 | -: carried from here on
    carries = 17,
    note = 18,        ///< [1+n] start of scope or range | -, byte count | note_body, data
    memory = 19,  ///< [3] ticks | -, memory_event | address | bytes | allocated, reserved in all
    /// [1+n] start | site of its name, byte count | device_body: activity or driver call
    device = 25,
    /// [2] ticks | id of the chunk's next writer, - | its task | its thread_body_offset
    next_thread = 28,
    /// [2] ticks | stream, device_wait_kind | waiting task, or mark of a waiting range's start |
    /// context, and above it 32 bits that depend on the kind
    device_wait = 26,
    // Kinds in chunks of kind metadata.
    string = 20,      ///< [1+n] - | string id, byte count | text
    site = 21,        ///< [3] - | site id, - | site_body
    thread = 22,      ///< [1+5] first ticks | thread id, byte count | thread_body (counters live)
    clock = 23,       ///< [2] ticks | -, - | monotonic ns | realtime ns
    module = 24,      ///< [1+n] load address | number, byte count | module_body, build id, path
    device_name = 27, ///< [1+n] 0, or a stream's context + 1 | device or stream, byte count | name
    // Kinds in chunks of kind kernel: kernel_format.hpp. Facts are in all kinds of chunks of
    // records.
    processor = 29,  ///< [1] CLOCK_MONOTONIC ns | kernel's thread id, processor_flags
    fact = 30,       ///< [1+n] CLOCK_MONOTONIC ns | fact_kind, byte count | body
    /// [1] ticks | see make_plain_suspend() and make_plain_resume(): in chunks of kind records
    plain_await = 31,
};

/// Flags of long_scope (the tag's value).
enum scope_flags : std::uint32_t {
    scope_in_frame = 1U << 0,   ///< lived in a coroutine frame or on another stack
    scope_exact = 1U << 1,  ///< in-frame, in the frame of an instrumented coroutine or Asio task
    scope_dynamic = 1U << 2,    ///< the site field is the serial of a label of the start's thread
    scope_explicit = 1U << 3,   ///< begin()/end() of a record_function
    scope_await = 1U << 4,  ///< an await in a coroutine that is not a task: suspended all the time
    scope_clipped = 1U << 5,    ///< began before the session; start is the session's start
    scope_range = 1U << 6,      ///< ended by a completion, on any thread; beside scope_explicit
    scope_left_out = 1U << 7,   ///< a request of which nothing else is recorded
};

/// Flags of context.
enum context_flags : std::uint32_t {
    context_restored = 1U << 0,  ///< the end of the stretch: the previous context goes on
};

/// Flags of resume.
enum resume_flags : std::uint32_t {
    resume_handed_over = 1U << 0,  ///< woken and resumed by one hand-over: wake = resume
    resume_ready = 1U << 1,  ///< ready as soon as it suspended, by itself: wake = suspend
    resume_overdue = 1U << 2,  ///< written at its suspension or end: it has run for some time
    // The outcome of the await is in bits 3 to 5.
    /// Beside resume_handed_over: the work below, which set the result, called it. Without this
    /// flag it may also be the next task after one that suspended or ended.
    resume_called = 1U << 6,
};

/// Flags of wake, above the waker's thread.
enum wake_flags : std::uint32_t {
    /// A timer expired. The first word is its expiry in CLOCK_MONOTONIC ns, and counts as no later
    /// than the task's next resume, which follows in the same chunk.
    wake_timer = 1U << 20,
    wake_cancel = 1U << 21,  ///< the waker cancelled what the task waited for
    /// The waker had ended before this wake. Until this wake its result waited for a thread of the
    /// waker's executor.
    wake_returned = 1U << 22,
};

/// Flags of spawn.
enum spawn_flags : std::uint32_t {
    spawn_started = 1U << 0,  ///< runs from this moment on, on this thread
    spawn_ready = 1U << 1,    ///< its first wake is this moment
    spawn_adopted = 1U << 2,  ///< older than the session or restated; ticks may be 0 (unknown)
    spawn_job = 1U << 3,  ///< a job of an executor: not a task of its own if it only resumes others
    spawn_asio = 1U << 4,     ///< an Asio handler or coroutine
    spawn_fiber = 1U << 5,
    spawn_only_resumes = 1U << 6,  ///< a job that is known to only resume others
    spawn_named = 1U << 7,    ///< beside spawn_adopted: a better site; the spawn is elsewhere
};

/// Flags of finish and finish_transfer.
enum finish_flags : std::uint32_t {
    finish_exception = 1U << 0,  ///< an exception left it
    finish_destroyed = 1U << 1,  ///< destroyed while suspended: abandoned
    finish_cancelled = 1U << 2,  ///< destroyed without ever running
    /// beside one of these two: by the shutdown of the service that would have resumed it
    finish_with_service = 1U << 3,
};

/// The kind of a site.
enum class site_kind : std::uint8_t { scope = 0, function = 1, await = 2, coroutine = 3, operation = 4, job = 5, resource = 6, request = 7, value = 8 };

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
    std::uint16_t column;     ///< 0: unknown
    /// of a coroutine: bytes of its frame, rounded up to 64; 0: unknown
    std::uint32_t frame_bytes;
};
static_assert(sizeof(site_body) == 32);

/// Body of a thread record. The counters are updated in place by their thread.
struct thread_body {
    std::uint64_t os_thread_id;
    std::uint64_t dropped_newest;       ///< (live) records lost because no chunk was free
    std::uint64_t overwritten;          ///< (live) records lost to overwrite_oldest
    /// (live) set here and not carried: see attribute_unknown
    std::uint32_t attributes_without_room;
    /// (live) awaits, spawns and ranges here that got site 0: no room
    std::uint32_t places_without_room;
    std::uint64_t last_ticks;           ///< when the thread left, 0 while it lives
    std::uint64_t waited_ticks;         ///< time spent waiting for a chunk (policy wait)
    std::uint64_t truncated_payloads;   ///< labels or arguments cut to payload_limit
    char name[24];                      ///< NUL-terminated
};
static_assert(sizeof(thread_body) == 80);

/// In place of an attribute's serial: an attribute was set and found no room. That attribute and
/// those below it are unknown.
inline constexpr std::uint32_t attribute_unknown = ~std::uint32_t{0};

/// The head of an attribute record's body, before its text: one attribute on top of its parent's.
struct attribute_body {
    std::uint32_t parent;  ///< serial, 0 for none; or attribute_unknown
    std::uint8_t key_bytes;
    std::uint8_t value_bytes;
    std::uint16_t reserved;
};
static_assert(sizeof(attribute_body) == 8);

/// What follows the last return address of a stack that is not whole: frames are missing there.
inline constexpr std::uint64_t stack_cut = ~std::uint64_t{0};  ///< more than the recorder keeps
/// The unwinder knew no way to the next frame.
inline constexpr std::uint64_t stack_given_up = stack_cut - 1;

/// The subject of a note.
enum class note_kind : std::uint8_t {
    inputs = 1,    ///< four lines of JSON: dimensions, strides, types, values of the arguments
    stack = 2,     ///< return addresses of 8 bytes each, innermost first; then perhaps stack_cut or
                   ///< stack_given_up
    sequence = 3,  ///< sequence_body
};

/// The head of a note's body, before its data.
struct note_body {
    note_kind what;
    std::uint8_t reserved[7];
};
static_assert(sizeof(note_body) == 8);

/// Ties the place that created deferred work to the place that runs it.
struct sequence_body {
    std::int64_t number;           ///< of the creating thread's sequence
    std::uint64_t forward_thread;  ///< 0 where the work is created; else the creating thread
};
static_assert(sizeof(sequence_body) == 16);

/// The event of a memory record (the tag's value).
enum class memory_event : std::uint32_t { allocated = 0, released = 1, out_of_memory = 2 };

/// The head of a module record's body, before build id and path.
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
static_assert(tag_kind_bits + 32 == tag_value_shift && tag_value_shift + tag_value_bits == 64);

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

// The tag of a plain_await: kind (5 bits) | 0: suspend, 1: resume | 58 bits.
//
// A plain suspend is that of the task that is current on the thread, which no task follows, and
// which awaits no object: await site (32 bits) | low bits of the task (26 bits), as a check. A
// plain resume is that of a task on a thread that runs no task, without flags and with the outcome
// `value`: task (44 bits) | 14 bits, which are 0 and which a reader must ignore.

inline constexpr std::uint64_t plain_resume_bit = std::uint64_t{1} << tag_kind_bits;
inline constexpr unsigned plain_shift = tag_kind_bits + 1;
inline constexpr unsigned plain_task_shift = plain_shift + 32;

constexpr std::uint64_t make_plain_suspend(std::uint32_t site, std::uint64_t task) noexcept {
    return static_cast<std::uint64_t>(record_kind::plain_await) |
           static_cast<std::uint64_t>(site) << plain_shift | task << plain_task_shift;
}
constexpr std::uint64_t make_plain_resume(std::uint64_t task) noexcept {
    return static_cast<std::uint64_t>(record_kind::plain_await) | plain_resume_bit |
           task << plain_shift;
}
constexpr bool is_plain_resume(std::uint64_t tag) noexcept { return (tag & plain_resume_bit) != 0; }
constexpr std::uint32_t plain_site(std::uint64_t tag) noexcept {
    return static_cast<std::uint32_t>(tag >> plain_shift);
}
/// Returns whether a plain suspend may be that of `task`.
constexpr bool is_plain_task(std::uint64_t tag, std::uint64_t task) noexcept {
    return tag >> plain_task_shift == (task << plain_task_shift) >> plain_task_shift;
}

// The mark: start data of a scope. Task (44 bits) | thread (20 bits, saturating).

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

/// The task of a plain resume.
constexpr std::uint64_t plain_task(std::uint64_t tag) noexcept {
    return tag >> plain_shift & (task_id_limit - 1);
}

/// Bytes of payload after the first unit, padded to whole units.
constexpr std::size_t padded_payload(std::size_t bytes) noexcept {
    return (bytes + record_unit_bytes - 1) / record_unit_bytes * record_unit_bytes;
}

/// Size of a record in bytes, from its tag; 0 if the kind is unknown.
constexpr std::size_t record_bytes(std::uint64_t tag) noexcept {
    switch (trace::tag_kind(tag)) {
        case record_kind::processor:
        case record_kind::plain_await:
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
        case record_kind::next_thread:
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
        case record_kind::fact:
        case record_kind::string: return 16 + trace::padded_payload(trace::tag_value(tag));
        case record_kind::none: break;
    }
    return 0;
}

}  // namespace coroscope::trace
