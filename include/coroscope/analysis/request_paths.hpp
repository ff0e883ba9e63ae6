// SPDX-License-Identifier: Apache-2.0
#pragma once

// The critical paths of all requests of a type, added up as a tree of places.
//
// A node is the time of one kind at one place: a scope, an await or a task. The nodes below a wait
// are the work in which the path was during the wait. If a place occurs again below itself, its
// time counts at the upper node. The own times of all nodes add up to the wall times exactly.
//
// model.hpp describes times and indices. Thread-safety: pure functions, safe on any thread.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The percentiles whose requests are compared.
inline constexpr std::array<std::uint32_t, 3> compared_percentiles{50, 95, 99};

/// The requests around a percentile of the wall times. The middle one is the percentile by nearest
/// rank. The group has a hundredth of the requests, at least 1 and at most 1000. If it would reach
/// beyond the first or the last request, it is moved, and keeps its size.
struct percentile_group {
    std::uint32_t percentile = 0;
    std::vector<std::uint64_t> requests;  ///< ids, the fastest first
    std::int64_t wall_ns = 0;             ///< their sum
};

/// The time of one kind at one place, as sums over requests.
struct request_path_node {
    path_kind kind = path_kind::unknown;
    std::string label;            ///< of the scope, the await or the task
    std::uint32_t site = none;    ///< index into trace::sites
    std::uint32_t parent = none;  ///< index into request_paths::nodes; none: in the request itself
    std::uint32_t depth = 0;      ///< number of nodes above
    std::uint64_t requests = 0;   ///< number of requests with the node on their paths
    std::int64_t own_ns = 0;      ///< without the nodes below
    std::int64_t total_ns = 0;    ///< with them
    /// total_ns of the requests of each group, by index into request_paths::groups.
    std::array<std::int64_t, compared_percentiles.size()> group_ns{};
};

/// The tree.
struct request_paths {
    std::string name;            ///< of the type
    std::uint64_t requests = 0;  ///< number of requests whose paths are added up
    std::int64_t wall_ns = 0;    ///< the sum of their wall times
    std::array<percentile_group, compared_percentiles.size()> groups;
    /// Each node is followed by the nodes below it; siblings with the largest total first.
    std::vector<request_path_node> nodes;
};

/// Adds up the paths of the whole requests of a type, without those that are left out
/// (request_info::left_out). `name` is the name of the requests; empty: that of find_slowest().
/// Returns nothing if the type has no such request. Takes the time and the memory of
/// critical_paths() without blame.
[[nodiscard]] COROSCOPE_API std::optional<request_paths>
paths_of_requests(const trace& loaded, const request_list& list, std::string_view name = {});

}  // namespace coroscope::analysis
