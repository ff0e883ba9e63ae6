// SPDX-License-Identifier: Apache-2.0
#include "device_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <coroscope/analysis/device_statistics.hpp>

namespace coroscope::analysis::loading {
namespace {

auto stream_of(const device_activity& activity) {
    return std::tie(activity.context, activity.stream);
}

void order_by_stream(trace& loaded) {
    const std::vector<device_activity>& all = loaded.device_activities;
    for (std::uint32_t at = 0; at < all.size(); ++at)
        if (is_device_work(all[at].what) && all[at].stream != none)
            loaded.stream_order.push_back(at);
    std::sort(loaded.stream_order.begin(), loaded.stream_order.end(),
              [&all](std::uint32_t left, std::uint32_t right) {
                  return std::tuple(stream_of(all[left]), left) <
                         std::tuple(stream_of(all[right]), right);
              });
}

/// The first suspension of the wait's task at or after it.
std::uint32_t await_of(const device_wait& wait, const trace& loaded) {
    if (wait.task >= loaded.tasks.size()) return none;
    const index_range awaits = loaded.tasks[wait.task].awaits;
    std::size_t first = 0, end = awaits.size();
    while (first < end) {
        const std::size_t middle = (first + end) / 2;
        if (loaded.awaits[awaits[middle]].suspend_ns < wait.time_ns)
            first = middle + 1;
        else
            end = middle;
    }
    return first < awaits.size() ? awaits[first] : none;
}

/// Finds in logarithmic time what a stream did in a suspension, however much overlaps.
class stream_search {
public:
    explicit stream_search(const trace& loaded)
        : loaded_(loaded),
          latest_end_ns_(loaded.stream_order.size()),
          least_asked_ns_(loaded.stream_order.size()) {
        for (std::size_t at = 0; at < latest_end_ns_.size(); ++at) {
            const std::int64_t end_ns = activity(at).end_ns;
            latest_end_ns_[at] =
                begins_stream(at) ? end_ns : std::max(end_ns, latest_end_ns_[at - 1]);
        }
        for (std::size_t at = least_asked_ns_.size(); at-- > 0;) {
            const bool is_last = at + 1 == least_asked_ns_.size() || begins_stream(at + 1);
            const std::int64_t asked_ns = asked(activity(at));
            least_asked_ns_[at] = is_last ? asked_ns : std::min(asked_ns, least_asked_ns_[at + 1]);
        }
    }

    [[nodiscard]] index_range find(const device_wait& wait) const {
        if (wait.await == none) return {};
        const await_info& await = loaded_.awaits[wait.await];
        const std::int64_t until_ns = end_of(await);
        auto [first, end] = positions_of(wait);
        first = partition(first, end,
                          [&](std::size_t at) { return latest_end_ns_[at] <= await.suspend_ns; });
        end = partition(first, end, [&](std::size_t at) {
            return activity(at).start_ns < until_ns && least_asked_ns_[at] <= wait.time_ns;
        });
        return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
    }

private:
    [[nodiscard]] const device_activity& activity(std::size_t at) const {
        return loaded_.device_activities[loaded_.stream_order[at]];
    }
    [[nodiscard]] bool begins_stream(std::size_t at) const {
        return at == 0 || stream_of(activity(at)) != stream_of(activity(at - 1));
    }
    /// Unknown: before everything.
    [[nodiscard]] std::int64_t asked(const device_activity& of) const {
        return of.call == none ? std::numeric_limits<std::int64_t>::min()
                               : loaded_.device_activities[of.call].start_ns;
    }
    [[nodiscard]] std::int64_t end_of(const await_info& await) const {
        if (await.wake_ns) return *await.wake_ns;
        const task_info& task = loaded_.tasks[await.task];
        return await.resume_ns.value_or(task.end_ns.value_or(loaded_.duration_ns));
    }
    [[nodiscard]] std::pair<std::size_t, std::size_t> positions_of(const device_wait& wait) const {
        const auto sought = std::tie(wait.context, wait.stream);
        const std::size_t all = loaded_.stream_order.size();
        const std::size_t first =
            partition(0, all, [&](std::size_t at) { return stream_of(activity(at)) < sought; });
        return {first, partition(first, all, [&](std::size_t at) {
                    return stream_of(activity(at)) == sought;
                })};
    }
    /// The first position of which it is false.
    template <class Predicate>
    static std::size_t partition(std::size_t first, std::size_t end, Predicate holds) {
        while (first < end) {
            const std::size_t middle = first + (end - first) / 2;
            if (holds(middle))
                first = middle + 1;
            else
                end = middle;
        }
        return first;
    }

    const trace& loaded_;
    std::vector<std::int64_t> latest_end_ns_;   // by position: of the stream up to there
    std::vector<std::int64_t> least_asked_ns_;  // by position: of the stream from there on
};

}  // namespace

namespace {

// Of several names of a stream the last one stands, as a program may rename it.
void order_stream_names(std::vector<device_stream>& streams) {
    std::stable_sort(
        streams.begin(), streams.end(), [](const device_stream& left, const device_stream& right) {
            return std::pair(left.context, left.stream) < std::pair(right.context, right.stream);
        });
    const auto kept =
        std::unique(streams.rbegin(), streams.rend(),
                    [](const device_stream& later, const device_stream& earlier) {
                        return later.context == earlier.context && later.stream == earlier.stream;
                    });
    streams.erase(streams.begin(), kept.base());
}

}  // namespace

void link_device_waits(trace& loaded) {
    order_stream_names(loaded.device_streams);
    order_by_stream(loaded);
    std::vector<device_wait>& waits = loaded.device_waits;
    for (device_wait& each : waits) each.await = await_of(each, loaded);
    const auto place = [](const device_wait& of) {
        return std::tuple(of.await, of.context, of.stream);
    };
    std::sort(waits.begin(), waits.end(), [&](const device_wait& left, const device_wait& right) {
        return std::tuple(place(left), right.time_ns, left.task) <
               std::tuple(place(right), left.time_ns, right.task);
    });
    // Of two waits for one stream the later covers what the earlier does.
    waits.erase(std::unique(waits.begin(), waits.end(),
                            [&](const device_wait& left, const device_wait& right) {
                                return left.await != none && place(left) == place(right);
                            }),
                waits.end());
    const stream_search streams(loaded);
    for (device_wait& each : waits) each.activities = streams.find(each);
}

}  // namespace coroscope::analysis::loading

namespace coroscope::analysis {

std::string_view stream_name(const trace& loaded, std::uint32_t context, std::uint32_t stream) {
    const auto place = [](const device_stream& of) { return std::pair(of.context, of.stream); };
    const auto found =
        std::ranges::lower_bound(loaded.device_streams, std::pair(context, stream), {}, place);
    if (found == loaded.device_streams.end() || place(*found) != std::pair(context, stream))
        return {};
    return found->name;
}

std::string stream_text(const trace& loaded, std::uint32_t context, std::uint32_t stream) {
    if (stream == none) return "no stream";
    std::string text = "stream " + std::to_string(stream);
    if (const std::string_view own = stream_name(loaded, context, stream); !own.empty())
        text.append(" (").append(own).append(")");
    return text;
}

index_range find_device_waits(const trace& loaded, std::uint32_t await) {
    if (await == none) return {};
    const auto [first, end] = std::equal_range(
        loaded.device_waits.begin(), loaded.device_waits.end(),
        device_wait{0, none, await, 0, 0, {}},
        [](const device_wait& left, const device_wait& right) { return left.await < right.await; });
    return {static_cast<std::uint32_t>(first - loaded.device_waits.begin()),
            static_cast<std::uint32_t>(end - first)};
}

}  // namespace coroscope::analysis
