// SPDX-License-Identifier: Apache-2.0
#pragma once

// The runtime's thread-local state, which the inline half of the recorder reads. It is trivially
// constructible and at most 128 bytes, so that the initial-exec model fits even after dlopen.
//
// Thread-safety: only the state's own thread may access it. There are two exceptions, which another
// thread writes when it starts or stops a session: `gate` (both threads use an atomic
// read-modify-write) and `limit` (a stop sets it to null).

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

// clang-format off: tables with a remark beside each row
/// The reasons why a transition or a scope on this thread must not be skipped. Zero: none.
/// Negative: a scope must begin on the slow path. Live tracking does not need scopes. So gate_live
/// is the lowest bit, and one comparison shows whether any other bit is set.
enum gate_bits : std::int32_t {
    gate_live = 1 << 0,        ///< the process keeps a table of its live tasks
    gate_local = 1 << 1,       ///< the thread's context carries a live session
    gate_global = 1 << 2,      ///< a session of all threads is on
    gate_task_table = 1 << 3,  ///< with gate_local or gate_global: there is a live-task table
    gate_devices = 1 << 4,     ///< beside local or global: devices are recorded, too
    gate_sampling = 1 << 5,    ///< beside local or global: some requests may be left out
    gate_careful = -0x7fffffff - 1,            ///< the sign bit; only within the values below
    /// beside the others: scopes note the stack at their start
    gate_stacks = gate_careful | 1 << 28,
    /// beside the others: scopes are named while they are open
    gate_open = gate_careful | 1 << 26,
    gate_observed = gate_careful | 1 << 27,    ///< beside the others: scopes may be observed here
    /// beside the others: the counter is not a usable clock
    gate_slow_clock = gate_careful | 1 << 29,
    gate_unknown = gate_careful | 1 << 30,     ///< the thread has not called the runtime yet
};

struct thread_state {
    std::int32_t gate = gate_unknown;
    std::uint32_t bound_session = 0;    ///< generation of the session whose chunk has `cursor`
    std::uint64_t mark = 0;             ///< current task | thread, as in trace/format.hpp
    char* cursor = nullptr;             ///< next record in the thread's chunk
    char* limit = nullptr;              ///< records may begin below it; null: take the slow path
    std::uintptr_t stack_low = 0;       ///< lowest address of the thread's stack
    std::uintptr_t stack_bytes = 0;
    /// State of the running instrumented task, else null. If a context was installed on top of that
    /// task, `mark` names the context's task instead.
    task_state* frame = nullptr;
    const void* handover_target = nullptr;  ///< frame that is resumed here next; + 1: by a call
    std::uint64_t handover_ticks = 0;
    thread_record* record = nullptr;    ///< entry in the registry; null until registered
    std::uint64_t next_task = 0;  ///< next free task id; a multiple of the block size: no block
    std::uint64_t carried = 0;          ///< the current context's session | attributes << 32
    fiber_state* fiber = nullptr;       ///< the fiber whose stack the thread runs
    handler_frame* invocation = nullptr;  ///< the innermost of Asio's handlers on that stack
    bool reporting = false;             ///< an allocation is being reported; nested ones are not
    bool ending_service = false;  ///< a service shuts down here: the tasks destroyed end with it
};
// clang-format on
static_assert(sizeof(thread_state) <= 128, "initial-exec thread-locals must stay small");

#if defined(__clang__) || defined(__GNUC__)
extern COROSCOPE_API __thread thread_state this_thread __attribute__((tls_model("initial-exec")));
#endif

// Access to the thread-local state for inline code. Before version 19, clang hoists the address of
// a thread-local out of a loop around a co_await, and uses that address after the coroutine has
// moved to another thread. This code keeps the offset of the thread-local instead, which is the
// same on every thread (docs/decisions/0008).
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

/// Returns a context's session and attributes as one word. The parts of the state that belong to
/// the current task are read and written as whole words, because a load whose size differs from the
/// size of the store would stall the processor.
constexpr std::uint64_t make_carried(std::uint32_t session, std::uint32_t attributes) noexcept {
    return session | static_cast<std::uint64_t>(attributes) << 32;
}
constexpr std::uint32_t carried_session(std::uint64_t carried) noexcept {
    return static_cast<std::uint32_t>(carried);
}
/// Bits of a context's session beside its generation, which is never as large. A context has one of
/// them if it belongs to a request of a session that samples requests.
inline constexpr std::uint32_t left_out_request = std::uint32_t{1} << 31;  ///< it is left out
inline constexpr std::uint32_t full_request = std::uint32_t{1} << 30;  ///< it is recorded in full
/// Returns the generation of a context's session; 0: the context has no session of its own.
constexpr std::uint32_t session_generation(std::uint32_t session) noexcept {
    return session & ~(left_out_request | full_request);
}
constexpr std::uint32_t carried_attributes(std::uint64_t carried) noexcept {
    return static_cast<std::uint32_t>(carried >> 32);
}

// For functions that are inlined into user code and access the thread-local state; see
// COROSCOPE_FIBERS.
#if COROSCOPE_FIBERS
#define COROSCOPE_THREAD_ACCESS [[gnu::noinline]] inline
#else
#define COROSCOPE_THREAD_ACCESS [[gnu::always_inline]] inline
#endif

/// Returns the gate of this thread: the bits of everything that needs this thread's transitions or
/// scopes. It is one relaxed load: a session that another thread starts is noticed at this thread's
/// next call.
COROSCOPE_THREAD_ACCESS std::int32_t load_gate() noexcept {
    return __atomic_load_n(&detail::here().gate, __ATOMIC_RELAXED);
}

/// Returns whether this thread's work belongs to a request that is left out.
COROSCOPE_THREAD_ACCESS bool in_left_out_request() noexcept {
    return (detail::carried_session(detail::here().carried) & left_out_request) != 0;
}

/// Returns whether a session or an observer needs scopes here, or whether that is unknown.
[[gnu::always_inline]] inline bool wants_scopes(std::int32_t gate) noexcept {
    return static_cast<std::uint32_t>(gate) > gate_live;
}

/// Returns whether a session records here, or whether that is unknown.
[[gnu::always_inline]] inline bool is_recording(std::int32_t gate) noexcept {
    return (gate & (gate_local | gate_global | (gate_unknown & ~gate_careful))) != 0;
}
[[gnu::always_inline]] inline bool is_recording() noexcept {
    return detail::is_recording(detail::load_gate());
}

}  // namespace coroscope::detail
