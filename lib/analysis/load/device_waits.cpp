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

#include "stream_dependencies.hpp"
#include "stream_search.hpp"
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

/// When suspensions of tasks were taken back.
class cancelled_suspensions {
public:
    explicit cancelled_suspensions(std::span<const task_op> ops) {
        for (const task_op& each : ops)
            if (each.kind == coroscope::trace::record_kind::cancel)
                moments_.emplace_back(each.task, each.time_ns);
        std::sort(moments_.begin(), moments_.end());
    }

    [[nodiscard]] bool has(std::uint32_t task, std::int64_t after_ns, std::int64_t until_ns) const {
        const auto found =
            std::upper_bound(moments_.begin(), moments_.end(), std::pair(task, after_ns));
        return found != moments_.end() && *found <= std::pair(task, until_ns);
    }

private:
    std::vector<std::pair<std::uint32_t, std::int64_t>> moments_;
};

/// The first suspension of the wait's task at or after it; none where that was taken back.
std::uint32_t await_of(const device_wait& wait, const cancelled_suspensions& cancelled,
                       const trace& loaded) {
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
    if (first >= awaits.size()) return none;
    const std::int64_t suspend_ns = loaded.awaits[awaits[first]].suspend_ns;
    return cancelled.has(wait.task, wait.time_ns, suspend_ns) ? none : awaits[first];
}

/// When what an await waited for was done.
std::int64_t end_of(const await_info& await, const trace& loaded) {
    if (await.wake_ns) return *await.wake_ns;
    const task_info& task = loaded.tasks[await.task];
    return await.resume_ns.value_or(task.end_ns.value_or(loaded.duration_ns));
}

/// What a wait is for: all that was asked for up to it, or before its event was recorded.
asked_work work_of(const device_wait& wait, const trace& loaded) {
    const std::int64_t before_ns =
        wait.call == none ? wait.time_ns + 1 : loaded.device_activities[wait.call].start_ns;
    return {wait.context, wait.stream, before_ns};
}

/// The waits of one suspension after the other, with those for the streams that theirs had to wait for.
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
        const await_info& await = loaded_.awaits[first->await];
        const std::int64_t until_ns = end_of(await, loaded_);
        for (std::size_t at = 0; at < works_.size(); ++at)
            if (works_[at].stream != none)
                loaded_.device_waits[begin + at].activities =
                    streams_.find(works_[at], await.suspend_ns, until_ns);
        drop_idle(begin);
        works_.clear();
    }

    /// Of two waits for one stream the one that is for more covers the other.
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
        if (!dependencies_.follow(works_, loaded_.awaits[by.await].suspend_ns)) ++cut_;
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

    /// A stream that had nothing left to do explains nothing, if the task did not ask for it.
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
    std::vector<asked_work> works_;  // of the suspension at hand
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

void link_device_waits(std::span<const task_op> ops, trace& loaded) {
    order_stream_names(loaded.device_streams);
    order_by_stream(loaded);
    order_dependencies(loaded);
    if (!loaded.device_waits.empty()) {
        const cancelled_suspensions cancelled(ops);
        for (device_wait& each : loaded.device_waits)
            each.await = await_of(each, cancelled, loaded);
    }
    wait_linker(loaded).link();
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
    device_wait sought;
    sought.await = await;
    const auto [first, end] = std::equal_range(
        loaded.device_waits.begin(), loaded.device_waits.end(), sought,
        [](const device_wait& left, const device_wait& right) { return left.await < right.await; });
    return {static_cast<std::uint32_t>(first - loaded.device_waits.begin()),
            static_cast<std::uint32_t>(end - first)};
}

}  // namespace coroscope::analysis
