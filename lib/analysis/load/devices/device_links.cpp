// SPDX-License-Identifier: Apache-2.0
#include "device_links.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "../../text/warnings.hpp"
#include "device_ranges.hpp"
#include "device_scopes.hpp"
#include "device_waits.hpp"

namespace coroscope::analysis::inline devices {
namespace {

/// Finds threads by the system's id. Several threads may have had one id, one after the other.
class os_threads {
public:
    os_threads(const metadata& names, clock_map& clock, trace& loaded) : loaded_(loaded) {
        for (std::uint32_t at = 0; at < loaded.threads.size(); ++at) {
            const std::int64_t joined_ns =
                at < names.joined_ticks().size() ? clock.to_ns(names.joined_ticks()[at]) : 0;
            joined_.push_back({loaded.threads[at].os_id, joined_ns, at});
            next_id_ = std::max(next_id_, loaded.threads[at].id + 1);
        }
        std::sort(joined_.begin(), joined_.end());
    }

    /// Returns the thread that had the id at that time. Adds a thread if there is none.
    std::uint32_t find(std::uint64_t os_id, std::int64_t time_ns) {
        const auto after =
            std::upper_bound(joined_.begin(), joined_.end(), thread{os_id, time_ns, none});
        if (after != joined_.begin() && std::get<0>(*std::prev(after)) == os_id)
            return std::get<2>(*std::prev(after));
        if (after != joined_.end() && std::get<0>(*after) == os_id) return std::get<2>(*after);
        const std::uint32_t number = unknown_.insert(os_id);
        if (number == made_.size()) {
            made_.push_back(static_cast<std::uint32_t>(loaded_.threads.size()));
            thread_info& added = loaded_.threads.emplace_back();
            added.id = next_id_++;
            added.os_id = os_id;
        }
        return made_[number];
    }

private:
    using thread = std::tuple<std::uint64_t, std::int64_t, std::uint32_t>;  // id, joined, index

    trace& loaded_;
    std::vector<thread> joined_;
    flat_index unknown_;
    std::vector<std::uint32_t> made_;
    std::uint32_t next_id_ = 1;
};

/// Finds calls by their numbers. Several calls may have had one number, one after the other.
class numbered_calls {
public:
    explicit numbered_calls(const std::vector<device_activity>& all) {
        for (std::uint32_t at = 0; at < all.size(); ++at)
            if (is_call(all[at].what) && all[at].correlation != 0)
                calls_.emplace_back(all[at].correlation, all[at].start_ns, at);
        std::sort(calls_.begin(), calls_.end());
    }

    /// Returns the last call of that number that began at or before `time_ns`, as an index into
    /// trace::device_activities, or none.
    [[nodiscard]] std::uint32_t last_before(std::uint32_t number, std::int64_t time_ns) const {
        const auto after =
            std::upper_bound(calls_.begin(), calls_.end(), std::tuple(number, time_ns, none));
        if (after == calls_.begin() || std::get<0>(*std::prev(after)) != number) return none;
        return std::get<2>(*std::prev(after));
    }

    /// Returns the call that recorded the event of a wait. If no call of that number came before
    /// the wait, the event was recorded again while it was awaited, so the first call after it
    /// counts.
    [[nodiscard]] std::uint32_t recording(const device_wait& wait) const {
        const std::uint32_t before = last_before(wait.correlation, wait.time_ns);
        if (before != none) return before;
        const auto after = std::lower_bound(calls_.begin(), calls_.end(),
                                            std::tuple(wait.correlation, wait.time_ns, 0U));
        const bool found = after != calls_.end() && std::get<0>(*after) == wait.correlation;
        return found ? std::get<2>(*after) : none;
    }

private:
    std::vector<std::tuple<std::uint32_t, std::int64_t, std::uint32_t>> calls_;
};

class device_linker {
public:
    device_linker(const task_records& records, trace& loaded)
        : records_(records), loaded_(loaded), all_(loaded.device_activities) {}

    void name_tasks() {
        const std::vector<std::uint64_t>& ids = records_.devices.tasks.ids;
        std::vector<std::uint32_t> tasks;
        for (const std::uint64_t id : ids) tasks.push_back(records_.find_task(id));
        for (device_activity& each : all_)
            if (each.task != none) each.task = tasks[each.task];
        for (device_wait& each : loaded_.device_waits)
            if (each.task != none) each.task = tasks[each.task];
    }

    void name_threads(const metadata& names, clock_map& clock) {
        os_threads threads(names, clock, loaded_);
        for (device_activity& each : all_)
            if (each.thread != none)
                each.thread =
                    threads.find(records_.devices.os_threads.ids[each.thread], each.start_ns);
    }

    /// Sorts the activities. Activities that are equal in all these members look equal in every
    /// view.
    void order() {
        const auto place = [](const device_activity& of) {
            return std::tie(of.what, of.device, of.context, of.stream, of.correlation, of.thread,
                            of.name, of.task, of.bytes, of.address);
        };
        std::sort(all_.begin(), all_.end(),
                  [&place](const device_activity& left, const device_activity& right) {
                      if (left.start_ns != right.start_ns) return left.start_ns < right.start_ns;
                      if (left.end_ns != right.end_ns) return left.end_ns > right.end_ns;
                      return place(left) < place(right);
                  });
    }

    /// Finds the call of each activity: the last one that began before the activity. If the clocks
    /// disagree, a call that began before the activity ended is taken.
    void find_calls() {
        const numbered_calls calls(all_);
        for (device_activity& each : all_) {
            if (is_call(each.what) || each.correlation == 0) continue;
            each.call = calls.last_before(each.correlation, each.start_ns);
            if (each.call == none) each.call = calls.last_before(each.correlation, each.end_ns);
            if (each.call == none) continue;
            if (each.task == none) each.task = all_[each.call].task;
            if (each.thread == none && !is_device_work(each.what))
                each.thread = all_[each.call].thread;
        }
        find_recording_calls(calls);
    }

    void find_scopes() {
        std::vector<std::pair<std::int64_t, std::uint32_t>> asking;  // middle, index
        for (std::uint32_t at = 0; at < all_.size(); ++at) {
            const device_activity& each = all_[at];
            if (each.thread != none || is_call(each.what))
                asking.emplace_back(each.start_ns + (each.end_ns - each.start_ns) / 2, at);
        }
        if (asking.empty()) return;
        std::sort(asking.begin(), asking.end());
        open_scopes scopes(loaded_);
        for (const auto& [time_ns, at] : asking)
            all_[at].event = scopes.innermost(all_[at].thread, all_[at].task, time_ns);
        for (device_activity& each : all_)
            if (each.event == none && each.call != none) each.event = all_[each.call].event;
    }

private:
    /// Finds the calls that recorded the events of waits. All calls use one clock, so these calls
    /// show which work was requested before the event. If the call is not in the trace, that work
    /// is unknown.
    void find_recording_calls(const numbered_calls& calls) {
        for (device_wait& each : loaded_.device_waits) {
            if (!each.is_event) continue;
            each.call = calls.recording(each);
            if (each.call == none) each.stream = each.context = none;
        }
        for (const dependency_record& each : records_.devices.dependencies) {
            device_dependency& made = loaded_.device_dependencies.emplace_back(each.made);
            const std::uint32_t recorded =
                calls.last_before(each.awaited_correlation, made.time_ns);
            if (recorded != none)
                made.recorded_ns = all_[recorded].start_ns;
            else
                made.awaited_stream = made.awaited_context = none;
            const std::uint32_t call = calls.last_before(each.correlation, made.time_ns);
            if (call != none) made.time_ns = all_[call].start_ns;
        }
    }

    const task_records& records_;
    trace& loaded_;
    std::vector<device_activity>& all_;
};

void warn_of(const device_records& records, trace& loaded) {
    std::vector<std::string>& warnings = loaded.health.warnings;
    warn(warnings, "malformed records of devices, left out", records.malformed);
    warn(warnings, "records of devices that end before they begin, taken as moments",
         records.backward);
}

}  // namespace

void link_devices(const task_records& records, const metadata& names, clock_map& clock,
                  trace& loaded) {
    warn_of(records.devices, loaded);
    if (loaded.device_activities.empty() && loaded.device_waits.empty() &&
        loaded.device_ranges.empty())
        return;
    device_linker linker(records, loaded);
    linker.name_tasks();
    linker.name_threads(names, clock);
    linker.order();
    linker.find_calls();
    linker.find_scopes();
    link_device_waits(loaded);
    link_device_ranges(loaded);
}

}  // namespace coroscope::analysis::inline devices
