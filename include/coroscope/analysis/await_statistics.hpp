// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where tasks wait: by await site, and by the chain of awaits from a root task to the innermost one.

#include <cstdint>
#include <string>
#include <vector>

#include <coroscope/analysis/device_statistics.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/percentiles.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// How long awaits took, by what was seen of them.
struct await_times {
    std::uint64_t count = 0;
    std::uint64_t unknown_wakes =
        0;  ///< nobody saw the wake, if there was one: their time is in waiting_ns
    std::uint64_t unfinished = 0;  ///< not resumed when the session ended: time up to the end
    std::int64_t suspended_ns = 0;
    std::int64_t queued_ns = 0;
    std::int64_t waiting_ns = 0;
    std::uint64_t device_waits = 0;  ///< awaits of streams
    std::int64_t device_ns = 0;      ///< of their suspension: the streams ran something
    optional_ns
        device_queued_ns{};  ///< and: they ran nothing, and kernels were queued; none: not known

    [[nodiscard]] std::int64_t total_ns() const {
        return saturated_sum(saturated_sum(suspended_ns, queued_ns), waiting_ns);
    }
};

/// How one await's time divides. One that was never resumed reaches to its task's end, else the session's.
[[nodiscard]] COROSCOPE_API time_split split_of(const trace& loaded, const await_info& await);

/// All awaits at one place in the source.
struct await_site_statistics {
    std::uint32_t site = none;  ///< index into trace::sites
    std::string name;           ///< the site's label, else its function; "unknown" without a site
    await_times times;
    percentiles length;   ///< suspend to resume, of awaits that were resumed
    device_work devices;  ///< what streams did that were waited for
};

/// One entry per await site, the longest total first.
COROSCOPE_API std::vector<await_site_statistics> await_statistics(const trace& loaded);

/// Awaits that were reached in the same way. `sites` goes from the root inwards and alternates: the
/// root task's spawn site, the place where it awaited, the spawn site of the task awaited there, the
/// place where that awaited, and so on to the innermost await. Only innermost awaits are counted, so
/// that the chains' times add up without counting a wait twice. `none` stands for an unknown site.
struct await_chain {
    std::vector<std::uint32_t> sites;  ///< indices into trace::sites
    await_times times;
};

/// One entry per chain, the longest total first.
COROSCOPE_API std::vector<await_chain> await_chains(const trace& loaded);

}  // namespace coroscope::analysis
