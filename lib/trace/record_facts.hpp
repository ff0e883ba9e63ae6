// SPDX-License-Identifier: Apache-2.0
#pragma once

// The facts of each record kind that packing depends on, one row per kind. A wrong fact costs
// bytes, but packing and unpacking must agree on it: a row that a released version has must not
// change.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <coroscope/trace/format.hpp>

namespace coroscope::trace {

inline constexpr std::size_t record_kinds = std::size_t{1} << tag_kind_bits;

enum class first_word : std::uint8_t {
    other,
    follows  ///< a moment after the thread's last one
};

enum class ids : std::uint8_t {
    of_sites,  ///< few different ids, which occur repeatedly
    serial     ///< ids that count up
};

struct record_facts {
    record_kind kind = record_kind::none;
    first_word begins_with = first_word::other;
    ids has = ids::of_sites;
};

inline constexpr record_facts facts_of_kinds[] = {
    {record_kind::scope},
    {record_kind::long_scope},
    {record_kind::suspend, first_word::follows},
    {record_kind::resume, first_word::follows},
    {record_kind::transfer, first_word::follows},
    {record_kind::finish_transfer, first_word::follows},
    {record_kind::cancel, first_word::follows},
    {record_kind::spawn, first_word::follows},
    {record_kind::wake},
    {record_kind::finish, first_word::follows},
    {record_kind::awaiting, first_word::follows},
    {record_kind::context, first_word::follows},
    {record_kind::label, first_word::follows, ids::serial},
    {record_kind::arguments, first_word::follows},
    {record_kind::attribute, first_word::other, ids::serial},
    {record_kind::item, first_word::follows},
    {record_kind::carries, first_word::follows},
    {record_kind::note, first_word::follows},
    {record_kind::memory, first_word::follows},
    {record_kind::device},
    {record_kind::next_thread, first_word::follows, ids::serial},
    {record_kind::device_wait, first_word::follows},
    {record_kind::string, first_word::other, ids::serial},
    {record_kind::site, first_word::other, ids::serial},
    {record_kind::thread, first_word::other, ids::serial},
    {record_kind::clock},
    {record_kind::module, first_word::other, ids::serial},
    {record_kind::device_name, first_word::other, ids::serial},
    {record_kind::processor},
    {record_kind::fact},
    {record_kind::plain_await, first_word::follows},
};

inline constexpr std::array<record_facts, record_kinds> facts_by_kind = [] {
    std::array<record_facts, record_kinds> facts{};
    for (const record_facts& each : facts_of_kinds)
        facts[static_cast<std::size_t>(each.kind)] = each;
    return facts;
}();

constexpr const record_facts& facts_of(record_kind kind) noexcept {
    return facts_by_kind[static_cast<std::size_t>(kind)];
}

/// Returns whether the tag of a record of this kind has its size.
constexpr bool has_own_size(record_kind kind) noexcept {
    return record_bytes(make_tag(kind, 0, 0)) != record_bytes(make_tag(kind, 0, 1));
}

/// Returns whether each kind that has a size has exactly one row.
constexpr bool every_kind_has_a_row() noexcept {
    std::size_t sized = 0;
    for (std::size_t at = 1; at < record_kinds; ++at) {
        const auto kind = static_cast<record_kind>(at);
        if (record_bytes(make_tag(kind, 0, 0)) == 0) continue;
        ++sized;
        if (facts_of(kind).kind != kind) return false;
    }
    return sized == std::size(facts_of_kinds);
}
static_assert(every_kind_has_a_row(), "each record kind has one row in facts_of_kinds");

}  // namespace coroscope::trace
