// SPDX-License-Identifier: Apache-2.0
#include "thread_ids.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace coroscope::analysis::inline loading {
namespace {

/// By thread: from the first sign of it to the last. Threads that only devices name have none of
/// their own.
std::vector<existence> existence_of_threads(const task_records& records, const metadata& names,
                                            clock_map& clock, const trace& loaded) {
    std::vector<existence> found(loaded.threads.size());
    const std::size_t described = std::min(found.size(), names.joined_ticks().size());
    for (std::size_t at = 0; at < described; ++at) {
        found[at].from_ns = clock.to_ns(names.joined_ticks()[at]);
        const std::uint64_t left = names.left_ticks()[at];
        found[at].to_ns = left == 0 ? loaded.duration_ns : clock.to_ns(left);
    }
    const auto widen = [&](std::uint32_t thread, std::int64_t from_ns, std::int64_t to_ns) {
        if (thread >= found.size()) return;
        found[thread].from_ns = std::min(found[thread].from_ns, from_ns);
        found[thread].to_ns = std::max(found[thread].to_ns, to_ns);
    };
    for (const slice& each : loaded.slices) widen(each.thread, each.start_ns, each.end_ns);
    for (const event& each : loaded.events) widen(each.thread, each.start_ns, each.start_ns);
    for (const thread_stream& each : records.streams)
        if (each.stack_scope_count != 0)
            widen(each.thread, clock.to_ns(each.starts.first), clock.to_ns(each.starts.last));
    return found;
}

}  // namespace

thread_ids::thread_ids(const task_records& records, const metadata& names, clock_map& clock,
                       const trace& loaded)
    : exists_(existence_of_threads(records, names, clock, loaded)) {
    for (std::uint32_t at = 0; at < loaded.threads.size(); ++at)
        by_os_id_[loaded.threads[at].os_id].push_back(at);
    for (auto& [id, threads] : by_os_id_) {
        std::ranges::stable_sort(threads, {},
                                 [this](std::uint32_t at) { return exists_[at].from_ns; });
        end_at_successor(threads);
    }
}

// If the same id was used again, the first thread was gone by then.
void thread_ids::end_at_successor(const std::vector<std::uint32_t>& threads) {
    for (std::size_t at = 0; at + 1 < threads.size(); ++at) {
        existence& earlier = exists_[threads[at]];
        earlier.to_ns = std::min(earlier.to_ns, exists_[threads[at + 1]].from_ns);
    }
}

const std::vector<std::uint32_t>& thread_ids::threads_of(std::uint64_t os_id) const {
    static const std::vector<std::uint32_t> nothing;
    const auto found = by_os_id_.find(os_id);
    return found == by_os_id_.end() ? nothing : found->second;
}

std::uint32_t thread_ids::thread_at(std::uint64_t os_id, std::int64_t time_ns) const {
    const std::vector<std::uint32_t>& threads = threads_of(os_id);
    const auto after = std::ranges::upper_bound(
        threads, time_ns, {}, [this](std::uint32_t at) { return exists_[at].from_ns; });
    if (after == threads.begin()) return none;
    const std::uint32_t at = *std::prev(after);
    return time_ns <= exists_[at].to_ns ? at : none;
}

}  // namespace coroscope::analysis::inline loading
