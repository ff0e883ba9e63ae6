// SPDX-License-Identifier: Apache-2.0
#include "chunk_gaps.hpp"

#include <algorithm>
#include <limits>

namespace coroscope::analysis::inline records {

using coroscope::trace::chunk_kind;
using coroscope::trace::chunk_state;
using coroscope::trace::chunk_view;
using coroscope::trace::overflow_policy;
using coroscope::trace::reader;

namespace {

constexpr std::uint64_t last_number = std::numeric_limits<std::uint64_t>::max();

// The reader stopped at a record that it does not know, or the file is cut there.
bool lacks_its_end(const chunk_view& chunk) {
    return chunk.header.kind == chunk_kind::records && chunk.header.state == chunk_state::sealed &&
           chunk.bytes < chunk.header.used_bytes;
}

std::vector<const chunk_view*> by_number(const reader& input) {
    std::vector<const chunk_view*> chunks;
    for (const chunk_view& each : input.chunks()) chunks.push_back(&each);
    std::sort(chunks.begin(), chunks.end(), [](const chunk_view* left, const chunk_view* right) {
        return left->header.number < right->header.number;
    });
    return chunks;
}

}  // namespace

chunk_gaps::chunk_gaps(const reader& input, clock_map& clock) {
    if (input.damaged_chunks() == 0) return;
    const std::vector<const chunk_view*> present = by_number(input);
    anywhere_ = present.empty() || input.header().policy == overflow_policy::overwrite_oldest;
    if (anywhere_) {
        first_ns_ = std::numeric_limits<std::int64_t>::min();
        return;
    }
    // A finished trace that overwrote nothing has a chunk for each number.
    const bool known = input.header().finished != 0 && input.header().chunks_in_use != 0;
    find(present, known ? input.header().chunks_in_use : last_number, clock);
}

void chunk_gaps::find(const std::vector<const chunk_view*>& present, std::uint64_t opened,
                      clock_map& clock) {
    std::int64_t before_ns = std::numeric_limits<std::int64_t>::min();
    const auto add = [&](const gap& found) {
        if (gaps_.empty()) first_ns_ = before_ns;
        gaps_.push_back(found);
    };
    std::uint64_t next = 1;
    for (const chunk_view* each : present) {
        const std::uint64_t number = each->header.number;
        if (number > next) add({next, number - 1});
        if (each->header.opened_ticks != 0) before_ns = clock.to_ns(each->header.opened_ticks);
        if (lacks_its_end(*each)) add({number, number, true});
        if (number == last_number) return;
        next = number + 1;
    }
    if (next <= opened) add({next, last_number});
    // If no chunk is missing, the end of an open chunk must be damaged. It is unknown which.
    if (gaps_.empty()) {
        anywhere_ = true;
        first_ns_ = std::numeric_limits<std::int64_t>::min();
    }
}

bool chunk_gaps::between(std::uint64_t number, std::uint64_t next) const {
    return anywhere_ || std::any_of(gaps_.begin(), gaps_.end(), [&](const gap& each) {
               return each.end_only ? each.first >= number && each.first < next
                                    : each.last > number && each.first < next;
           });
}

bool chunk_gaps::behind(std::uint64_t number) const {
    return anywhere_ || (!gaps_.empty() && (gaps_.back().end_only ? gaps_.back().first >= number
                                                                  : gaps_.back().last > number));
}

}  // namespace coroscope::analysis::inline records
