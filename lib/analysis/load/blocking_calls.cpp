// SPDX-License-Identifier: Apache-2.0
#include "blocking_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "../text/warnings.hpp"
#include "devices/device_scopes.hpp"

namespace coroscope::analysis {

void loading::link_blocking_calls(const task_records& records, trace& loaded) {
    std::vector<blocking_call>& calls = loaded.blocking_calls;
    for (std::size_t at = 0; at < calls.size(); ++at)
        calls[at].task = records.find_task(records.blocking.task_ids[at]);
    std::ranges::stable_sort(calls, {}, [](const blocking_call& call) {
        return std::tuple(call.start_ns, call.end_ns, call.thread);
    });
    if (!calls.empty()) {
        open_scopes scopes(loaded);
        for (blocking_call& each : calls)
            each.scope = scopes.innermost(each.thread, each.task, each.start_ns);
    }
    warn(loaded.health.warnings, "malformed records of blocking calls, left out",
         records.blocking.malformed);
}

}  // namespace coroscope::analysis
