// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a record's numbers probably are, from the records before it in its block. Packing keeps only the difference,
// so that a guess may be wrong but never does harm; packing and unpacking make the same guesses.

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <coroscope/trace/format.hpp>

namespace coroscope::trace {

inline constexpr std::size_t record_kinds = 32;  // as many as a tag can name
inline constexpr std::size_t first_words = 2;    // the time and the tag
inline constexpr std::size_t most_words = first_words + sizeof(thread_body) / sizeof(std::uint64_t);

/// Words behind the first unit that are columns of their own; what has a size of its own has none.
constexpr std::size_t word_columns(record_kind kind) noexcept {
    switch (kind) {
        case record_kind::none:
        case record_kind::label:
        case record_kind::arguments:
        case record_kind::attribute:
        case record_kind::note:
        case record_kind::module:
        case record_kind::device:
        case record_kind::device_name:
        case record_kind::string: return 0;
        default: {
            const std::size_t bytes = record_bytes(make_tag(kind, 0, 0));
            return bytes == 0 ? 0 : bytes / sizeof(std::uint64_t) - first_words;
        }
    }
}

using record_words = std::array<std::uint64_t, most_words>;

class prediction {
public:
    /// Of a packed trace of this version: guesses have become better.
    explicit prediction(std::uint32_t version) noexcept : places_starts_(version >= 2) {}

    /// The next records are those of this chunk.
    void begin_chunk(const chunk_header& chunk) noexcept;

    /// What stands at `position` (0: the time, 2 and on: what follows the tag). Known are the tag and, for words
    /// after the tag, those before it.
    [[nodiscard]] std::uint64_t of(std::size_t position, const record_words& words) const noexcept;

    /// The site, serial or other id; only the kind is known.
    [[nodiscard]] std::uint64_t id_of(record_kind kind) const noexcept;

    /// Takes note of a whole record. Throws std::bad_alloc.
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
    std::uint64_t moment_ = 0;                                    // what the thread last told of
    std::uint64_t current_ = 0;                                   // the task that probably runs
    std::array<record_words, record_kinds> before_{};             // the last record of each kind
    std::unordered_map<std::uint64_t, std::uint64_t> suspended_;  // each task's last suspension
    std::unordered_map<std::uint32_t, std::size_t>
        nearest_;  // of each site: which place its last start was near to
};

}  // namespace coroscope::trace
