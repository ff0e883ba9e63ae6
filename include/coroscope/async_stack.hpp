// SPDX-License-Identifier: Apache-2.0
#pragma once

// The async stack of a task: the task, its awaiter (else its parent), and so on up to the root.
// Each frame has the place of the task's spawn and the await in which it is suspended. The stack of
// a thread lacks this, because coroutines leave it when they suspend.
//
//   coroscope::track_live_tasks(true);              // or COROSCOPE_LIVE=1; off by default
//   …
//   char text[4096];
//   format(coroscope::current_async_stack(), text, sizeof text);      // one task a line
//
// While tracking is on, each task has a slot in a table of fixed size (16 MiB of address space, of
// which only the used part is resident), and each of its transitions costs a clock reading and a
// few more stores. While it is off, it costs nothing. tools/gdb/coroscope.py reads the same table
// from outside the process.
//
// Thread-safety: any thread may call any of these functions at any time. They never throw. They
// allocate nothing, except the table when tracking is first turned on.

#include <cstddef>
#include <cstdint>

#include <coroscope/detail/export.hpp>

namespace coroscope {

/// The state of a live task. `unknown`: the task is not in the table; it has ended, or the table
/// was full.
enum class async_state : std::uint8_t { unknown, spawned, running, suspended };

/// A place in the source. The texts live as long as the process. They are empty if the place is
/// unknown.
struct async_place {
    const char* label = "";     ///< of an await: its label; of a spawn: the function's name
    const char* function = "";  ///< the function's signature
    const char* file = "";
    std::uint32_t line = 0;
};

/// One task of a stack.
struct async_frame {
    std::uint64_t task = 0;
    /// The task that this one awaits, if that is the previous frame of the stack.
    std::uint64_t awaits = 0;
    async_state state = async_state::unknown;
    std::uint32_t thread = 0;  ///< the kernel's id of the thread of its last transition; 0: unknown
    std::int64_t age_ns = 0;   ///< since that transition
    async_place spawn;
    /// The await in which the task is suspended. Of a running task: its last await.
    async_place await;
};

/// A value of a few KiB. The first frame is the requested task, the last frame is its root.
class async_stack {
public:
    static constexpr std::size_t most_frames = 32;

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    const async_frame& operator[](std::size_t index) const noexcept { return frames_[index]; }
    const async_frame* begin() const noexcept { return frames_; }
    const async_frame* end() const noexcept { return frames_ + size_; }

    /// The number of tasks above the last frame, which did not fit.
    std::uint64_t cut() const noexcept { return cut_; }
    /// Whether live tasks are tracked. If not, the stack has the current task at most, and format()
    /// writes how to turn tracking on.
    bool tracked() const noexcept { return tracked_; }

private:
    friend class async_stack_builder;
    async_frame frames_[most_frames];
    std::size_t size_ = 0;
    std::uint64_t cut_ = 0;
    bool tracked_ = false;
};

/// Turns the tracking of live tasks on or off for the whole process. An older task appears at its
/// next transition. Returns false if there is no memory for the table.
COROSCOPE_API bool track_live_tasks(bool on) noexcept;

/// The state of the tracking of live tasks.
struct live_tasks_status {
    bool tracked = false;
    std::uint64_t tasks = 0;  ///< in the table now; counting them takes milliseconds
    /// Transitions, since the start of the process, of tasks that found no slot.
    std::uint64_t no_room = 0;
};
/// Returns the state of the tracking. Takes milliseconds, because it counts the tasks.
COROSCOPE_API live_tasks_status live_tasks() noexcept;

/// Returns the stack of the task that runs on this thread; empty if none runs.
COROSCOPE_API async_stack current_async_stack() noexcept;

/// Writes a stack as text, one task per line, cut to `size` bytes including the final NUL. Returns
/// the number of bytes written, without the NUL.
COROSCOPE_API std::size_t format(const async_stack& stack, char* to, std::size_t size) noexcept;

}  // namespace coroscope
