// SPDX-License-Identifier: Apache-2.0
#pragma once

// The second pass over the record chunks: scopes, in the order of the stream.
//
// Two kinds are kept apart because they are put into order in different ways. *Stack* scopes ran on
// one thread from start to end and nest as calls do; nearly all are, so they are kept in 24 bytes.
// *Long* scopes lived in a frame, or were begun and ended by hand, and nest as they please.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include "symbols.hpp"
#include "task_history.hpp"
#include "task_records.hpp"
#include "thread_timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::loading {

/// What only some stack scopes have.
struct scope_extra {
    std::int64_t own_ns = 0;
    std::uint32_t site = none;
    std::uint32_t name = none;
    std::uint32_t arguments = none;
    std::uint16_t flags = 0;
};

struct stack_scope {
    static constexpr std::uint32_t has_extra = 1U << 31;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint32_t site = 0;  ///< index into trace::sites, or has_extra and an index into `extras`
    std::uint32_t switch_index = 0;  ///< into timeline::switches: what was in force at its end
};

struct long_scope {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t own_ns = 0;
    std::uint32_t position = 0;  ///< stack scopes of its stream that ended before it
    std::uint32_t site = none;
    std::uint32_t name = none;
    std::uint32_t thread = none;  ///< where it began
    std::uint32_t task = none;
    std::uint32_t detail = none;
    std::uint16_t flags = 0;
    bool encloses = true;  ///< may be a parent
};

struct stream_scopes {
    std::vector<stack_scope> stack;
    std::vector<scope_extra> extras;
    std::vector<long_scope> longs;
};

/// What both passes have found so far.
struct scope_context {
    const task_records& records;
    const task_histories& histories;
    symbols& names;
    clock_map& clock;
    trace& loaded;
};

class scope_texts;

/// Reads the scopes of one stream; adds details to the model.
stream_scopes read_scopes(const thread_stream& stream, const timeline& line, scope_texts& texts,
                          const scope_context& context);

}  // namespace coroscope::analysis::loading
