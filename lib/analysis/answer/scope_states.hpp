// SPDX-License-Identifier: Apache-2.0
#pragma once

// The states of the threads on which scopes and tasks ran, while they ran there.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline answers {

/// Fast if events come in the order of their starts. Several threads may use copies, which share
/// the large part.
class scope_states {
public:
    /// `loaded` must outlive it. If the trace has no states, all divisions are unknown.
    explicit scope_states(const trace& loaded);

    /// Divides the event's running time. `thread`: the part on that thread alone; none: all.
    [[nodiscard]] state_times running(const event& of, std::uint32_t thread = none);

    /// The same without the slices of other tasks inside the event: that time is divided among the
    /// event and its children. Empty if has_no_self_time().
    [[nodiscard]] state_times own(const event& of, std::uint32_t thread = none);

    /// Divides the running time of a task.
    [[nodiscard]] state_times of_task(const task_info& task);

private:
    state_times between(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns);
    state_times of_slices(const task_info& task, std::int64_t from_ns, std::int64_t to_ns,
                          std::uint32_t thread);
    state_times of_slices_on(std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns);

    using slices_of_threads = std::vector<std::vector<std::uint32_t>>;  // by thread, by time

    const trace* loaded_;
    std::vector<std::size_t> near_;  // by thread
    std::shared_ptr<const slices_of_threads> slices_;
};

/// Returns whether an event cannot have a self time, because it is a range that may overlap others.
[[nodiscard]] bool has_no_self_time(const event& of) noexcept;

/// Makes the parts of a sum non-negative, and the unknown part the rest of `whole_ns`. Damaged
/// traces, in which scopes overlap, need it.
[[nodiscard]] state_times settled(state_times times, std::int64_t whole_ns) noexcept;

}  // namespace coroscope::analysis::inline answers
