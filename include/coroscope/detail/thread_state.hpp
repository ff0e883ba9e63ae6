// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime's thread-local state: what the inline half of the recorder looks at. It is trivially
// constructible and at most 128 bytes, so that the initial-exec model fits even after dlopen.
//
// Only its own thread touches it, but for two words that others write while starting or stopping a
// session: `gate` (atomic read-modify-write on both sides) and `limit` (set to null by a stop).

#include <cstdint>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/ticks.hpp>

namespace coroscope::detail {

struct fiber_state;
struct handler_frame;
struct task_state;
struct thread_record;

// clang-format off: tables, whose remarks stand beside what they tell of
/// Why a transition or a scope on this thread must not be skipped. Zero: nothing wants to know. Negative: a
/// scope begins the careful way. gate_live is the lowest bit, so that one comparison finds whether
/// anything else is set: scopes are of no interest to live tracking.
enum gate_bits : std::int32_t {
    gate_live = 1 << 0,        ///< the process keeps a table of its live tasks
    gate_local = 1 << 1,       ///< the thread's context carries a live session
    gate_global = 1 << 2,      ///< a session of all threads is on
    gate_task_table = 1 << 3,  ///< beside the two above: the trace keeps a table of starts
    gate_devices = 1 << 4,     ///< beside local or global: devices are recorded, too
    gate_careful = -0x7fffffff - 1,            ///< the sign; only in those below
    gate_stacks = gate_careful | 1 << 28,      ///< beside the others: scopes note the stack at their start
    gate_observed = gate_careful | 1 << 27,    ///< beside the others: scopes may be observed here
    gate_slow_clock = gate_careful | 1 << 29,  ///< beside the others: the counter is no clock here
    gate_unknown = gate_careful | 1 << 30,     ///< the thread never called us: find out
};

struct thread_state {
    std::int32_t gate = gate_unknown;
    std::uint32_t bound_session = 0;    ///< generation of the session whose chunk `cursor` points into
    std::uint64_t mark = 0;             ///< current task | thread, as in trace/format.hpp
    char* cursor = nullptr;             ///< next record in the thread's chunk
    char* limit = nullptr;              ///< records may begin below it; null: go the slow way
    std::uintptr_t stack_low = 0;       ///< lowest address of the thread's stack
    std::uintptr_t stack_bytes = 0;
    task_state* frame = nullptr;        ///< the running task's state; null outside instrumented ones. Of another
                                        ///< task than `mark` where a context was put on top of it
    void* handover_target = nullptr;    ///< frame that a symmetric transfer on this thread resumes now
    std::uint64_t handover_ticks = 0;
    thread_record* record = nullptr;    ///< the registry's entry, null until the thread is registered
    std::uint64_t next_task = 0;        ///< next free id of the thread's block; a block ends at a multiple
    std::uint64_t carried = 0;          ///< the current context's session | attributes << 32
    fiber_state* fiber = nullptr;       ///< the fiber whose stack the thread runs
    handler_frame* invocation = nullptr;  ///< the innermost of Asio's handlers that runs on that stack
    bool reporting = false;             ///< an allocation is being reported: what that runs into is not
};
// clang-format on
static_assert(sizeof(thread_state) <= 128, "initial-exec thread-locals must stay small");

#if defined(__clang__) || defined(__GNUC__)
extern COROSCOPE_API __thread thread_state this_thread __attribute__((tls_model("initial-exec")));
#endif

// How inline code reaches it. Before version 19 clang keeps the address of a thread-local where a coroutine goes on on
// another thread: it takes it out of a loop around a co_await. The offset that is kept here instead is the same on every
// thread (docs/decisions/0008).
#if defined(__clang__) && __clang_major__ < 19 && defined(__x86_64__) && !COROSCOPE_FIBERS
using thread_view = thread_state __attribute__((address_space(257)));  // relative to %fs
[[gnu::always_inline]] inline thread_view& here() noexcept {
    thread_view* offset;
    asm("{movq _ZN9coroscope6detail11this_threadE@GOTTPOFF(%%rip), %0|"
        "mov %0, qword ptr [rip + _ZN9coroscope6detail11this_threadE@GOTTPOFF]}"
        : "=r"(offset));
    return *offset;
}
#else
[[gnu::always_inline]] inline thread_state& here() noexcept { return this_thread; }
#endif

/// A context's session and attributes as one word: the pieces of the state that travel with a task
/// are moved as whole words, because reading one back in another size stalls the processor.
constexpr std::uint64_t make_carried(std::uint32_t session, std::uint32_t attributes) noexcept {
    return session | static_cast<std::uint64_t>(attributes) << 32;
}
constexpr std::uint32_t carried_session(std::uint64_t carried) noexcept {
    return static_cast<std::uint32_t>(carried);
}
constexpr std::uint32_t carried_attributes(std::uint64_t carried) noexcept {
    return static_cast<std::uint32_t>(carried >> 32);
}

// How code that is inlined into the user's functions reaches the thread-local state; see COROSCOPE_FIBERS.
#if COROSCOPE_FIBERS
#define COROSCOPE_THREAD_ACCESS [[gnu::noinline]] inline
#else
#define COROSCOPE_THREAD_ACCESS [[gnu::always_inline]] inline
#endif

/// What wants to know of this thread's tasks, if anything. One load, relaxed: a session's start
/// reaches other threads when they look next.
COROSCOPE_THREAD_ACCESS std::int32_t load_gate() noexcept {
    return __atomic_load_n(&here().gate, __ATOMIC_RELAXED);
}

/// Does anything look at scopes here (or is it unknown)? Sessions and observers do.
[[gnu::always_inline]] inline bool wants_scopes(std::int32_t gate) noexcept {
    return static_cast<std::uint32_t>(gate) > gate_live;
}

/// Is anything recording here (or is it unknown)?
[[gnu::always_inline]] inline bool is_recording(std::int32_t gate) noexcept {
    return (gate & (gate_local | gate_global | (gate_unknown & ~gate_careful))) != 0;
}
[[gnu::always_inline]] inline bool is_recording() noexcept { return is_recording(load_gate()); }

}  // namespace coroscope::detail
