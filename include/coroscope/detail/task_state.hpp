// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of one instrumented coroutine, which is kept in its promise. task_transitions.hpp has
// the transitions that change it.
//
// Thread-safety: only the thread that runs, resumes or destroys the coroutine may touch its state.
// Unless a comment says otherwise, each function here must be called on that thread. None of them
// throws.

#include <cstdint>

#include <coroscope/detail/thread_state.hpp>
#include <coroscope/site.hpp>

namespace coroscope::detail {

/// The context of a thread before it entered a task.
struct resumer {
    std::uint64_t mark;
    std::uint64_t carried;
    task_state* frame;
};

/// Data that a suspending or finishing task leaves on the thread's stack, because its frame may be
/// destroyed before the data are used. Unset if the transition was quiet.
struct departure {
    std::uint64_t ticks;  ///< 0 if the transition was not recorded
    resumer before;
};

/// The way in which a task leaves its thread.
enum class departure_kind : std::uint8_t {
    quiet,    ///< nothing changed
    general,  ///< the departure has the context to restore
    plain,    ///< the thread had no task and the same attributes before
};

enum task_flags : std::uint8_t {
    task_spawned = 1U << 0,    ///< spawned and, if it is a coroutine, not over
    task_known = 1U << 1,      ///< all of its state is set: a transition was active
    task_exception = 1U << 2,  ///< an exception left it
    task_finished = 1U << 3,
    task_started = 1U << 4,  ///< ran at least once
    /// The thread has the task's context while the task runs; `before` is the context to restore.
    task_installed = 1U << 5,
    task_fiber = 1U << 6,  ///< it is a fiber
    /// its coroutine frames cannot be distinguished: any frame is its own
    task_any_frame = 1U << 7,
};

/// Selects the constructor for a state in a coroutine's frame, most of which stays unset while
/// nothing records.
struct in_frame_t {};

/// Low bits of a generation that no session has. A thread that is bound to no session does not have
/// them either.
inline constexpr std::uint16_t unknown_session = 0xffff;

struct task_state {
    /// Sets every member to zero, except `flags`, which is `task_known`.
    task_state() noexcept
        : parent(0),
          where(nullptr),
          announced(0),
          flags(task_known),
          spare(0),
          await_site(0),
          task(0),
          carried(0),
          before{} {}
    /// Keeps the value that note_frame() wrote into `parent`. The caller must set `where`
    /// afterwards. The members without an initialiser stay unset until the first active transition.
    explicit task_state(in_frame_t) noexcept
        : announced(unknown_session), flags(0), spare(0), await_site(0) {}

    /// parent's id << mark_thread_bits | place in the frame, see note_frame()
    std::uint64_t parent;
    const void* where;  ///< std::source_location of the coroutine: its spawn site
    // This group is stored as one word. In this order its initial value fits 32 bits, so one
    // instruction can store it.
    std::uint16_t announced;  ///< low bits of the generation of the session that knows the task
    std::uint8_t flags;
    /// In a fiber's state it belongs to exceptions_here().
    std::uint8_t spare;
    std::uint32_t await_site;  ///< site id of the await that comes next; 0: unknown

    // These members are valid if `flags` has task_known.
    std::uint64_t task;     ///< id; 0 until first needed
    std::uint64_t carried;  ///< session and attributes of the context that the task carries
    /// While the task is installed, the context to restore. Else `before.mark` is the ticks of its
    /// last suspension or spawn, 0 if that was not recorded. Before the first transition it has
    /// the addresses of note_origin(), also without task_known.
    resumer before;
};
static_assert(sizeof(task_state) == 64);

inline constexpr unsigned mark_thread_bits = 20;
inline constexpr std::uint64_t mark_thread_mask = (std::uint64_t{1} << mark_thread_bits) - 1;

// The place of a state in its frame, in the low bits of `parent`: 12 bits for the size of the frame
// in units of 64 bytes, rounded up, and 8 bits for the offset of the state in units of 8. Zero:
// unknown.
inline constexpr std::uint64_t frame_unit = 64;
inline constexpr std::uint64_t frame_bytes_limit = 0xfff * frame_unit;
inline constexpr std::uint64_t frame_offset_limit = 0xff * 8;
static_assert(((frame_bytes_limit / frame_unit) << 8 | frame_offset_limit / 8) == mark_thread_mask);

/// Returns the start of the coroutine's frame, or null if it is unknown.
inline const void* frame_address(const task_state& task) noexcept {
    const std::uintptr_t offset = (task.parent & 0xff) * 8;
    return offset == 0 ? nullptr : reinterpret_cast<const char*>(&task) - offset;
}
/// Returns the size of the coroutine's frame in bytes, rounded up to frame_unit; 0 if it is
/// unknown.
inline std::uint64_t frame_bytes(const task_state& task) noexcept {
    return (task.parent >> 8 & 0xfff) * frame_unit;
}

/// Notes the offset of the state in its frame and the size of the frame. The allocator of the frame
/// must call it before the lifetime of the state begins.
[[gnu::always_inline]] inline void note_frame(task_state& task, const void* frame,
                                              std::uint64_t bytes) noexcept {
    const std::uintptr_t offset =
        (reinterpret_cast<std::uintptr_t>(&task) - reinterpret_cast<std::uintptr_t>(frame)) / 8;
    const std::uint64_t units = (bytes + frame_unit - 1) / frame_unit;
    task.parent = offset > 0xff ? 0 : offset | (units > 0xfff ? 0 : units << 8);
    // The promise's constructor leaves the value unset. The barrier keeps the compiler from
    // removing the store as dead.
    __asm__ volatile("" : "+m"(task.parent));
}

/// Addresses in code from the creation of a coroutine, which lead to the place of its spawn.
struct task_origin {
    /// Behind an instruction of the coroutine's ramp. If `caller` is 0: the address of the
    /// coroutine's std::source_location, or 0.
    std::uintptr_t inside;
    /// The return address of the function that contains that instruction; 0: unknown
    std::uintptr_t caller;
};

/// Notes the addresses in a part of the state that is unset until the first transition. Must be
/// called before spawn_task(); may be called before the lifetime of the state begins.
[[gnu::always_inline]] inline void note_origin(task_state& task, const void* inside,
                                               const void* caller) noexcept {
    task.before.mark = reinterpret_cast<std::uintptr_t>(inside);
    task.before.carried = reinterpret_cast<std::uintptr_t>(caller);
    __asm__ volatile("" ::: "memory");  // as in note_frame()
}
/// Returns the noted addresses. Must not be called after the first transition.
[[gnu::always_inline]] inline task_origin noted_origin(const task_state& task) noexcept {
    return {task.before.mark, task.before.carried};
}

/// A task's state with its frame and its offset in that frame. The compiler can thereby compute the
/// distance from the state to another object in the same frame.
struct task_place {
    task_state* state;
    const void* frame;
    std::int32_t offset;
};

inline std::int32_t bytes_between(const void* from, const void* to) noexcept {
    return static_cast<std::int32_t>(static_cast<const char*>(to) - static_cast<const char*>(from));
}

/// A reference, in four bytes, from an awaiter to the state of its task in the same frame. If the
/// coroutine goes on without suspending, untie() must be called, because the awaiter may then be in
/// another place. The distance goes from this object to the state, so that an addressing mode can
/// add it.
class task_link {
public:
    explicit task_link(const task_place& task) noexcept
        : distance_(task.offset - detail::bytes_between(task.frame, this)) {}
    void untie() noexcept { distance_ = 0; }
    [[nodiscard]] bool is_tied() const noexcept { return distance_ != 0; }
    /// The link must be tied: is_tied().
    [[nodiscard]] task_state& task() noexcept {
        return *reinterpret_cast<task_state*>(reinterpret_cast<char*>(this) + distance_);
    }

private:
    std::int32_t distance_;
};

/// The number of task ids that a thread takes at a time. out_of_task_ids() returns whether the
/// thread has used its block.
inline constexpr std::uint64_t task_id_block = 1024;
[[gnu::always_inline]] inline bool out_of_task_ids() noexcept {
    return detail::here().next_task % task_id_block == 0;
}

/// new_task_id() returns a fresh task id, unique in the process, from the thread's block of ids.
/// refill_task_ids() takes a new block and returns its first id. A session takes one as it starts.
COROSCOPE_API std::uint64_t refill_task_ids() noexcept;
[[gnu::always_inline]] inline std::uint64_t new_task_id() noexcept {
    if (detail::out_of_task_ids()) [[unlikely]]
        return detail::refill_task_ids();
    const std::uint64_t id = detail::here().next_task;
    detail::here().next_task = id + 1;
    return id;
}

/// Returns the id of a site. The first overload takes the address of a std::source_location, which
/// it interns at first sight. Returns 0 if nothing records or if there is no room for more sites.
COROSCOPE_API COROSCOPE_NO_PLT std::uint32_t await_site_id(const void* location) noexcept;
COROSCOPE_API std::uint32_t await_site_id(site& label) noexcept;

/// Sets the session and attributes that the thread carries, and updates the gate if the session
/// changed. install() calls it when `carried` changes.
COROSCOPE_API void rebind(std::uint64_t carried) noexcept;

/// Makes `mark`, `carried` and `frame` the context of the thread.
[[gnu::always_inline]] inline void install(std::uint64_t mark, std::uint64_t carried,
                                           task_state* frame) noexcept {
    detail::here().mark = mark;
    detail::here().frame = frame;
    if (detail::here().carried != carried) [[unlikely]]
        detail::rebind(carried);
}

inline void set_flags(task_state& task, unsigned set, unsigned clear = 0) noexcept {
    task.flags = static_cast<std::uint8_t>((task.flags | set) & ~clear);
}

/// Nonzero if a session, observer or tracker needs transitions on this thread, or if the thread
/// carries a context.
[[gnu::always_inline]] inline std::uint64_t wants_transitions() noexcept {
    return static_cast<std::uint32_t>(detail::load_gate()) | detail::here().carried;
}

/// Returns whether a transition must swap the contexts of the task and the thread.
[[gnu::always_inline]] inline bool needs_context(const task_state& task) noexcept {
    return (detail::wants_transitions() | task.carried) != 0;
}

/// Returns the context of the thread, whether or not a task runs on it.
inline resumer current_resumer() noexcept {
    return {detail::here().mark, detail::here().carried, detail::here().frame};
}

/// Makes the context of the task the thread's. The task must have an id.
inline void install_task(task_state& task) noexcept {
    detail::set_flags(task, task_installed);
    detail::install((task.task << mark_thread_bits) | (detail::here().mark & mark_thread_mask),
                    task.carried, &task);
}

}  // namespace coroscope::detail
