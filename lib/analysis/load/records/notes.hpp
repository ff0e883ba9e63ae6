// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads notes and finds the scope of each note by the scope's thread and start.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "metadata.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// A note record, decoded.
struct scope_note {
    std::uint64_t start_ticks = 0;
    std::uint32_t thread = none;
    coroscope::trace::note_kind what{};
    event_note says;  ///< its stack is an index into trace::stacks; its event is not set yet
};

class note_reader {
public:
    /// Decodes a note. Counts a malformed note and leaves it out.
    void read(const coroscope::trace::record_view& record, std::uint32_t thread, metadata& names,
              trace& loaded);

    [[nodiscard]] std::vector<scope_note> take() { return std::move(notes_); }
    [[nodiscard]] std::uint64_t malformed() const { return malformed_; }

private:
    bool read_inputs(std::string_view text, scope_note& note, metadata& names) const;
    bool read_stack(std::string_view bytes, scope_note& note, trace& loaded);
    static bool read_sequence(std::string_view bytes, scope_note& note, metadata& names);

    std::vector<scope_note> notes_;
    std::map<std::string, std::uint32_t, std::less<>> stacks_;  // by bytes
    std::uint64_t malformed_ = 0;
};

/// Returns whether a text is a JSON array as in notes, of arrays, integers and strings.
[[nodiscard]] bool is_json_array(std::string_view text);

class scope_notes {
public:
    explicit scope_notes(const std::vector<scope_note>& notes);

    [[nodiscard]] bool empty() const { return entries_.empty(); }

    /// Joins the notes of a scope and returns a number for give(), or `none` if there are no notes.
    /// Takes each note once. If several scopes of a thread began in the same tick, the caller must
    /// ask for the scope that ended first: it began last, and gets the latest notes.
    std::uint32_t take(std::uint32_t thread, std::uint64_t start_ticks);

    /// Adds the notes with the number `note` to the model, for the event that was added last.
    void give(std::uint32_t note, trace& loaded) const;

private:
    struct key {
        std::uint64_t ticks;
        std::uint32_t thread;
        bool operator==(const key&) const = default;
    };
    struct key_hash {
        std::size_t operator()(const key& hashed) const {
            return (hashed.ticks ^ (hashed.thread * 0x9e37'79b9'7f4a'7c15U)) *
                   0xff51'afd7'ed55'8ccdU;
        }
    };
    struct entry {
        std::uint32_t note;     // index into the notes
        std::uint32_t earlier;  // entry of the same key
    };

    const std::vector<scope_note>& notes_;
    std::unordered_map<key, std::uint32_t, key_hash> latest_;
    std::vector<entry> entries_;
    std::vector<event_note> taken_;
};

}  // namespace coroscope::analysis::inline records
