// SPDX-License-Identifier: Apache-2.0
#include "device_waits.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "../../model/interruptions.hpp"
#include "stream_dependencies.hpp"
#include "stream_search.hpp"
#include <coroscope/analysis/device_statistics.hpp>

namespace coroscope::analysis::inline devices {
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

/// The first suspension of the wait's task at or after the wait; none if the suspension was taken
/// back.
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
    while (first < awaits.size() && is_interruption(loaded.awaits[awaits[first]])) ++first;
    if (first >= awaits.size() || loaded.awaits[awaits[first]].at_once) return none;
    return awaits[first];
}

/// The end of the work that an await waited for.
std::int64_t end_of(const await_info& await, const trace& loaded) {
    if (await.wake_ns) return *await.wake_ns;
    const task_info& task = loaded.tasks[await.task];
    return await.resume_ns.value_or(task.end_ns.value_or(loaded.duration_ns));
}

/// Returns the work that the wait waits for: all work that was requested before the wait or, for an
/// event, before the event was recorded.
asked_work work_of(const device_wait& wait, const trace& loaded) {
    const std::int64_t before_ns =
        wait.call == none ? wait.time_ns + 1 : loaded.device_activities[wait.call].start_ns;
    return {wait.context, wait.stream, before_ns};
}

/// Links the waits of one suspension after the other. Adds waits for further streams: those on
/// which the awaited streams depended.
class wait_linker {
public:
    explicit wait_linker(trace& loaded)
        : loaded_(loaded), streams_(loaded), dependencies_(loaded, streams_) {}

    void link() {
        std::vector<device_wait> direct;
        direct.swap(loaded_.device_waits);
        std::stable_sort(direct.begin(), direct.end(),
                         [](const device_wait& left, const device_wait& right) {
                             return left.await < right.await;
                         });
        for (auto first = direct.begin(); first != direct.end();) {
            const std::uint32_t await = first->await;
            const auto last = await == none
                                  ? direct.end()
                                  : std::find_if(first, direct.end(), [await](const auto& each) {
                                        return each.await != await;
                                    });
            if (await == none)
                add_without_suspension(first, last);
            else
                add_suspension(first, last);
            first = last;
        }
        if (cut_ != 0)
            loaded_.health.warnings.push_back(
                std::to_string(cut_) +
                " suspensions depend on more streams of devices than are followed");
    }

private:
    using iterator = std::vector<device_wait>::iterator;

    void add_without_suspension(iterator first, iterator last) {
        std::sort(first, last, [](const device_wait& left, const device_wait& right) {
            return std::tuple(left.context, left.stream, left.time_ns, left.task) <
                   std::tuple(right.context, right.stream, right.time_ns, right.task);
        });
        loaded_.device_waits.insert(loaded_.device_waits.end(), first, last);
    }

    void add_suspension(iterator first, iterator last) {
        const std::size_t begin = loaded_.device_waits.size();
        add_direct(first, last);
        add_indirect(begin);
        const await_info await = std::as_const(loaded_).awaits[first->await];
        const std::int64_t until_ns = end_of(await, loaded_);
        for (std::size_t at = 0; at < works_.size(); ++at)
            if (works_[at].stream != none)
                loaded_.device_waits[begin + at].activities =
                    streams_.find(works_[at], await.suspend_ns, until_ns);
        drop_idle(begin);
        works_.clear();
    }

    /// If a suspension has several waits for one stream, keeps the one that waits for the most
    /// work: it covers the others.
    void add_direct(iterator first, iterator last) {
        const auto place = [this](const device_wait& of) {
            return std::tuple(of.context, of.stream, -work_of(of, loaded_).before_ns, of.time_ns);
        };
        std::sort(first, last, [&place](const device_wait& left, const device_wait& right) {
            return place(left) < place(right);
        });
        last = std::unique(first, last, [](const device_wait& left, const device_wait& right) {
            return left.context == right.context && left.stream == right.stream;
        });
        for (; first != last; ++first) {
            works_.push_back(work_of(*first, loaded_));
            loaded_.device_waits.push_back(*first);
        }
    }

    void add_indirect(std::size_t begin) {
        const device_wait by = loaded_.device_waits[begin];
        const std::size_t direct = works_.size();
        if (!dependencies_.follow(works_, std::as_const(loaded_).awaits[by.await].suspend_ns))
            ++cut_;
        for (std::size_t at = direct; at < works_.size(); ++at) {
            device_wait added = by;
            added.context = works_[at].context;
            added.stream = works_[at].stream;
            added.call = none;
            added.correlation = 0;
            added.is_event = false;
            added.is_indirect = true;
            loaded_.device_waits.push_back(added);
        }
    }

    /// Removes the indirect waits for streams that had no work left: they explain nothing.
    void drop_idle(std::size_t begin) {
        auto& waits = loaded_.device_waits;
        const auto first = waits.begin() + static_cast<std::ptrdiff_t>(begin);
        waits.erase(std::remove_if(first, waits.end(),
                                   [](const device_wait& each) {
                                       return each.is_indirect && each.stream != none &&
                                              each.activities.empty();
                                   }),
                    waits.end());
        std::sort(waits.begin() + static_cast<std::ptrdiff_t>(begin), waits.end(),
                  [](const device_wait& left, const device_wait& right) {
                      return std::tie(left.context, left.stream) <
                             std::tie(right.context, right.stream);
                  });
    }

    trace& loaded_;
    stream_search streams_;
    stream_dependencies dependencies_;
    std::vector<asked_work> works_;  // of the current suspension
    std::uint64_t cut_ = 0;
};

void order_dependencies(trace& loaded) {
    const auto place = [](const device_dependency& of) {
        return std::tie(of.context, of.stream, of.time_ns, of.awaited_context, of.awaited_stream,
                        of.recorded_ns);
    };
    std::sort(loaded.device_dependencies.begin(), loaded.device_dependencies.end(),
              [&](const auto& left, const auto& right) { return place(left) < place(right); });
}

// If a stream has several names, the last one is used, because a program may rename it.
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
    order_dependencies(loaded);
    for (device_wait& each : loaded.device_waits) each.await = await_of(each, loaded);
    wait_linker(loaded).link();
}

}  // namespace coroscope::analysis::inline devices
