// SPDX-License-Identifier: Apache-2.0
#include "pack_records.hpp"

#include <algorithm>

namespace coroscope::trace {

// Returns the four predicted starts of a long scope: the start of the last long scope, the last
// suspension of the current task (without one, the first prediction again), the last resume, and
// the current time.
prediction::start_places prediction::places_of_start() const noexcept {
    const std::uint64_t around = before(record_kind::long_scope)[0];
    const auto suspended = suspended_.find(current_);
    return {around, suspended == suspended_.end() ? around : suspended->second,
            before(record_kind::resume)[0], moment_};
}

std::uint64_t prediction::start_of_long_scope(std::uint32_t site) const noexcept {
    if (!places_starts_) return before(record_kind::long_scope)[0];
    const auto nearest = nearest_.find(site);
    return places_of_start()[nearest == nearest_.end() ? 0 : nearest->second];
}

void prediction::learn_start(std::uint32_t site, std::uint64_t start) {
    const auto distance = [start](std::uint64_t place) {
        return std::min(start - place, place - start);
    };
    const start_places places = places_of_start();
    const auto nearest =
        std::min_element(places.begin(), places.end(), [&](std::uint64_t one, std::uint64_t other) {
            return distance(one) < distance(other);
        });
    nearest_[site] = static_cast<std::size_t>(nearest - places.begin());
}

void prediction::begin_chunk(const chunk_header& chunk) noexcept {
    moment_ = chunk.opened_ticks;
    current_ = chunk.current_task;
}

std::uint64_t prediction::id_of(record_kind kind) const noexcept {
    return facts_of(kind).has == ids::serial ? tag_id(before(kind)[1]) : 0;
}

std::uint64_t prediction::of(std::size_t position, const record_words& words) const noexcept {
    const record_kind kind = tag_kind(words[1]);
    const std::uint64_t same = before(kind)[position];
    if (position == 0) {
        if (kind == record_kind::scope) return moment_ - tag_value(words[1]);
        if (kind == record_kind::long_scope) return start_of_long_scope(tag_id(words[1]));
        if (kind == record_kind::resume && places_starts_)
            return std::max(moment_, before(record_kind::wake)[0]);
        return facts_of(kind).begins_with == first_word::follows ? moment_ : same;
    }
    switch (kind) {
        case record_kind::long_scope:
            if (position == 2) return moment_ - words[0];
            return make_mark(current_, mark_thread(same));
        case record_kind::resume: return position == 2 ? before(record_kind::wake)[2] : same;
        case record_kind::suspend:
        case record_kind::transfer:
        case record_kind::finish_transfer:
        case record_kind::cancel:
        case record_kind::finish:
        case record_kind::context:
        case record_kind::device_wait: return position == 2 ? current_ : same;
        case record_kind::awaiting: return position == 2 ? current_ : before(record_kind::spawn)[2];
        case record_kind::spawn: return position == 3 ? current_ : same;
        default: return same;
    }
}

void prediction::learn(const record_words& words) {
    const record_kind kind = tag_kind(words[1]);
    if (places_starts_ && kind == record_kind::long_scope) learn_start(tag_id(words[1]), words[0]);
    if (places_starts_ && kind == record_kind::suspend) suspended_[words[2]] = words[0];
    before_[static_cast<std::size_t>(kind)] = words;
    if (kind == record_kind::scope) {
        moment_ = words[0] + tag_value(words[1]);
    } else if (kind == record_kind::long_scope) {
        moment_ = words[0] + words[2];
    } else if (facts_of(kind).begins_with == first_word::follows && words[0] != 0) {
        moment_ = words[0];
    }
    if (kind == record_kind::resume || kind == record_kind::suspend ||
        kind == record_kind::next_thread)
        current_ = words[2];
    if (kind == record_kind::transfer || kind == record_kind::finish_transfer) current_ = words[3];
}

}  // namespace coroscope::trace
