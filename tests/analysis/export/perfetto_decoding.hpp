// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a Perfetto trace as its viewer does: packets in the order of their times, packets of one
// time in file order, and on each track an end closes the slice that was opened last. Data that a
// viewer silently drops or misreads is a fault here.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace coroscope_tests {

struct decoded_track {
    std::string name;
    std::uint64_t parent = 0;
    std::int64_t pid = -1;  ///< of a process or a thread
    std::int64_t tid = -1;  ///< of a thread
    std::int64_t rank = -1;
    bool merges = true;  ///< with a sibling of the same name
    bool counts = false;
};

struct decoded_slice {
    std::uint64_t track = 0;
    std::string name;
    std::string category;
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::size_t depth = 0;
    bool is_moment = false;
    std::map<std::string, std::string> arguments;
    std::vector<std::uint64_t> flows_out;
    std::vector<std::uint64_t> flows_in;
};

struct decoded_count {
    std::string path;
    std::uint64_t time_ns = 0;
    double number = 0;
    bool operator==(const decoded_count&) const = default;
};

struct decoded_picture {
    std::map<std::uint64_t, decoded_track> tracks;
    std::vector<decoded_slice> slices;             ///< by start
    std::vector<decoded_count> counts;             ///< by time
    std::map<std::string, std::int64_t> told;      ///< the trace's own figures
    std::map<std::uint32_t, std::int64_t> clocks;  ///< of the snapshot
    std::uint32_t clock_of_events = 0;             ///< 0: the trace's own
    std::vector<std::string> faults;

    /// "process/group/lane".
    [[nodiscard]] std::string path(std::uint64_t track) const;
    /// The slices of a track: "name start..end", with a dot for each level of nesting before it.
    [[nodiscard]] std::vector<std::string> lane(std::string_view path) const;
    [[nodiscard]] std::vector<const decoded_slice*> named(std::string_view name) const;
    /// The arrows: "name start -> name start", sorted.
    [[nodiscard]] std::vector<std::string> arrows() const;
};

[[nodiscard]] decoded_picture decode_perfetto(std::string_view bytes);

}  // namespace coroscope_tests
