// SPDX-License-Identifier: Apache-2.0
#pragma once

// The innermost scope that was open at a moment, on a thread and in a task: what a call launched from.
//
// Scopes on a thread's stack are sought on the thread, those in frames in the task. One on the stack that began
// within the task's present slice is inside the frames' scopes that began before it; one from before the slice is
// outside all of them. Ranges that stand beside the calls around them, and awaits, launch nothing.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

class open_scopes {
public:
    explicit open_scopes(const trace& loaded);

    /// Index into trace::events, or none. `thread` and `task` may be none. Moments must not fall from call to call.
    std::uint32_t innermost(std::uint32_t thread, std::uint32_t task, std::int64_t time_ns);

private:
    void open_until(std::int64_t time_ns);
    void open(std::uint32_t scope, std::uint32_t& top);
    std::uint32_t top_of(std::size_t list, std::int64_t time_ns);
    [[nodiscard]] bool is_within_slice(std::uint32_t scope, std::uint32_t task,
                                       std::int64_t time_ns) const;

    const trace& loaded_;
    std::size_t threads_;
    std::vector<std::uint32_t> tops_;   // by thread, then by task: heads of lists
    std::vector<std::uint32_t> below_;  // by event
    std::uint32_t next_ = 0;            // the first event that has not begun
};

}  // namespace coroscope::analysis::loading
