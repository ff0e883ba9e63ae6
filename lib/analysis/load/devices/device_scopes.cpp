// SPDX-License-Identifier: Apache-2.0
#include "device_scopes.hpp"

#include <algorithm>

#include "../../model/task_slices.hpp"

namespace coroscope::analysis::inline devices {
namespace {

bool launches_nothing(const event& scope) {
    constexpr std::uint16_t beside = event_explicit | event_async;
    return (scope.flags & event_await) != 0 || (scope.flags & beside) == beside;
}

/// Returns whether the scope may have been suspended at an unknown time, as a scope in a frame
/// outside tasks may.
bool may_be_elsewhere(const event& scope) {
    return (scope.flags & event_in_frame) != 0 &&
           (scope.flags & (event_async | event_suspension_unknown)) != 0;
}

}  // namespace

open_scopes::open_scopes(const trace& loaded)
    : loaded_(loaded),
      threads_(loaded.threads.size()),
      tops_(loaded.threads.size() + loaded.tasks.size(), none),
      below_(loaded.events.size(), none) {}

void open_scopes::open(std::uint32_t scope, std::uint32_t& top) {
    below_[scope] = top;
    top = scope;
}

void open_scopes::open_until(std::int64_t time_ns) {
    for (; next_ < loaded_.events.size() && loaded_.events[next_].start_ns <= time_ns; ++next_) {
        const event& scope = loaded_.events[next_];
        if (launches_nothing(scope)) continue;
        if ((scope.flags & event_in_frame) != 0 && scope.task < loaded_.tasks.size())
            open(next_, tops_[threads_ + scope.task]);
        else if (scope.thread < threads_ && !may_be_elsewhere(scope))
            open(next_, tops_[scope.thread]);
    }
}

// Removes the scopes that ended at that moment or earlier.
std::uint32_t open_scopes::top_of(std::size_t list, std::int64_t ended_ns) {
    std::uint32_t& top = tops_[list];
    while (top != none && loaded_.events[top].end_ns <= ended_ns) top = below_[top];
    return top;
}

bool open_scopes::is_within_slice(std::uint32_t scope, std::uint32_t task,
                                  std::int64_t time_ns) const {
    const std::optional<slice> latest = latest_slice(loaded_, task, time_ns);
    if (!latest) return loaded_.events[scope].task == task;
    return loaded_.events[scope].start_ns >= latest->start_ns;
}

std::uint32_t open_scopes::inner(std::uint32_t on_stack, std::uint32_t in_frame, std::uint32_t task,
                                 std::int64_t time_ns) const {
    if (in_frame == none || on_stack == none) return std::min(in_frame, on_stack);
    return is_within_slice(on_stack, task, time_ns) ? std::max(on_stack, in_frame) : in_frame;
}

std::uint32_t open_scopes::innermost(std::uint32_t thread, std::uint32_t task,
                                     std::int64_t time_ns) {
    open_until(time_ns);
    const std::uint32_t on_stack = thread < threads_ ? top_of(thread, time_ns) : none;
    const std::uint32_t in_frame =
        task < loaded_.tasks.size() ? top_of(threads_ + task, time_ns) : none;
    return inner(on_stack, in_frame, task, time_ns);
}

std::uint32_t open_scopes::around_record(std::uint32_t thread, std::uint32_t task,
                                         std::int64_t time_ns, std::uint32_t ended) {
    open_until(time_ns);
    std::uint32_t on_stack = thread < threads_ ? top_of(thread, time_ns - 1) : none;
    std::uint32_t in_frame =
        task < loaded_.tasks.size() ? top_of(threads_ + task, time_ns - 1) : none;
    while (true) {
        const std::uint32_t found = inner(on_stack, in_frame, task, time_ns);
        if (found == none || ended == 0 || loaded_.events[found].end_ns != time_ns) return found;
        --ended;
        (found == on_stack ? on_stack : in_frame) = below_[found];
    }
}

}  // namespace coroscope::analysis::inline devices
