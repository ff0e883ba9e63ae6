// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of a thread of crash_program in the trace, as text: a letter for each record, in the
// order of writing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/trace/reader.hpp>
#include <doctest/doctest.h>

namespace coroscope::test {

/// S is a step of any number, R a scope in a frame.
inline char letter_of(const trace::record_view& record) {
    switch (record.kind()) {
        case trace::record_kind::spawn: return 's';
        case trace::record_kind::resume: return 'r';
        case trace::record_kind::suspend: return 'u';
        case trace::record_kind::plain_await: return trace::is_plain_resume(record.tag) ? 'r' : 'u';
        case trace::record_kind::transfer: return 't';
        case trace::record_kind::finish_transfer: return 'f';
        case trace::record_kind::finish: return 'F';
        case trace::record_kind::scope: return 'S';
        case trace::record_kind::long_scope:
            return (record.value() & trace::scope_in_frame) != 0 ? 'R' : 'S';
        default: return '?';
    }
}

/// A flight recorder records a task's spawn once more at its end.
inline bool is_restated(const trace::record_view& record) {
    return record.kind() == trace::record_kind::spawn &&
           (record.value() & trace::spawn_adopted) != 0;
}

struct written_records {
    std::string letters;
    std::uint64_t restated = 0;  ///< these are not in `letters`
};

/// The records of the thread with that logical id.
inline written_records records_of_thread(const std::string& path, std::uint32_t thread) {
    const auto opened = trace::reader::open(path);
    REQUIRE(opened);
    written_records found;
    for (const trace::chunk_view& chunk : opened->chunks()) {
        if (chunk.header.kind != trace::chunk_kind::records || chunk.header.thread != thread)
            continue;
        trace::for_each_record(chunk, [&](const trace::record_view& record) {
            if (is_restated(record))
                ++found.restated;
            else
                found.letters += letter_of(record);
        });
    }
    return found;
}

/// Compares `text` with the characters before the position `end` in the endless repetition of
/// `word`. Returns the length of the beginning that differs; 0 if the whole text is equal.
inline std::size_t wrong_until(std::string_view text, std::string_view word, std::uint64_t end) {
    std::size_t at = text.size();
    while (at > 0 && end > 0 && text[at - 1] == word[(end - 1) % word.size()]) {
        --at;
        --end;
    }
    return at;
}

}  // namespace coroscope::test
