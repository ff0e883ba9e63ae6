// SPDX-License-Identifier: Apache-2.0
#include "backward_stacks.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace coroscope::analysis::inline events {
namespace {

const event_extra* extra_of(const event_list& list, const event_row& row) {
    return row.extra == none ? nullptr : &list.extras[row.extra];
}

bool runs_deferred_work(const event_extra* extra) {
    return extra != nullptr && extra->forward_thread != 0 && extra->sequence_number >= 0;
}

std::uint64_t combined(std::int64_t sequence_number, std::uint32_t thread_text) {
    return (static_cast<std::uint64_t>(sequence_number) << 32U) ^ thread_text;
}

/// Stacks of the places that deferred work, by sequence number and the text of the thread's id. A
/// file may number the forward thread in another way; then the sequence number alone decides.
class forward_stacks {
public:
    explicit forward_stacks(event_list& list) : list_(list) {
        for (const event_thread& each : list.threads) known_threads_.insert(each.thread);
    }

    void add(const event_row& row, const event_extra& extra) {
        if (extra.sequence_number < 0 || extra.stack == none) return;
        const std::uint32_t thread =
            row.thread < list_.threads.size() ? list_.threads[row.thread].thread : none;
        by_thread_.try_emplace(combined(extra.sequence_number, thread), extra.stack);
        by_number_.try_emplace(extra.sequence_number, extra.stack);
    }

    std::uint32_t find(const event_extra& backward) {
        const std::uint32_t thread = list_.intern(std::to_string(backward.forward_thread));
        if (known_threads_.contains(thread)) {
            const auto found = by_thread_.find(combined(backward.sequence_number, thread));
            return found == by_thread_.end() ? none : found->second;
        }
        const auto found = by_number_.find(backward.sequence_number);
        return found == by_number_.end() ? none : found->second;
    }

private:
    event_list& list_;
    std::unordered_set<std::uint32_t> known_threads_;
    std::unordered_map<std::uint64_t, std::uint32_t> by_thread_;
    std::unordered_map<std::int64_t, std::uint32_t> by_number_;
};

/// Returns for each row the innermost event, the row itself or one above it, that runs deferred
/// work. Parents come before their children.
std::vector<std::uint32_t> backward_parents(const event_list& list) {
    std::vector<std::uint32_t> found(list.rows.size(), none);
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        const event_row& row = list.rows[at];
        if (runs_deferred_work(extra_of(list, row)))
            found[at] = at;
        else if (row.device == device_kind::cpu && row.parent != none)
            found[at] = found[row.parent];
    }
    return found;
}

}  // namespace

void set_backward_stacks(event_list& list) {
    if (!list.stacks) return;
    const std::vector<std::uint32_t> parents = backward_parents(list);
    forward_stacks stacks(list);
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        const event_extra* extra = extra_of(list, list.rows[at]);
        if (extra != nullptr && parents[at] == none) stacks.add(list.rows[at], *extra);
    }
    for (std::uint32_t at = 0; at < list.rows.size(); ++at) {
        if (parents[at] == none) continue;
        const std::uint32_t stack = stacks.find(list.extras[list.rows[parents[at]].extra]);
        list.extra_of(list.rows[at]).stack = stack;
    }
}

}  // namespace coroscope::analysis::inline events
