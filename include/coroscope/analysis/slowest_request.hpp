// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the slowest request, and the largest parts of its time, for an answer in one sentence.
//
// If the user names a scope or a task, each instance of it is a request. Else the requests are
// those that the program marks, and if it marks none, those that request_statistics.hpp guesses.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The kind of a part of a request's wall time.
enum class part_kind : std::uint8_t {
    await,  ///< its own awaits at one site
    scope,  ///< child scopes of one name: their running time; awaits in them are separate
    self,   ///< running time outside child scopes, with other tasks' slices nested there
};

/// One part of a request's wall time.
struct request_part {
    part_kind kind = part_kind::self;
    std::string label;          ///< of the await or scope; the request's own name for self
    std::uint32_t site = none;  ///< index into trace::sites: file and line
    std::uint64_t count = 0;
    time_split time;
    [[nodiscard]] std::int64_t wall_ns() const { return time.wall_ns(); }
};

/// A slow request, with the parts of its time.
struct slow_request {
    std::string name;
    std::uint32_t site = none;    ///< index into trace::sites
    std::uint32_t event = none;   ///< the scope, if the request is one: index into trace::events
    std::uint32_t task = none;    ///< index into trace::tasks
    std::uint64_t id = 0;         ///< of a marked request (request_info::id); else 0
    std::uint64_t instances = 0;  ///< requests of this name that completed
    std::int64_t start_ns = 0;
    std::int64_t wall_ns = 0;
    time_split time;
    state_times states;  ///< of the threads in time.running_ns; all unknown without states
    std::vector<request_part> parts;  ///< the largest first; they add up to the wall time
};

/// Returns the slowest completed instance of `name` (the name of a scope or task; if empty, chosen
/// as above). Returns nothing if the trace has no such instance, or marks requests of which none is
/// whole.
COROSCOPE_API std::optional<slow_request> slowest_request(const trace& loaded,
                                                          std::string_view name = {});

}  // namespace coroscope::analysis
