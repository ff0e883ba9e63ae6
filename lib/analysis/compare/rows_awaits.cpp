// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../model/interruptions.hpp"
#include "../model/left_out.hpp"
#include "../words/await_names.hpp"
#include "call_times.hpp"
#include "wait_times.hpp"

namespace coroscope::analysis::inline compare {
namespace {

struct collected_await {
    run_row row;
    std::vector<std::int64_t> suspended_ns;
    std::vector<std::int64_t> waiting_ns;
    double in_requests = 0;
};

class await_collection {
public:
    explicit await_collection(const trace& loaded) : loaded_(loaded) {}

    collected_await& of(const await_info& await) {
        const std::uint32_t place = await_place(loaded_, await);
        auto [known, is_new] = places_.try_emplace({place, await.site});
        if (is_new) {
            run_row row;
            row.kind = compared_kind::await;
            row.measured = compared_time::suspended;
            row.name = await_title(loaded_, await);
            set_place(row, loaded_, place);
            auto [found, is_first] = awaits_.try_emplace({row.name, row.file, row.line});
            if (is_first) found->second.row = std::move(row);
            known->second = &found->second;
        }
        return *known->second;
    }
    auto& all() { return awaits_; }

private:
    const trace& loaded_;
    std::map<std::tuple<std::string, std::string, std::uint32_t>, collected_await> awaits_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, collected_await*> places_;  // place and site
};

// Returns whether the name of an await is in the trace. If a session has several files, an await
// that began in one of them ends in another one, in which it has no name.
bool is_named(const trace& loaded, const await_info& await) {
    return !await.clipped || await_place(loaded, await) < loaded.sites.size();
}

bool is_compared(const trace& loaded, const await_info& await) {
    return await.task < loaded.tasks.size() && !is_interruption(await) &&
           !is_left_out(loaded, await) && is_named(loaded, await);
}

}  // namespace

std::vector<run_row> rows_of_awaits(const trace& loaded, const work_of_requests& work,
                                    double requests) {
    wait_times waits(loaded);
    await_collection awaits(loaded);
    // The awaits of a task are contiguous in the trace; the parts of a run need the order of time.
    std::vector<std::uint32_t> order;
    for (std::uint32_t at = 0; at < loaded.awaits.size(); ++at)
        if (is_compared(loaded, loaded.awaits[at])) order.push_back(at);
    std::ranges::stable_sort(order, {},
                             [&](std::uint32_t at) { return loaded.awaits[at].suspend_ns; });
    for (const std::uint32_t at : order) {
        const await_info& each = loaded.awaits[at];
        collected_await& of = awaits.of(each);
        of.row.calls += 1;
        of.in_requests += work.has_await(each) ? 1 : 0;
        if (each.clipped || !each.resume_ns) continue;
        of.waiting_ns.push_back(std::max<std::int64_t>(*each.resume_ns - each.suspend_ns, 0));
        if (const optional_ns known_ns = waits.of(each)) of.suspended_ns.push_back(*known_ns);
    }
    std::vector<run_row> rows;
    for (auto& [key, of] : awaits.all()) {
        of.row.time = call_times_of(of.suspended_ns);
        of.row.with_delay = call_times_of(of.waiting_ns);
        of.row.per_request = requests == 0 ? 0 : of.in_requests / requests;
        rows.push_back(std::move(of.row));
        of = {};
    }
    return rows;
}

}  // namespace coroscope::analysis::inline compare
