// SPDX-License-Identifier: Apache-2.0
#pragma once

// nvprof's tables (see coroscope/analysis/nvprof.hpp for the rules).

#include <cstdint>
#include <map>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/nvprof.hpp>

#include "../sqlite_database.hpp"

namespace coroscope::analysis::inline databases {

struct owned_kernel {
    nvprof_kernel kernel;
    /// 1 + the index in `events` of the innermost marker around its launch; 0: there is none.
    std::uint64_t owner = 0;
};

struct nvprof_trace {
    std::vector<nvprof_event> events;               ///< by start
    std::map<std::int64_t, owned_kernel> launched;  ///< by their rows
    std::vector<nvprof_kernel> without_call;        ///< their launcher is unknown
    std::int64_t endless_markers = 0;
};

[[nodiscard]] bool is_nvprof(sqlite_database& database);
[[nodiscard]] result<nvprof_trace> read_nvprof(sqlite_database& database);
[[nodiscard]] result<event_list> nvprof_events(sqlite_database& database);

}  // namespace coroscope::analysis::inline databases
