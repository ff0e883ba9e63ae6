// SPDX-License-Identifier: Apache-2.0
#include "device_links.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>

#include "device_scopes.hpp"
#include "device_waits.hpp"

namespace coroscope::analysis::loading {
namespace {

/// The threads by the system's id, which the system gives again.
class os_threads {
public:
    os_threads(const symbols& names, clock_map& clock, trace& loaded) : loaded_(loaded) {
        for (std::uint32_t at = 0; at < loaded.threads.size(); ++at) {
            const std::int64_t joined_ns =
                at < names.joined_ticks().size() ? clock.to_ns(names.joined_ticks()[at]) : 0;
            joined_.push_back({loaded.threads[at].os_id, joined_ns, at});
            next_id_ = std::max(next_id_, loaded.threads[at].id + 1);
        }
        std::sort(joined_.begin(), joined_.end());
    }

    /// The thread that had that id then; made where there is none.
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

    void name_threads(const symbols& names, clock_map& clock) {
        os_threads threads(names, clock, loaded_);
        for (device_activity& each : all_)
            if (each.thread != none)
                each.thread =
                    threads.find(records_.devices.os_threads.ids[each.thread], each.start_ns);
    }

    /// Where two are alike in all of this, they are alike in everything that is shown.
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

    /// Numbers are used again: the call that began last before the activity is its own; where a clock is behind,
    /// one that began before the activity ended.
    void find_calls() {
        std::vector<numbered_call> calls;
        for (std::uint32_t at = 0; at < all_.size(); ++at)
            if (is_call(all_[at].what) && all_[at].correlation != 0)
                calls.push_back({all_[at].correlation, all_[at].start_ns, at});
        std::sort(calls.begin(), calls.end());
        for (device_activity& each : all_) {
            if (is_call(each.what) || each.correlation == 0) continue;
            each.call = last_before(calls, each.correlation, each.start_ns);
            if (each.call == none) each.call = last_before(calls, each.correlation, each.end_ns);
            if (each.call == none) continue;
            if (each.task == none) each.task = all_[each.call].task;
            if (each.thread == none && !is_device_work(each.what))
                each.thread = all_[each.call].thread;
        }
    }

    void find_scopes() {
        std::vector<std::pair<std::int64_t, std::uint32_t>> asking;  // by the middle of the call
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
    using numbered_call = std::tuple<std::uint32_t, std::int64_t, std::uint32_t>;

    static std::uint32_t last_before(const std::vector<numbered_call>& calls, std::uint32_t number,
                                     std::int64_t time_ns) {
        const auto after =
            std::upper_bound(calls.begin(), calls.end(), numbered_call{number, time_ns, none});
        if (after == calls.begin() || std::get<0>(*std::prev(after)) != number) return none;
        return std::get<2>(*std::prev(after));
    }

    const task_records& records_;
    trace& loaded_;
    std::vector<device_activity>& all_;
};

void warn_of(const device_records& records, trace& loaded) {
    const auto warn = [&loaded](std::uint64_t count, const char* what) {
        if (count != 0) loaded.health.warnings.push_back(std::to_string(count) + what);
    };
    warn(records.malformed, " records of devices are malformed and left out");
    warn(records.backward, " records of devices end before they begin and count as moments");
}

}  // namespace

void link_devices(const task_records& records, const symbols& names, clock_map& clock,
                  trace& loaded) {
    warn_of(records.devices, loaded);
    if (loaded.device_activities.empty() && loaded.device_waits.empty()) return;
    device_linker linker(records, loaded);
    linker.name_tasks();
    linker.name_threads(names, clock);
    linker.order();
    linker.find_calls();
    linker.find_scopes();
    link_device_waits(loaded);
}

}  // namespace coroscope::analysis::loading
