// SPDX-License-Identifier: Apache-2.0
#include "known_span.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace coroscope::analysis::inline tasks {

using coroscope::trace::record_kind;

namespace {

// The times at which the chunks of a stream were opened.
struct stream_openings {
    std::uint32_t thread = none;
    std::int64_t first_ns = 0;
    std::int64_t second_ns = known_span::for_ever;  // the first chunk was full by then
    std::int64_t last_ns = 0;
};

std::vector<stream_openings> find_openings(const task_records& records) {
    std::vector<stream_openings> found;
    for (const thread_stream& stream : records.streams) {
        stream_openings& openings = found.emplace_back();
        openings.thread = stream.thread;
        for (std::uint32_t at = stream.first_op; at < stream.end_op; ++at) {
            const task_op op = records.ops[at];
            if (op.kind != record_kind::none) continue;
            if (op.value == 0) openings.first_ns = op.time_ns;
            if (op.value == 1) openings.second_ns = op.time_ns;
            openings.last_ns = op.time_ns;
        }
    }
    return found;
}

// Chunks are overwritten in the order in which they were handed over. So a thread lost no record
// after its first remaining chunk, and no thread lost a record after the time at which the oldest
// remaining chunk was handed over.
std::int64_t whole_from(const std::vector<stream_openings>& openings, const trace& loaded) {
    std::int64_t oldest_ns = known_span::for_ever;
    std::vector<std::int64_t> lost_before(loaded.threads.size(), known_span::for_ever);
    for (const stream_openings& each : openings) {
        oldest_ns = std::min(oldest_ns, each.second_ns);
        lost_before[each.thread] = each.first_ns;
    }
    std::int64_t from_ns = known_span::ever;
    for (std::size_t thread = 0; thread < loaded.threads.size(); ++thread)
        if (loaded.threads[thread].overwritten != 0)
            from_ns = std::max(from_ns, std::min(lost_before[thread], oldest_ns));
    return from_ns;
}

// If the newest records are dropped, a thread that needs a chunk never gets one again. Else it may
// get a chunk later, so there may be a gap before each of its chunks except the first.
std::int64_t dropped_from(const thread_stream& stream, bool newest) {
    if (stream.chunk_ends_ns.empty()) return 0;
    return newest ? stream.chunk_ends_ns.back() : stream.chunk_ends_ns.front();
}

std::int64_t whole_until(const task_records& records, const std::vector<stream_openings>& openings,
                         const trace& loaded) {
    const bool newest = loaded.policy != "overwrite oldest";
    std::uint64_t unplaced = loaded.health.dropped_newest;
    std::int64_t until_ns = records.gaps.any() ? records.gaps.first_ns() : known_span::for_ever;
    for (const thread_stream& stream : records.streams) {
        const std::uint64_t dropped = loaded.threads[stream.thread].dropped_newest;
        if (dropped != 0) until_ns = std::min(until_ns, dropped_from(stream, newest));
        unplaced -= std::min(unplaced, dropped);
    }
    if (unplaced == 0) return until_ns;
    // Some threads dropped records without ever having a chunk, because none was free.
    std::int64_t last_ns = 0;
    for (const stream_openings& each : openings) last_ns = std::max(last_ns, each.last_ns);
    return std::min(until_ns, last_ns);
}

std::vector<bool> threads_without_end(const task_records& records, const trace& loaded) {
    std::vector<bool> found(loaded.threads.size());
    for (const thread_stream& stream : records.streams)
        found[stream.thread] =
            stream.lacks_end || loaded.threads[stream.thread].dropped_newest != 0;
    return found;
}

}  // namespace

known_span find_known_span(const task_records& records, const trace& loaded) {
    const trace_health& health = loaded.health;
    if (health.overwritten + health.dropped_newest + health.damaged_chunks == 0) return {};
    const std::vector<stream_openings> openings = find_openings(records);
    return {whole_from(openings, loaded), whole_until(records, openings, loaded),
            threads_without_end(records, loaded)};
}

}  // namespace coroscope::analysis::inline tasks
