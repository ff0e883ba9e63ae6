// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the records of tasks: transitions, edges, plain awaits and the live-task table.

#include <cstdint>
#include <optional>

#include "clock_map.hpp"
#include "current_task.hpp"
#include "metadata.hpp"
#include "task_ids.hpp"
#include "task_op.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// Must be given the records of a thread in their order. The results lack thread and position.
class task_op_reader {
public:
    /// `ids` gets the ids of all tasks; `loaded` gets a task for each.
    task_op_reader(const coroscope::trace::reader& input, metadata& names, clock_map& clock,
                   task_id_index& ids, trace& loaded)
        : input_(input), names_(names), clock_(clock), ids_(ids), loaded_(loaded) {}

    /// The task of that id: an index into trace::tasks; none for 0.
    std::uint32_t task(std::uint64_t id);

    /// The beginning of a chunk or a section.
    task_op begin(const coroscope::trace::chunk_view& chunk);

    /// Precondition: the record is one of a task and has 32 bytes.
    task_op read(const coroscope::trace::record_view& record);

    /// Returns nothing, and counts the record, if its task is unknown.
    std::optional<task_op> read_plain_await(const coroscope::trace::record_view& record);

    /// A live task's spawn record, whose original was overwritten.
    task_op restated(const coroscope::trace::task_slot& slot);

    /// Short records of awaits without a known task.
    [[nodiscard]] std::uint64_t unknown_awaits() const noexcept { return unknown_awaits_; }

private:
    void note_spawn_place(std::uint32_t task, std::uint32_t site);
    void read_wake(const coroscope::trace::record_view& record, task_op& op);
    [[nodiscard]] std::uint32_t spawn_flags(std::uint32_t value);
    [[nodiscard]] std::int64_t spawn_time(std::uint64_t ticks);

    const coroscope::trace::reader& input_;
    metadata& names_;
    clock_map& clock_;
    task_id_index& ids_;
    trace& loaded_;
    current_task current_;
    std::uint64_t unknown_awaits_ = 0;
};

}  // namespace coroscope::analysis::inline records
