// SPDX-License-Identifier: Apache-2.0
#pragma once

// The async stack of a task: itself, who awaits it (else who spawned it), and so on up to the root,
// each with the place where it was spawned and the await that it is suspended in. A thread's own stack
// shows none of that, because coroutines leave it when they suspend.
//
//   coroscope::track_live_tasks(true);              // or COROSCOPE_LIVE=1; off by default
//   …
//   char text[4096];
//   format(coroscope::current_async_stack(), text, sizeof text);      // one task a line
//
// While tracking is on, each task has a slot in a table of fixed size (16 MiB of address space, of which
// only what was used is resident), and each of its transitions costs a clock reading and a few stores more.
// While it is off it costs nothing. tools/gdb/coroscope.py reads the same table from outside.
//
// Any thread may call any of these functions, at any time. They allocate nothing (but for the table, when
// tracking is first turned on) and never throw.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope {

/// What a live task does. `unknown`: it is not in the table: it has ended, or there was no room for it.
enum class async_state : std::uint8_t { unknown, spawned, running, suspended };

/// A place in the source. The texts live as long as the process; empty where nothing is known.
struct async_place {
    const char* label = "";     ///< of an await: its label; of a spawn: the function's name
    const char* function = "";  ///< the function's signature
    const char* file = "";
    std::uint32_t line = 0;
};

/// One task of a stack.
struct async_frame {
    std::uint64_t task = 0;
    std::uint64_t awaits =
        0;  ///< the task that this one awaits, if it is the one before in the stack
    async_state state = async_state::unknown;
    std::uint32_t thread = 0;  ///< the kernel's id of the thread of its last transition; 0: unknown
    std::int64_t age_ns = 0;   ///< since that transition
    async_place spawn;
    async_place
        await;  ///< that it is suspended in; of a task that runs: that it came back from last
};

/// A value of a few KiB. The first frame is the task that was asked for, the last its root.
class async_stack {
public:
    static constexpr std::size_t most_frames = 32;

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    const async_frame& operator[](std::size_t index) const noexcept { return frames_[index]; }
    const async_frame* begin() const noexcept { return frames_; }
    const async_frame* end() const noexcept { return frames_ + size_; }

    /// Tasks above the last frame, for which there was no room.
    std::uint64_t cut() const noexcept { return cut_; }
    /// False: live tasks are not tracked. Then there is the current task at most, and format() says what to do.
    bool tracked() const noexcept { return tracked_; }

private:
    friend class async_stack_builder;
    async_frame frames_[most_frames];
    std::size_t size_ = 0;
    std::uint64_t cut_ = 0;
    bool tracked_ = false;
};

/// Turns the tracking of live tasks on or off, for the whole process. A task that is older shows up at
/// its next transition. False when there is no memory for the table.
COROSCOPE_API bool track_live_tasks(bool on) noexcept;

struct live_tasks_status {
    bool tracked = false;
    std::uint64_t tasks = 0;  ///< in the table now. Counting them takes milliseconds
    std::uint64_t no_room =
        0;  ///< transitions, since the process began, of tasks that found no place in it
};
COROSCOPE_API live_tasks_status live_tasks() noexcept;

/// The stack of the task that runs on this thread; empty where none does.
COROSCOPE_API async_stack current_async_stack() noexcept;

/// Writes a stack as text, one task a line, cut to `size` bytes with the final NUL. Gives the
/// number of bytes written, without it.
COROSCOPE_API std::size_t format(const async_stack& stack, char* to, std::size_t size) noexcept;

}  // namespace coroscope
