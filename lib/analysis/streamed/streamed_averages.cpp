// SPDX-License-Identifier: Apache-2.0
#include "streamed_averages.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <tuple>

#include <coroscope/trace/jobs.hpp>
#include <coroscope/trace/open_format.hpp>

#include "row_sums.hpp"
#include "stream_sums.hpp"

namespace coroscope::analysis::inline streamed {
namespace {

namespace format = coroscope::trace;
using coroscope::trace::chunk_kind;
using coroscope::trace::record_kind;
using coroscope::trace::site_kind;

// Scopes in frames, ranges, device work and requests have parts that other events decide.
bool needs_events(const format::record_view& record) {
    switch (record.kind()) {
        case record_kind::long_scope:
            return !is_stack_scope(record.value()) || (record.value() & format::scope_dynamic) != 0;
        case record_kind::label:
        case record_kind::item:
        case record_kind::device:
        case record_kind::device_wait: return true;
        case record_kind::fact:
            return request_reader::reads(record) && !request_reader::is_value(record);
        default: return false;
    }
}

bool has_open_scopes(const format::chunk_view& chunk) {
    format::open_scope place;
    for (std::size_t at = 0; at + sizeof place <= chunk.bytes; at += sizeof place) {
        std::memcpy(&place, chunk.records + at, sizeof place);
        if (place.tag != 0) return true;
    }
    return false;
}

bool needs_events(const format::chunk_view& chunk) {
    if (chunk.header.kind == chunk_kind::open) return has_open_scopes(chunk);
    if (chunk.header.kind != chunk_kind::records || chunk.starts.known()) return false;
    std::size_t at = 0;
    for (format::record_view record = format::record_at(chunk.records, chunk.bytes);
         record.bytes != 0; record = format::record_at(chunk.records + at, chunk.bytes - at)) {
        if (needs_events(record)) return true;
        at += record.bytes;
    }
    return false;
}

// Looks again, because a process may still write to the trace; and at the sites.
bool has_stack_scopes_alone(const loaded_streams& streams) {
    const task_records& records = streams.records;
    const bool any_requests = std::ranges::any_of(streams.loaded.sites, [](const site_info& site) {
        return site.kind == static_cast<std::uint8_t>(site_kind::request);
    });
    return records.labels.empty() && records.open_scopes.empty() && !any_requests &&
           std::ranges::all_of(records.streams,
                               [](const thread_stream& each) { return each.other_scopes.empty(); });
}

// The scopes of a task on one thread know nothing of those on another. Two that touch may be parent
// and child.
bool overlap(std::vector<task_extent>& extents) {
    std::ranges::sort(extents, {}, [](const task_extent& each) {
        return std::tuple(each.task, each.start_ns, each.end_ns);
    });
    for (std::size_t at = 1; at < extents.size(); ++at) {
        const task_extent& before = extents[at - 1];
        const task_extent& each = extents[at];
        if (each.task != before.task || each.start_ns > before.end_ns) continue;
        if (each.start_ns < before.end_ns || each.stream != before.stream) return true;
    }
    return false;
}

// The sums of all streams.
class summing {
public:
    explicit summing(std::size_t rows) : sums_(rows) {}

    void add(const stream_sums& added) {
        const std::lock_guard lock(mutex_);
        for (std::size_t row = 0; row < sums_.size(); ++row) sums_[row].add(added.rows()[row]);
        self_.add(added.self());
        extents_.insert(extents_.end(), added.extents().begin(), added.extents().end());
        most_open_ = std::max(most_open_, added.most_open());
    }

    /// Returns whether the sums are exact: they fit, the scopes of tasks do not overlap, and the
    /// first scope of each row is known.
    [[nodiscard]] bool are_exact(std::int64_t duration_ns, std::size_t streams) {
        constexpr std::int64_t most = std::int64_t{1} << 62;
        std::int64_t bound = 0;
        const bool fits = !__builtin_mul_overflow(duration_ns, most_open_ + 1, &bound) &&
                          !__builtin_mul_overflow(bound, streams, &bound) && bound < most;
        return fits && !overlap(extents_) && std::ranges::none_of(sums_, &row_sums::parent_unknown);
    }

    [[nodiscard]] const std::vector<row_sums>& sums() const { return sums_; }
    [[nodiscard]] const self_times& self() const { return self_; }

private:
    std::mutex mutex_;
    std::vector<row_sums> sums_;
    self_times self_;
    std::vector<task_extent> extents_;
    std::size_t most_open_ = 0;
};

}  // namespace

bool may_stream(const coroscope::trace::reader& input, average_key key) {
    const bool known_key = key == average_key::name || key == average_key::source_line;
    return known_key && std::ranges::none_of(input.chunks(), [](const format::chunk_view& chunk) {
               return needs_events(chunk);
           });
}

std::optional<streamed_rows> streamed_averages(const loaded_streams& streams, average_key key,
                                               unsigned jobs) {
    if (!has_stack_scopes_alone(streams)) return std::nullopt;
    const site_rows rows(streams, key);
    const scope_states states(streams.loaded);
    const sums_context context{streams, rows, states};
    summing all(rows.size());
    std::atomic<bool> exact{true};
    const std::size_t count = streams.records.streams.size();
    coroscope::trace::in_parallel(jobs, count, [&](std::size_t stream) {
        if (!exact || streams.records.streams[stream].stack_scope_count == 0) return;
        stream_sums sums(context, static_cast<std::uint32_t>(stream));
        if (sums.run())
            all.add(sums);
        else
            exact = false;
    });
    if (!exact || !all.are_exact(streams.loaded.duration_ns, count)) return std::nullopt;
    return streamed_rows{rows.averages(all.sums()), all.self()};
}

}  // namespace coroscope::analysis::inline streamed
