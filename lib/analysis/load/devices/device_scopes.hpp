// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the scope from which a call launched work: the innermost scope that was open at a moment,
// on a thread and in a task.
//
// Scopes on a stack are searched by thread, scopes in frames by task. A scope on the stack that
// began within the task's current slice is inside the frames' scopes that began before it. A scope
// on the stack from before the slice is outside all scopes in frames. Awaits are never the result,
// nor are ranges that overlap the calls around them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline devices {

class open_scopes {
public:
    explicit open_scopes(const trace& loaded);

    /// Returns an index into trace::events, or none. `thread` and `task` may be none. `time_ns`
    /// must not be less than in the call before. A scope that ends at that moment is not open.
    std::uint32_t innermost(std::uint32_t thread, std::uint32_t task, std::int64_t time_ns);

    /// The same for a record of the thread at that moment. A scope that ends at that moment is
    /// open, except for the innermost `ended` ones. Must not be called after innermost().
    std::uint32_t around_record(std::uint32_t thread, std::uint32_t task, std::int64_t time_ns,
                                std::uint32_t ended);

private:
    void open_until(std::int64_t time_ns);
    void open(std::uint32_t scope, std::uint32_t& top);
    std::uint32_t top_of(std::size_t list, std::int64_t ended_ns);
    [[nodiscard]] std::uint32_t inner(std::uint32_t on_stack, std::uint32_t in_frame,
                                      std::uint32_t task, std::int64_t time_ns) const;
    [[nodiscard]] bool is_within_slice(std::uint32_t scope, std::uint32_t task,
                                       std::int64_t time_ns) const;

    const trace& loaded_;
    std::size_t threads_;
    std::vector<std::uint32_t> tops_;   // by thread, then by task: heads of lists
    std::vector<std::uint32_t> below_;  // by event
    std::uint32_t next_ = 0;            // the first event that has not begun
};

}  // namespace coroscope::analysis::inline devices
