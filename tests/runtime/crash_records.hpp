// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a thread of crash_program has in the trace, as text: a letter for each record, in the order of their writing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/trace/reader.hpp>
#include <doctest/doctest.h>

namespace coroscope::test {

/// A step is S, whatever its number, and a scope in a frame R.
inline char letter_of(const trace::record_view& record) {
    switch (record.kind()) {
        case trace::record_kind::spawn: return 's';
        case trace::record_kind::resume: return 'r';
        case trace::record_kind::suspend: return 'u';
        case trace::record_kind::transfer: return 't';
        case trace::record_kind::finish_transfer: return 'f';
        case trace::record_kind::finish: return 'F';
        case trace::record_kind::scope: return 'S';
        case trace::record_kind::long_scope:
            return (record.value() & trace::scope_in_frame) != 0 ? 'R' : 'S';
        default: return '?';
    }
}

/// A flight recorder tells of a task's spawn once more as it ends.
inline bool is_restated(const trace::record_view& record) {
    return record.kind() == trace::record_kind::spawn &&
           (record.value() & trace::spawn_adopted) != 0;
}

struct written_records {
    std::string letters;
    std::uint64_t restated = 0;  ///< not among the letters
};

/// What the thread of that logical id wrote.
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

/// `text` should be what stands before the place `end` in the endless repetition of `word`. How much of its beginning is
/// not; 0: it is that as a whole.
inline std::size_t wrong_until(std::string_view text, std::string_view word, std::uint64_t end) {
    std::size_t at = text.size();
    while (at > 0 && end > 0 && text[at - 1] == word[(end - 1) % word.size()]) {
        --at;
        --end;
    }
    return at;
}

}  // namespace coroscope::test
