// SPDX-License-Identifier: Apache-2.0
#pragma once

// The waits for resources (mutexes, semaphores, pools, channels), by the name of the resource.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The holders of a resource at one place.
struct resource_holder {
    std::uint32_t spawn_site = none;  ///< of the holder's task; none: outside tasks
    std::uint32_t scope = none;       ///< name of its innermost scope: index into trace::strings
    std::uint64_t waits = 0;          ///< that began while it held the resource
    std::int64_t total_ns = 0;        ///< of these waits
};

/// All resources of one name and kind.
struct resource_statistics {
    std::uint32_t site = none;  ///< index into trace::sites
    std::string name;           ///< "unknown" without a site
    std::string kind;  ///< "mutex", "semaphore", "pool", "channel", "other", "future"; may be empty
    std::uint64_t instances = 0;  ///< resources of that name for which something waited
    std::uint32_t capacity = 0;   ///< the largest of them; 0: unknown
    std::uint64_t waits = 0;
    std::uint64_t gave_up = 0;  ///< waits that ended without the resource
    std::int64_t total_ns = 0;
    percentiles length;
    std::uint64_t unknown_holders = 0;  ///< waits whose holder is unknown
    resource_holder holder;  ///< the most frequent one; `waits` is 0 if no holder is known
};

/// Returns one entry per name and kind, the longest total first.
[[nodiscard]] COROSCOPE_API std::vector<resource_statistics>
statistics_of_resources(const trace& loaded);

}  // namespace coroscope::analysis
