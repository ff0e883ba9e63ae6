// SPDX-License-Identifier: Apache-2.0
#include "row_evidence.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

namespace coroscope::analysis::inline pages {

void row_evidence::keep(const evidence_moment& moment) {
    if (longest_.size() == most_moments && longest_.back().length_ns >= moment.length_ns) return;
    const auto place = std::ranges::upper_bound(longest_, moment.length_ns, std::ranges::greater(),
                                                &evidence_moment::length_ns);
    longest_.insert(place, moment);
    if (longest_.size() > most_moments) longest_.pop_back();
}

std::string row_evidence::longest_json(const trace& from) const {
    const auto id = [](bool known, std::uint64_t value) {
        return known ? std::to_string(value) : std::string("null");
    };
    std::string out;
    for (const evidence_moment& each : longest_) {
        const bool has_task = each.task < from.tasks.size();
        const bool has_thread = each.thread < from.threads.size();
        out += fmt::format("{}{{\"start_ns\":{},\"length_ns\":{},\"task\":{},\"thread\":{}}}",
                           out.empty() ? "" : ",", each.start_ns, each.length_ns,
                           id(has_task, has_task ? from.tasks[each.task].id : 0),
                           id(has_thread, has_thread ? from.threads[each.thread].id : 0));
    }
    return '[' + out + ']';
}

}  // namespace coroscope::analysis::inline pages
