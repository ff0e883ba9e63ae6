// SPDX-License-Identifier: Apache-2.0
#pragma once

// Predictions of a record's numbers, from the earlier records of its block. A packed trace keeps
// only the difference, so a wrong prediction does no harm. Packing and unpacking must make the same
// predictions.

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <coroscope/trace/format.hpp>

#include "record_facts.hpp"

namespace coroscope::trace {

inline constexpr std::size_t first_words = 2;  // the time and the tag
inline constexpr std::size_t most_words = first_words + sizeof(thread_body) / sizeof(std::uint64_t);

/// The words after the first unit that have columns of their own. A record whose size is in its tag
/// has no such words.
constexpr std::size_t word_columns(record_kind kind) noexcept {
    const std::size_t bytes = record_bytes(make_tag(kind, 0, 0));
    if (bytes == 0 || has_own_size(kind)) return 0;
    return bytes / sizeof(std::uint64_t) - first_words;
}

using record_words = std::array<std::uint64_t, most_words>;

class prediction {
public:
    /// `version` is that of the packed trace: version 2 has better predictions.
    explicit prediction(std::uint32_t version) noexcept : places_starts_(version >= 2) {}

    /// Begins a chunk: the next records are in it.
    void begin_chunk(const chunk_header& chunk) noexcept;

    /// Predicts the word at `position` (0: the time; from 2: the words after the tag). The tag must
    /// be known and, for words after the tag, the earlier ones.
    [[nodiscard]] std::uint64_t of(std::size_t position, const record_words& words) const noexcept;

    /// Predicts the site, serial or other id, from the kind alone.
    [[nodiscard]] std::uint64_t id_of(record_kind kind) const noexcept;

    /// Learns from a whole record. Throws std::bad_alloc.
    void learn(const record_words& words);

private:
    [[nodiscard]] const record_words& before(record_kind kind) const noexcept {
        return before_[static_cast<std::size_t>(kind)];
    }

    using start_places = std::array<std::uint64_t, 4>;
    [[nodiscard]] start_places places_of_start() const noexcept;
    [[nodiscard]] std::uint64_t start_of_long_scope(std::uint32_t site) const noexcept;
    void learn_start(std::uint32_t site, std::uint64_t start);

    bool places_starts_;
    std::uint64_t moment_ = 0;                                    // last moment of the thread
    std::uint64_t current_ = 0;                                   // the task that probably runs
    std::array<record_words, record_kinds> before_{};             // the last record of each kind
    std::unordered_map<std::uint64_t, std::uint64_t> suspended_;  // each task's last suspension
    // for each site: the predicted place that was nearest to its last start
    std::unordered_map<std::uint32_t, std::size_t> nearest_;
};

}  // namespace coroscope::trace
