// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the run-time label and the captured arguments of a scope. Also finds the labels to which no
// scope refers: those of ranges that did not end.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../records/task_records.hpp"
#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline scopes {

class scope_texts {
public:
    explicit scope_texts(const task_records& records);

    /// Returns the text of the label with that serial, as an index into trace::strings, or none.
    /// Notes that the label's range had these times.
    std::uint32_t take_label(std::uint32_t thread, std::uint32_t serial, std::int64_t start_ns,
                             std::int64_t end_ns);

    /// Returns the label with that serial, as an index into task_records::labels, or none.
    [[nodiscard]] std::uint32_t find_label(std::uint32_t thread, std::uint32_t serial) const;

    /// The end of a label's range; none if it did not end. All scopes must have been read.
    [[nodiscard]] optional_ns end_of(std::size_t label) const { return ends_ns_[label]; }

    [[nodiscard]] bool any_arguments() const { return !entries_.empty(); }

    /// Returns whether any scope of the site has arguments. Takes constant time.
    [[nodiscard]] bool has_arguments(std::uint32_t site) const {
        return site < sites_with_arguments_.size() && sites_with_arguments_[site] != 0;
    }

    /// Returns the arguments of the scope that began at that tick, or none. Returns each entry
    /// once. If several scopes began in one tick, the caller must ask for the one that ended first:
    /// it began last.
    std::uint32_t take_arguments(std::uint32_t thread, std::uint64_t start_ticks,
                                 std::uint32_t site);

private:
    struct key {
        std::uint64_t ticks_or_serial;
        std::uint32_t thread;
        std::uint32_t site;
        bool operator==(const key&) const = default;
    };
    struct key_hash {
        std::size_t operator()(const key& hashed) const {
            const std::uint64_t place = (std::uint64_t{hashed.thread} << 32) | hashed.site;
            return (hashed.ticks_or_serial ^ (place * 0x9e37'79b9'7f4a'7c15U)) *
                   0xff51'afd7'ed55'8ccdU;
        }
    };
    struct entry {
        std::uint32_t text;
        std::uint32_t earlier;  // entry of the same key
    };

    static key key_of(std::int64_t start_ns, std::uint32_t serial) {
        return {static_cast<std::uint64_t>(start_ns), serial, none};
    }

    const task_records& records_;
    std::vector<optional_ns> ends_ns_;  // by label
    std::unordered_map<key, std::uint32_t, key_hash> labels_;
    std::unordered_map<key, std::uint32_t, key_hash> by_start_;   // the first place of each
    std::unordered_map<key, std::uint32_t, key_hash> arguments_;  // the latest entry
    std::vector<entry> entries_;
    std::vector<unsigned char> sites_with_arguments_;
};

}  // namespace coroscope::analysis::inline scopes
