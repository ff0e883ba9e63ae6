// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of one instrumented coroutine, kept in its promise, and the transitions of a task.
//
//        spawn                 enter                     leave
//   (created) ──► spawned ──► running on a thread ──► suspended ──┐
//                                ▲      │  finish                 │ enter
//                                │      └──────────► finished     │
//                                └────────────────────────────────┘
//
// Each transition swaps the thread's context and, where something records, writes one record. While
// a task runs, `resumer` holds what the thread was doing before: its context, restored at the next
// suspension. Where nothing records and neither side carries a context, nothing is installed, most of the
// state is not even set, and a transition costs a few instructions; a session that starts meanwhile sees the
// task from its next transition on. Only the thread that runs (or resumes, or destroys) the coroutine touches
// its state.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/site.hpp>

// clang may keep the address of a thread-local across a suspension point of the coroutine that it
// inlined the access into; g++ computes it anew. On a fiber any call may be a change of threads.
#if defined(__clang__) || COROSCOPE_FIBERS
#define COROSCOPE_CONTEXT_SWITCH [[gnu::noinline]] inline
#else
#define COROSCOPE_CONTEXT_SWITCH [[gnu::always_inline]] inline
#endif

namespace coroscope::detail {

/// What a thread was doing before it entered a task.
struct resumer {
    std::uint64_t mark;
    std::uint64_t carried;
    task_state* frame;
};

/// What a suspending or finishing task leaves on the thread's stack for the time when its frame may
/// be gone. Not set where the transition was quiet.
struct departure {
    std::uint64_t ticks;  ///< 0 where nothing recorded it
    resumer before;
};

enum task_flags : std::uint8_t {
    task_spawned = 1U << 0,    ///< and not over yet, where it is a coroutine
    task_known = 1U << 1,      ///< all of its state is set: something has looked at it
    task_exception = 1U << 2,  ///< an exception left it
    task_finished = 1U << 3,
    task_started = 1U << 4,  ///< ran at least once
    task_installed =
        1U << 5,  ///< its context is the thread's while it runs; `before` is what to restore
    task_fiber = 1U << 6,      ///< it is a fiber
    task_any_frame = 1U << 7,  ///< its coroutine frames cannot be told apart: any frame is its own
};

/// For a state in a coroutine's frame, which is not set where nothing wants to know.
struct in_frame_t {};

/// Low bits of a generation that no session has, nor a thread that is bound to none.
inline constexpr std::uint16_t unknown_session = 0xffff;

struct task_state {
    /// All zero.
    task_state() noexcept
        : parent(0),
          where(nullptr),
          await_site(0),
          announced(0),
          flags(task_known),
          spare(0),
          task(0),
          carried(0),
          before{} {}
    /// What note_frame() wrote stays; where it comes from is yet to be said; the rest is not set.
    explicit task_state(in_frame_t) noexcept
        : await_site(0), announced(unknown_session), flags(0), spare(0) {}

    std::uint64_t parent;      ///< parent's id << 20 | place in the frame, see note_frame()
    const void* where;         ///< std::source_location of the coroutine: its spawn site
    std::uint32_t await_site;  ///< site id of the await that comes next; 0: unknown
    std::uint16_t announced;   ///< low bits of the generation of the session that knows it
    std::uint8_t flags;
    std::uint8_t spare;  ///< so that the four are set as one word; a fiber's is exceptions_here()'s

    // Set where `flags` has task_known.
    std::uint64_t task;     ///< id; 0 until first needed
    std::uint64_t carried;  ///< session and attributes of the context that the task carries
    resumer before;         ///< while it is installed; else before.mark is the ticks of its last
                            ///< suspension (or spawn), 0 if nothing recorded that
};
static_assert(sizeof(task_state) == 64);

inline constexpr unsigned mark_thread_bits = 20;
inline constexpr std::uint64_t mark_thread_mask = (std::uint64_t{1} << mark_thread_bits) - 1;

// The place of a state in its frame, in the low bits of `parent`: 12 bits of the frame's size in
// units of 64 bytes, rounded up, and 8 bits of the state's offset in units of 8. Zero: unknown.
inline constexpr std::uint64_t frame_unit = 64;
inline constexpr std::uint64_t frame_bytes_limit = 0xfff * frame_unit;
inline constexpr std::uint64_t frame_offset_limit = 0xff * 8;

/// Where the coroutine's frame begins; null where that is unknown.
inline const void* frame_address(const task_state& task) noexcept {
    const std::uintptr_t offset = (task.parent & 0xff) * 8;
    return offset == 0 ? nullptr : reinterpret_cast<const char*>(&task) - offset;
}
inline std::uint64_t frame_bytes(const task_state& task) noexcept {
    return (task.parent >> 8 & 0xfff) * frame_unit;
}

/// Notes where in its frame the state stands, and how large the frame is: called by whoever allocated the
/// frame, before the state's lifetime begins.
[[gnu::always_inline]] inline void note_frame(task_state& task, const void* frame,
                                              std::uint64_t bytes) noexcept {
    const std::uintptr_t offset =
        (reinterpret_cast<std::uintptr_t>(&task) - reinterpret_cast<std::uintptr_t>(frame)) / 8;
    const std::uint64_t units = (bytes + frame_unit - 1) / frame_unit;
    task.parent = offset > 0xff ? 0 : offset | (units > 0xfff ? 0 : units << 8);
    // The promise's constructor leaves it as it is, which the compiler must not take for a value that nobody reads.
    __asm__ volatile("" : "+m"(task.parent));
}

/// A task's state, and where in which frame it is: so the compiler knows how far it is from something else in the frame.
struct task_place {
    task_state* state;
    const void* frame;
    std::int32_t offset;
};

inline std::int32_t bytes_between(const void* from, const void* to) noexcept {
    return static_cast<std::int32_t>(static_cast<const char*>(to) - static_cast<const char*>(from));
}

/// Where the task of an awaiter is that stands in the same frame, in four bytes. Untied where the coroutine goes on
/// without being suspended: it may then stand elsewhere. The distance is from here to there: an addressing mode adds it.
class task_link {
public:
    explicit task_link(const task_place& task) noexcept
        : distance_(task.offset - bytes_between(task.frame, this)) {}
    void untie() noexcept { distance_ = 0; }
    [[nodiscard]] bool is_tied() const noexcept { return distance_ != 0; }
    /// Precondition: is_tied().
    [[nodiscard]] task_state& task() noexcept {
        return *reinterpret_cast<task_state*>(reinterpret_cast<char*>(this) + distance_);
    }

private:
    std::int32_t distance_;
};

/// Has the thread used its block of ids?
inline constexpr std::uint64_t task_id_block = 1024;
[[gnu::always_inline]] inline bool out_of_task_ids() noexcept {
    return here().next_task % task_id_block == 0;
}

/// A fresh task id, unique in the process. From a per-thread block; refills it at its end.
COROSCOPE_API std::uint64_t refill_task_ids() noexcept;
[[gnu::always_inline]] inline std::uint64_t new_task_id() noexcept {
    if (out_of_task_ids()) [[unlikely]]
        return refill_task_ids();
    const std::uint64_t id = here().next_task;
    here().next_task = id + 1;
    return id;
}

/// Site id of a std::source_location, interned on first sight; 0 where nothing records.
COROSCOPE_API COROSCOPE_NO_PLT std::uint32_t await_site_id(const void* location) noexcept;
COROSCOPE_API std::uint32_t await_site_id(site& label) noexcept;

/// The current context's session or attributes change: finds out what records here now.
COROSCOPE_API void rebind(std::uint64_t carried) noexcept;

[[gnu::always_inline]] inline void install(std::uint64_t mark, std::uint64_t carried,
                                           task_state* frame) noexcept {
    here().mark = mark;
    here().frame = frame;
    if (here().carried != carried) [[unlikely]]
        rebind(carried);
}

inline void set_flags(task_state& task, unsigned set, unsigned clear = 0) noexcept {
    task.flags = static_cast<std::uint8_t>((task.flags | set) & ~clear);
}

/// Does anything want to know of transitions on this thread, or does it carry something?
[[gnu::always_inline]] inline std::uint64_t wants_transitions() noexcept {
    return static_cast<std::uint64_t>(load_gate()) | here().carried;
}

/// Does anything need the task's context on this thread, or that the thread's is put aside?
[[gnu::always_inline]] inline bool needs_context(const task_state& task) noexcept {
    return (wants_transitions() | task.carried) != 0;
}

/// What the thread is doing, whoever that is.
inline resumer current_resumer() noexcept { return {here().mark, here().carried, here().frame}; }

/// The context of a task that has its id becomes the thread's.
inline void install_task(task_state& task) noexcept {
    set_flags(task, task_installed);
    install((task.task << mark_thread_bits) | (here().mark & mark_thread_mask), task.carried,
            &task);
}

/// The slow halves, where something records or a context is carried.
COROSCOPE_API COROSCOPE_NO_PLT void spawn_active(task_state& task) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void spawn_running(task_state& task) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void suspend_active(task_state& task, departure& leaving) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void suspend_at(task_state& task, const void* where,
                                               departure& leaving) noexcept;
COROSCOPE_API void cancel_active(task_state& task, const resumer& before) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void resume_active(task_state& task) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void finish_active(task_state& task, departure& leaving) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void end_active(task_state& task) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void transfer_active(task_state& awaiter,
                                                    task_state& awaited) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void transfer_at(task_state& awaiter, task_state& awaited,
                                                const void* where) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void finish_transfer_active(task_state& finished,
                                                           task_state& resumed) noexcept;
COROSCOPE_API void destroy_active(task_state& task) noexcept;
COROSCOPE_API COROSCOPE_NO_PLT void restore(const resumer& before) noexcept;

/// For anomaly detection (anomaly.hpp), each called where load_gate() != 0. The exception that is being handled
/// leaves the task; and then goes on up the stack, because the promise did not keep it.
COROSCOPE_API void exception_leaves(const task_state& task) noexcept;
COROSCOPE_API void exception_passes(const task_state& task) noexcept;
/// An exception leaves something that is no coroutine, and cannot be looked at.
COROSCOPE_API void unseen_exception_leaves(std::uint64_t task) noexcept;
/// Are results looked at? And one that its validator refused.
COROSCOPE_API bool validates_results() noexcept;
COROSCOPE_API void anomalous_result(const task_state& task) noexcept;

/// May a transition of this task be of any interest?
[[gnu::always_inline]] inline bool is_active(const task_state& task) noexcept {
    return wants_transitions() != 0 || (task.flags & task_known) != 0;
}

/// The task is created: called once, just before its initial suspension or its first statement.
COROSCOPE_CONTEXT_SWITCH void spawn_task(task_state& task, bool started) noexcept {
    set_flags(task, started ? task_spawned | task_started : task_spawned);
    if (wants_transitions() == 0) [[likely]]
        return;
    if (started)
        spawn_running(task);
    else
        spawn_active(task);
}

/// The task is about to suspend, in an await that stands at `where`, the address of a std::source_location; null: at
/// await_site, a label's. False where that is quiet; else the context stays the task's until the inner await_suspend
/// has returned, and the caller then restores leaving.before.
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH bool suspend_task(task_state& task, const void* where,
                                                         departure& leaving) noexcept {
    if (!is_active(task)) [[likely]]
        return false;
    if (where == nullptr) {
        suspend_active(task, leaving);
    } else {
        suspend_at(task, where, leaving);
    }
    return true;
}

/// The task runs on this thread again.
COROSCOPE_CONTEXT_SWITCH void resume_task(task_state& task) noexcept {
    if (is_active(task)) [[unlikely]]
        resume_active(task);
}

/// The task runs for the first time.
COROSCOPE_CONTEXT_SWITCH void start_task(task_state& task) noexcept {
    set_flags(task, task_started);
    if (is_active(task)) [[unlikely]]
        resume_active(task);
}

/// The same, of a task that somebody else resumed than the task that awaits it: seldom, and so in a call.
COROSCOPE_API COROSCOPE_NO_PLT void start_untold(task_state& task) noexcept;

/// The task has run to its end (final suspension). False where that is quiet, as above.
[[nodiscard]] COROSCOPE_CONTEXT_SWITCH bool finish_task(task_state& task,
                                                        departure& leaving) noexcept {
    set_flags(task, 0, task_spawned);
    if (!is_active(task)) [[likely]]
        return false;
    finish_active(task, leaving);
    return true;
}

/// The same where nothing follows it: the thread goes on with what it did before.
COROSCOPE_CONTEXT_SWITCH void end_task(task_state& task) noexcept {
    set_flags(task, 0, task_spawned);
    if (is_active(task)) [[unlikely]]
        end_active(task);
}

/// A symmetric transfer that left at `ticks` resumes the coroutine at `frame_address` next on this
/// thread: its wake is its resume.
COROSCOPE_CONTEXT_SWITCH void expect_handover(void* frame_address, std::uint64_t ticks) noexcept {
    if (ticks == 0) [[likely]]
        return;
    here().handover_target = frame_address;
    here().handover_ticks = ticks;
}

/// The coroutine is destroyed before its end. One that is destroyed while it runs (by itself, out of
/// an inner await_suspend) has been left already. Seldom, and so in a call.
COROSCOPE_API COROSCOPE_NO_PLT void destroy_task(task_state& task) noexcept;

/// Both sides of an await are ours: the awaiter suspends and the awaited runs, in one moment. `where` as above.
COROSCOPE_CONTEXT_SWITCH void transfer_task(task_state& awaiter, task_state& awaited,
                                            const void* where) noexcept {
    set_flags(awaited, task_started);
    if (wants_transitions() == 0 && ((awaiter.flags | awaited.flags) & task_known) == 0) [[likely]]
        return;
    if (where == nullptr) {
        transfer_active(awaiter, awaited);
    } else {
        transfer_at(awaiter, awaited, where);
    }
}

/// The awaited task has finished and its awaiter runs on, in one moment. Null: that is no task, and the thread goes on
/// with what it did before.
COROSCOPE_CONTEXT_SWITCH void finish_and_resume(task_state& finished,
                                                task_state* resumed) noexcept {
    set_flags(finished, 0, task_spawned);
    // Where its awaiter's state is set, so is its own, from the transfer on.
    if (!is_active(finished)) [[likely]]
        return;
    if (resumed != nullptr) {
        finish_transfer_active(finished, *resumed);
    } else {
        end_active(finished);
    }
}

}  // namespace coroscope::detail
