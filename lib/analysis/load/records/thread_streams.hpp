// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of each thread, and the search for a thread's records while they are read.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "growing_list.hpp"
#include "stream_records.hpp"
#include "task_op.hpp"
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// One thread's records in order.
struct thread_stream {
    thread_stream(std::uint32_t of_thread, std::uint32_t chunk_bytes)
        : thread(of_thread), records(chunk_bytes) {}

    std::uint32_t thread;
    stream_records records;
    std::vector<std::int64_t> chunk_ends_ns;  ///< when the last record of each chunk was written
    std::vector<bool>
        stands_behind_gap;       ///< by chunk: in a damaged trace, one may be missing before it
    bool lacks_end = false;      ///< in a damaged trace, chunks may be missing behind the last one
    std::uint32_t first_op = 0;  ///< into task_records::ops
    std::uint32_t end_op = 0;

    // Positions of the thread's scopes. *Stack* scopes, which are nearly all, ran on the thread
    // from start to end and nest as calls do. The other scopes lived in a frame, or were begun and
    // ended by hand.
    std::vector<std::uint32_t> stack_scopes;
    std::vector<std::uint32_t> other_scopes;
    bool has_long_stack_scopes = false;

    std::uint64_t stack_scope_count = 0;  ///< also of those whose position is not kept
    coroscope::trace::scope_starts starts{~std::uint64_t{0}, 0};  ///< of the stack scopes, in ticks

    void widen_starts(const coroscope::trace::scope_starts& added) {
        starts.first = std::min(starts.first, added.first);
        starts.last = std::max(starts.last, added.last);
    }
};

/// Whether the positions of stack scopes are kept. Without them the memory does not grow with the
/// number of these scopes; then values do not know how many scopes ended with them.
enum class stack_positions : std::uint8_t { kept, left_out };

class thread_streams {
public:
    /// `input`, `streams` and `ops`, the operations that were read so far, must outlive it.
    thread_streams(const coroscope::trace::reader& input, stack_positions positions,
                   std::vector<thread_stream>& streams, const growing_list<task_op>& ops)
        : input_(input), positions_(positions), streams_(streams), ops_(ops) {}

    /// Returns the stream of the chunk's thread. Chunks must come ordered by thread.
    thread_stream& of_chunk(const coroscope::trace::chunk_view& chunk, std::uint32_t thread);

    /// Returns the index of the thread's stream, which may be new and empty. Must be called after
    /// the records of all chunks were read.
    std::uint32_t of_thread(std::uint32_t thread);

private:
    void reserve_scopes(thread_stream& stream, const coroscope::trace::chunk_view& first) const;
    thread_stream& open(std::uint32_t thread);

    const coroscope::trace::reader& input_;
    stack_positions positions_;
    std::vector<thread_stream>& streams_;
    const growing_list<task_op>& ops_;
    std::vector<std::uint32_t> known_;  // by thread: those that have been looked for
};

}  // namespace coroscope::analysis::inline records
