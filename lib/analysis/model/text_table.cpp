// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/text_table.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace coroscope::analysis {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;
constexpr std::size_t first_slots = 64;
constexpr std::uint32_t no_number = 0xffff'ffff;

}  // namespace

std::uint32_t text_table::insert(std::string_view text) {
    if (texts_.size() * 4 >= slots_.size() * 3) grow();
    const auto hash = static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    for (; slots_[at].number != no_number; at = (at + 1) & mask)
        if (slots_[at].hash == hash && texts_[slots_[at].number] == text) return slots_[at].number;
    if (texts_.size() >= no_number) throw std::length_error("more texts than numbers");
    const auto number = static_cast<std::uint32_t>(texts_.size());
    texts_.push_back(keep(text));
    slots_[at] = {hash, number};
    return number;
}

std::string_view text_table::keep(std::string_view text) {
    if (text.empty()) return {};
    if (text.size() > room_ || blocks_.empty()) {
        const std::size_t bytes = std::max(block_bytes, text.size());
        blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
        next_ = blocks_.back().get();
        room_ = bytes;
    }
    char* const kept = next_;
    std::memcpy(kept, text.data(), text.size());
    next_ += text.size();
    room_ -= text.size();
    return {kept, text.size()};
}

void text_table::grow() {
    std::vector<slot> old(std::max(first_slots, slots_.size() * 2));
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const slot& each : old) {
        if (each.number == no_number) continue;
        std::size_t at = each.hash & mask;
        while (slots_[at].number != no_number) at = (at + 1) & mask;
        slots_[at] = each;
    }
}

}  // namespace coroscope::analysis
