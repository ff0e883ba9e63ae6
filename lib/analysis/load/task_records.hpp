// SPDX-License-Identifier: Apache-2.0
#pragma once

// The first pass over the record chunks: it picks out what tells of tasks, of labels, of
// arguments and of devices, and passes over the scopes, which need to know all of that.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "attributes.hpp"
#include "clock_map.hpp"
#include "deadline.hpp"
#include "device_records.hpp"
#include "flat_index.hpp"
#include "notes.hpp"
#include "stream_records.hpp"
#include "symbols.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::loading {

inline constexpr std::int64_t unknown_time = std::numeric_limits<std::int64_t>::min();

/// A task record, decoded. `task` and `other` are its third and fourth word as indices into
/// trace::tasks; kind `none` is the beginning of a chunk, with the task that was current there.
struct task_op {
    std::int64_t time_ns = 0;
    std::uint32_t task = none;
    std::uint32_t other = none;
    std::uint32_t site = none;
    std::uint32_t value =
        0;  ///< flags; of a wake, the waker's thread (index or `none`); of a chunk, its place in its stream
    std::uint32_t thread = none;
    std::uint32_t position = 0;  ///< in its stream
    coroscope::trace::record_kind kind = coroscope::trace::record_kind::none;
};

/// One thread's records in order.
struct thread_stream {
    thread_stream(std::uint32_t of_thread, std::uint32_t chunk_bytes)
        : thread(of_thread), records(chunk_bytes) {}

    std::uint32_t thread;
    stream_records records;
    std::vector<std::int64_t> chunk_ends_ns;  ///< when the last record of each chunk was written
    std::uint32_t first_op = 0;               ///< into task_records::ops
    std::uint32_t end_op = 0;

    // Positions of its scopes. *Stack* scopes ran on the thread from start to end and nest as calls
    // do; nearly all are. The others lived in a frame, or were begun and ended by hand.
    std::vector<std::uint32_t> stack_scopes;
    std::vector<std::uint32_t> other_scopes;
    bool has_long_stack_scopes = false;
};

/// The label of a range, which stands where the range began.
struct range_label {
    std::int64_t start_ns = 0;
    std::uint32_t serial = 0;   ///< of its thread's labels
    std::uint32_t text = none;  ///< index into trace::strings
    std::uint32_t stream = 0;
    std::uint32_t position = 0;
};

/// An item that a range over a stream yielded; number 0: it is one.
struct range_item {
    std::int64_t time_ns = 0;
    std::uint64_t number = 0;
    std::uint32_t serial = 0;     ///< of the label of its range
    std::uint32_t thread_id = 0;  ///< logical id of the thread where that range began
};

/// A text that a scope refers to by (thread, key): arguments by start ticks.
struct scope_text {
    std::uint64_t key = 0;
    std::uint32_t thread = none;
    std::uint32_t site = none;  ///< of arguments
    std::uint32_t text = none;  ///< index into trace::strings
};

struct task_records {
    std::vector<thread_stream> streams;
    std::vector<task_op> ops;
    std::vector<range_label> labels;
    std::vector<range_item> items;
    std::vector<scope_text> arguments;
    std::vector<scope_note> notes;
    attribute_records attributes;
    device_records devices;
    std::int64_t last_ns = 0;  ///< end of the last record
    flat_index task_ids;
    std::uint32_t first_folded = none;  ///< from here on, tasks are jobs that are folded away
    std::vector<std::uint32_t>
        renumbered;  ///< by what task_ids says; empty where nothing is folded

    /// Index into trace::tasks; `none` for id 0 and for folded jobs.
    [[nodiscard]] std::uint32_t find_task(std::uint64_t id) const {
        std::uint32_t number = id == 0 ? none : task_ids.find(id);
        if (number != none && !renumbered.empty()) number = renumbered[number];
        return number < first_folded ? number : none;
    }
};

/// Reads all record chunks and the live-task table of `input`; adds every task that is named to `loaded`.
/// Stops between chunks when the deadline has passed.
task_records read_task_records(const coroscope::trace::reader& input, symbols& names,
                               clock_map& clock, deadline& until, trace& loaded);

/// Whether a long_scope record with those flags is a stack scope.
[[nodiscard]] constexpr bool is_stack_scope(std::uint32_t flags) {
    namespace format = coroscope::trace;
    return (flags & (format::scope_in_frame | format::scope_explicit | format::scope_await)) == 0;
}

/// Whether a record of that kind is a task_op.
[[nodiscard]] constexpr bool is_task_record(coroscope::trace::record_kind kind) {
    return kind >= coroscope::trace::record_kind::suspend &&
           kind <= coroscope::trace::record_kind::context;
}

}  // namespace coroscope::analysis::loading
