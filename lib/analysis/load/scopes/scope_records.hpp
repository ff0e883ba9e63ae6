// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the scopes of a stream, after the tasks' slices are known. Stack scopes are decoded in
// place, each time they are needed. The other scopes, and details that only few stack scopes have,
// are decoded once and kept.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../records/clock_map.hpp"
#include "../records/metadata.hpp"
#include "../records/notes.hpp"
#include "../records/task_records.hpp"
#include "../tasks/task_history.hpp"
#include "../tasks/thread_timeline.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline scopes {

class scope_texts;

// The two times are not neighbours. Otherwise a compiler may read both with one load, which must
// wait for the two separate stores (store forwarding fails).
struct stack_scope {
    std::int64_t start_ns = 0;
    std::uint32_t site_id = 0;
    bool is_long = false;  ///< a long_scope record: it has a scope_extra
    bool clipped = false;  ///< began before the session
    std::int64_t end_ns = 0;
};

/// Decodes stack scopes. Fastest if positions are close to the last one, because it keeps its place
/// in the stream and in the clock map.
class stack_decoder {
public:
    stack_decoder(const thread_stream& stream, const clock_map& clock)
        : stream_(&stream), clock_(clock) {}

    [[nodiscard]] std::int64_t start_ns(std::uint32_t position) {
        std::uint64_t start;
        std::memcpy(&start, at(position), sizeof(start));
        return clock_.to_ns(start);
    }

    // Writes each field in place: a copy of the whole object would have to wait for each of these
    // stores.
    void decode(std::uint32_t position, stack_scope& scope) {
        std::uint64_t words[2];
        std::memcpy(words, at(position), sizeof(words));
        scope.site_id = coroscope::trace::tag_id(words[1]);
        scope.is_long =
            coroscope::trace::tag_kind(words[1]) != coroscope::trace::record_kind::scope;
        scope.clipped = words[0] < clock_.start_ticks();
        scope.start_ns = clock_.to_ns(words[0]);
        const std::uint64_t duration =
            scope.is_long ? long_duration(position) : coroscope::trace::tag_value(words[1]);
        const std::int64_t end_ns = clock_.to_ns(words[0] + duration);
        scope.end_ns = end_ns < scope.start_ns ? scope.start_ns : end_ns;
    }

    [[nodiscard]] std::int64_t end_ns(std::uint32_t position) {
        stack_scope scope;
        decode(position, scope);
        return scope.end_ns;
    }

private:
    [[nodiscard]] const unsigned char* at(std::uint32_t position) {
        if (position - chunk_.first >= chunk_.units) [[unlikely]]
            chunk_ = stream_->records.chunk_at(position);
        return chunk_.records +
               std::size_t{position - chunk_.first} * coroscope::trace::record_unit_bytes;
    }
    [[nodiscard]] std::uint64_t long_duration(std::uint32_t position) const {
        const coroscope::trace::record_view record = stream_->records.record(position);
        return record.bytes == 0 ? 0 : record.word(2);
    }

    const thread_stream* stream_;
    chunk_place chunk_;
    clock_map clock_;
};

/// Details that only some stack scopes have.
struct scope_extra {
    std::uint32_t position = 0;
    std::uint32_t site = none;
    std::uint32_t name = none;
    std::uint32_t arguments = none;
    std::uint32_t note = none;  ///< of scope_notes
    std::uint16_t flags = 0;
};

/// A scope that is no stack scope.
struct other_scope {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::int64_t own_ns = 0;
    std::uint32_t position = 0;
    std::uint32_t site = none;
    std::uint32_t name = none;
    std::uint32_t thread = none;  ///< on which it began
    std::uint32_t task = none;
    std::uint32_t detail = none;
    std::uint32_t note = none;  ///< of scope_notes
    std::uint16_t flags = 0;
    bool encloses = true;   ///< may be a parent
    bool on_stack = false;  ///< it takes the time of `group` on its thread
    std::uint32_t group = none;
};

struct stream_scopes {
    std::vector<scope_extra> extras;  ///< by position
    std::vector<other_scope> others;  ///< by position
};

/// The results of the first pass, and the tasks' histories.
struct scope_context {
    const task_records& records;
    const task_histories& histories;
    metadata& names;
    clock_map& clock;
    scope_notes& notes;
    trace& loaded;
};

/// Reads the parts of one stream's scopes that are kept. Adds details to the model.
stream_scopes read_scopes(const thread_stream& stream, const timeline& line, scope_texts& texts,
                          const scope_context& context);

}  // namespace coroscope::analysis::inline scopes
