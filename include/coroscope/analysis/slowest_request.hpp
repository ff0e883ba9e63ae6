// SPDX-License-Identifier: Apache-2.0
#pragma once

// The answer in one sentence: which request was the slowest, and what took most of it.
//
// A request is what the user names; else the function scope of tasks that awaits something and calls the
// most different functions, by wall time where several do. One that lasts longer than a tenth of the
// session, or repeats another function eight times on average, is a loop that serves requests and
// stands back. Without any, the slowest finished task.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// What a part of a request's wall time is.
enum class part_kind : std::uint8_t {
    await,  ///< its own awaits at one site
    scope,  ///< child scopes of one name: their running time; what was awaited in them are awaits
    self,   ///< running outside every child scope, slices of others nested there included
};

struct request_part {
    part_kind kind = part_kind::self;
    std::string label;          ///< of the await or scope; the request's own name for self
    std::uint32_t site = none;  ///< index into trace::sites: file and line
    std::uint64_t count = 0;
    time_split time;
    [[nodiscard]] std::int64_t wall_ns() const { return time.wall_ns(); }
};

struct slow_request {
    std::string name;
    std::uint32_t site = none;    ///< index into trace::sites
    std::uint32_t event = none;   ///< the scope, where the request is one: index into trace::events
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint64_t instances = 0;  ///< requests of this name that completed
    std::int64_t start_ns = 0;
    std::int64_t wall_ns = 0;
    time_split time;
    std::vector<request_part> parts;  ///< the largest first; they add up to the wall time
};

/// The slowest completed instance of `name` (a scope's or a task's name; empty: chosen as above).
/// Empty where the trace holds no such thing.
COROSCOPE_API std::optional<slow_request> slowest_request(const trace& loaded,
                                                          std::string_view name = {});

}  // namespace coroscope::analysis
