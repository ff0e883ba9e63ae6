// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first pass over the record chunks. It reads the records of tasks, labels, arguments and
// devices. It skips the scopes, because decoding them needs all of these records.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "attribute_records.hpp"
#include "blocking_records.hpp"
#include "chunk_gaps.hpp"
#include "clock_map.hpp"
#include "deadline.hpp"
#include "device_records.hpp"
#include "growing_list.hpp"
#include "lock_records.hpp"
#include "metadata.hpp"
#include "notes.hpp"
#include "request_records.hpp"
#include "resource_records.hpp"
#include "task_ids.hpp"
#include "task_op.hpp"
#include "thread_streams.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// The label of a range, which was written at the range's start.
struct range_label {
    std::int64_t start_ns = 0;
    std::uint32_t serial = 0;   ///< of its thread's labels
    std::uint32_t text = none;  ///< index into trace::strings
    std::uint32_t stream = 0;
    std::uint32_t position = 0;
};

/// A scope that had begun and not ended.
struct open_place {
    std::uint64_t start_ticks = 0;
    std::uint64_t task_id = 0;
    std::uint32_t site = none;  ///< index into trace::sites
    std::uint32_t flags = 0;    ///< trace::scope_flags
    std::uint32_t order = 0;    ///< of two scopes of one tick and thread, the greater began later
    std::uint32_t stream = 0;   ///< of its thread
};

/// An item that a range over a stream yielded. Items count from 1; number 0 is not an item, but
/// marks the range as one over a stream.
struct range_item {
    std::int64_t time_ns = 0;
    std::uint64_t number = 0;
    std::uint32_t serial = 0;     ///< serial of the range's label
    std::uint32_t thread_id = 0;  ///< logical id of the thread on which that range began
};

/// The arguments of a scope. The scope is identified by its thread, its site and `key`, its start
/// in ticks.
struct scope_text {
    std::uint64_t key = 0;
    std::uint32_t thread = none;
    std::uint32_t site = none;  ///< of arguments
    std::uint32_t text = none;  ///< index into trace::strings
};

struct task_records {
    std::vector<thread_stream> streams;
    growing_list<task_op> ops;
    std::vector<range_label> labels;
    std::vector<open_place> open_scopes;
    std::vector<range_item> items;
    std::vector<scope_text> arguments;
    std::vector<scope_note> notes;
    attribute_records attributes;
    device_records devices;
    resource_records resources;
    blocking_records blocking;
    request_records requests;
    lock_records locks;
    chunk_gaps gaps;
    std::int64_t last_ns = 0;  ///< end of the last record
    /// The first mark of the end of the service; the largest value if there is none.
    std::int64_t service_end_ns = std::numeric_limits<std::int64_t>::max();
    task_id_index task_ids;
    bool has_jobs = false;      ///< a record of an executor's job was read
    std::vector<bool> lost_of;  ///< by task: records of it were lost; filled by build_timeline()
    std::uint32_t first_folded = none;      ///< from here on, tasks are jobs that are folded away
    std::vector<std::uint32_t> renumbered;  ///< by task_ids; empty if nothing is folded

    /// Whether the trace has any scope or range.
    [[nodiscard]] bool has_scopes() const {
        return !labels.empty() || !open_scopes.empty() ||
               std::ranges::any_of(streams, [](const thread_stream& each) {
                   return each.stack_scope_count != 0 || !each.other_scopes.empty();
               });
    }

    /// Index into trace::tasks; `none` for id 0 and for folded jobs.
    [[nodiscard]] std::uint32_t find_task(std::uint64_t id) const {
        std::uint32_t number = id == 0 ? none : task_ids.find(id);
        if (number != none && !renumbered.empty()) number = renumbered[number];
        return number < first_folded ? number : none;
    }
};

/// Reads all record chunks and the live-task table of `input`, and adds each task that a record
/// names to `loaded`. Stops between chunks when the deadline has passed.
task_records read_task_records(const coroscope::trace::reader& input, metadata& names,
                               clock_map& clock, deadline& until, stack_positions positions,
                               trace& loaded);

/// Returns whether a long_scope record with these flags is a stack scope.
[[nodiscard]] constexpr bool is_stack_scope(std::uint32_t flags) {
    namespace format = coroscope::trace;
    return (flags & (format::scope_in_frame | format::scope_explicit | format::scope_await)) == 0;
}

}  // namespace coroscope::analysis::inline records
