// SPDX-License-Identifier: Apache-2.0
#include "chunk_census.hpp"

#include <algorithm>
#include <tuple>

namespace coroscope::trace {
namespace {

constexpr std::size_t most_named = 8;

std::string range_text(std::uint64_t first, std::uint64_t last) {
    const std::string text = std::to_string(first);
    return first == last ? text : text + '-' + std::to_string(last);
}

// Overwritten chunks leave gaps among the numbers.
bool numbers_have_gaps(const file_header& header) {
    return header.policy == overflow_policy::overwrite_oldest;
}

}  // namespace

void chunk_census::add(const chunk_header& header, std::uint64_t offset, bool whole) {
    found_.push_back({header.number, offset});
    if (whole) ++places_;
}

void chunk_census::sort() {
    std::sort(found_.begin(), found_.end(), [](const place& left, const place& right) {
        return std::tie(left.number, left.offset) < std::tie(right.number, right.offset);
    });
}

std::vector<chunk_census::shared_number> chunk_census::shared_numbers() const {
    std::vector<shared_number> shared;
    for (std::size_t at = 1; at < found_.size(); ++at) {
        if (found_[at].number != found_[at - 1].number) continue;
        if (shared.empty() || shared.back().number != found_[at].number)
            shared.push_back({found_[at].number, {found_[at - 1].offset}});
        shared.back().offsets.push_back(found_[at].offset);
    }
    return shared;
}

// A trace of an earlier release has no chunks_in_use. A trace cannot have more chunks than places,
// so a larger number is damage of the header.
std::uint64_t chunk_census::expected(const file_header& header) const {
    if (header.finished == 0) return 0;
    if (header.chunks_in_use != 0) return std::min(header.chunks_in_use, header.chunk_count);
    if (numbers_have_gaps(header) || found_.empty()) return 0;
    return std::min(found_.back().number, header.chunk_count);
}

std::uint64_t chunk_census::missing(const file_header& header, std::uint64_t known_lost) const {
    const std::uint64_t due = expected(header);
    const std::uint64_t accounted = places_ + known_lost;
    return due > accounted ? due - accounted : 0;
}

std::string chunk_census::absent_numbers(std::uint64_t last) const {
    std::string text;
    std::size_t named = 0;
    std::uint64_t next = 1;
    const auto add = [&](std::uint64_t end) {  // the numbers in [next, end) are absent
        if (next >= end) return;
        if (named++ < most_named) text += (text.empty() ? "" : ", ") + range_text(next, end - 1);
    };
    for (const place& each : found_) {
        if (each.number > last) break;
        add(each.number);
        next = each.number + 1;
    }
    add(last + 1);
    return named > most_named ? text + ", ..." : text;
}

std::string chunk_census::describe(const file_header& header, std::uint64_t missing) const {
    const std::uint64_t due = expected(header);
    std::string text =
        std::to_string(missing) + " of " + std::to_string(due) + " chunks are missing";
    if (numbers_have_gaps(header)) return text;
    const std::string numbers = absent_numbers(due);
    return numbers.empty() ? text : text + "; no intact chunk has the numbers " + numbers;
}

}  // namespace coroscope::trace
