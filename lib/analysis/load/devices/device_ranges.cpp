// SPDX-License-Identifier: Apache-2.0
#include "device_ranges.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "../scopes/open_ranges.hpp"

namespace coroscope::analysis::inline devices {
namespace {

/// Finds the event of each range: the first event of its name that began with it on its thread and
/// does not belong to another range.
class range_events {
public:
    explicit range_events(const trace& loaded) : loaded_(loaded), taken_(loaded.events.size()) {}

    std::uint32_t take(const device_range& range) {
        const auto& events = loaded_.events;
        const auto first = std::ranges::lower_bound(events, range.start_ns, {}, &event::start_ns);
        auto at = static_cast<std::size_t>(first - events.begin());
        for (int looked_at = 0; looked_at < most_looked_at; ++looked_at, ++at) {
            if (at == events.size() || events[at].start_ns != range.start_ns) return none;
            if (taken_[at] || (events[at].flags & event_explicit) == 0 ||
                events[at].thread != range.thread || events[at].name != range.name)
                continue;
            taken_[at] = true;
            return static_cast<std::uint32_t>(at);
        }
        return none;
    }

private:
    static constexpr int most_looked_at = 1024;

    const trace& loaded_;
    std::vector<bool> taken_;
};

/// The owners of ranges: tasks and, outside tasks, threads. Both are numbered together.
class range_owners {
public:
    explicit range_owners(const trace& loaded) : loaded_(loaded) {
        for (std::uint32_t at = 0; at < loaded.device_ranges.size(); ++at) {
            const device_range& range = loaded.device_ranges[at];
            if (range.stream != none)
                ranges_.push_back({owner(range.task, range.thread), range.start_ns, at, 0});
        }
        std::sort(ranges_.begin(), ranges_.end(), [](const owned& left, const owned& right) {
            return std::tie(left.owner, left.start_ns, left.range) <
                   std::tie(right.owner, right.start_ns, right.range);
        });
        for (std::size_t at = 0; at < ranges_.size(); ++at) {
            const std::int64_t attached_ns = loaded.device_ranges[ranges_[at].range].attached_ns;
            const bool goes_on = at != 0 && ranges_[at - 1].owner == ranges_[at].owner;
            ranges_[at].latest_ns =
                goes_on ? std::max(attached_ns, ranges_[at - 1].latest_ns) : attached_ns;
        }
    }

    /// Calls `found(range)` for each range in which this work was requested. These are the ranges
    /// that the task (outside tasks, the thread) had begun and not yet tied to the stream. The same
    /// applies to the ranges in which the task was spawned, in which its spawner was spawned, and
    /// so on.
    template <class Found>
    void find(const device_activity& work, const Found& found) const {
        if (work.call == none) return;
        const device_activity& call = loaded_.device_activities[work.call];
        std::uint32_t task = work.task;
        std::uint32_t thread = call.thread;
        std::int64_t since_ns = call.start_ns;
        for (int generation = 0; generation < most_generations; ++generation) {
            find_of(owner(task, thread), since_ns, call.start_ns, work, found);
            if (task >= loaded_.tasks.size() || !loaded_.tasks[task].spawn_ns) return;
            since_ns = *loaded_.tasks[task].spawn_ns;
            thread = loaded_.tasks[task].spawn_thread;
            task = loaded_.tasks[task].parent;
        }
    }

private:
    static constexpr int most_generations = 64;
    static constexpr int most_looked_at = 256;
    static constexpr std::uint64_t nobody = std::numeric_limits<std::uint64_t>::max();

    struct owned {
        std::uint64_t owner;
        std::int64_t start_ns;
        std::uint32_t range;
        std::int64_t latest_ns;  // latest tie to a stream, up to this range of the owner
    };

    [[nodiscard]] std::uint64_t owner(std::uint32_t task, std::uint32_t thread) const {
        if (task < loaded_.tasks.size()) return task;
        return thread == none ? nobody : loaded_.tasks.size() + thread;
    }

    /// Calls `found(range)` for the owner's ranges that began by `since_ns` and were tied to the
    /// stream of `work` at `asked_ns` or later.
    template <class Found>
    void find_of(std::uint64_t owner, std::int64_t since_ns, std::int64_t asked_ns,
                 const device_activity& work, const Found& found) const {
        auto at = std::upper_bound(ranges_.begin(), ranges_.end(), std::pair(owner, since_ns),
                                   [](const auto& sought, const owned& each) {
                                       return sought < std::pair(each.owner, each.start_ns);
                                   });
        for (int looked_at = 0; at != ranges_.begin() && looked_at < most_looked_at; ++looked_at) {
            --at;
            if (at->owner != owner || at->latest_ns < asked_ns) return;
            const device_range& range = loaded_.device_ranges[at->range];
            if (range.attached_ns >= asked_ns && range.context == work.context &&
                range.stream == work.stream)
                found(at->range);
        }
    }

    const trace& loaded_;
    std::vector<owned> ranges_;
};

}  // namespace

void read_device_ranges(const scope_texts& texts, const std::vector<timeline>& timelines,
                        const scope_context& context) {
    trace& loaded = context.loaded;
    std::uint64_t without_label = 0;
    for (const range_wait& wait : context.records.devices.ranges) {
        const std::uint32_t found =
            texts.find_label(context.names.thread(wait.thread_id), wait.serial);
        if (found == none) {
            ++without_label;
            continue;
        }
        const range_label& label = context.records.labels[found];
        device_range& added = loaded.device_ranges.emplace_back();
        added.name = label.text;
        added.task = task_of(label, timelines[label.stream], loaded);
        added.thread = context.records.streams[label.stream].thread;
        added.start_ns = label.start_ns;
        added.attached_ns = std::max(wait.time_ns, label.start_ns);
        added.end_ns = texts.end_of(found);
        added.context = wait.context;
        added.stream = wait.stream;
    }
    if (without_label != 0)
        loaded.health.warnings.push_back(std::to_string(without_label) +
                                         " streams of devices end ranges whose label is lost");
}

void link_device_ranges(trace& loaded) {
    auto& ranges = loaded.device_ranges;
    if (ranges.empty()) return;
    std::stable_sort(ranges.begin(), ranges.end(),
                     [](const device_range& left, const device_range& right) {
                         return std::tie(left.start_ns, left.thread, left.attached_ns) <
                                std::tie(right.start_ns, right.thread, right.attached_ns);
                     });
    range_events events(loaded);
    for (device_range& each : ranges) each.event = events.take(each);
    const range_owners owners(loaded);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> work;  // range, position
    for (std::uint32_t at = 0; at < loaded.stream_order.size(); ++at)
        owners.find(loaded.device_activities[loaded.stream_order[at]],
                    [&work, at](std::uint32_t range) { work.emplace_back(range, at); });
    std::sort(work.begin(), work.end());
    work.erase(std::unique(work.begin(), work.end()), work.end());
    for (std::size_t first = 0; first < work.size();) {
        const std::uint32_t range = work[first].first;
        const auto begin = static_cast<std::uint32_t>(loaded.range_work.size());
        for (; first < work.size() && work[first].first == range; ++first)
            loaded.range_work.push_back(work[first].second);
        ranges[range].work = {begin, static_cast<std::uint32_t>(loaded.range_work.size()) - begin};
    }
}

}  // namespace coroscope::analysis::inline devices
