// SPDX-License-Identifier: Apache-2.0
#include "device_rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "crowd_rules.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// A call of this length for a device is not a launch but a wait.
constexpr std::int64_t device_wait_ns = 1'000'000;
// The device runs nothing for so much of a wait.
constexpr double most_idle = 0.5;

/// Waits or calls at one place.
struct device_group {
    finding_place place;
    std::uint64_t count = 0;
    std::int64_t time_ns = 0;
    std::int64_t idle_ns = 0;
    victim_sums victims;
    evidence_list evidence;

    // Adds the work of a task at a moment. Returns the id of its request; 0: it worked for none.
    std::uint64_t add_victim(const check_input& input, std::uint32_t task, std::int64_t moment_ns,
                             std::int64_t delay_ns) {
        const std::uint32_t request = input.request_at(task, moment_ns);
        if (request == none) return 0;
        victims.add(input, request, delay_ns);
        return input.requests()[request].info.id;
    }
};

finding device_finding(const check_input& input, device_group& of, const std::string& title) {
    finding made;
    made.cause = of.place;
    made.count = of.count;
    made.cost_ns = of.idle_ns;
    made.victims = of.victims.list();
    if (made.victims.empty()) made.victims = {{of.place, of.count, of.idle_ns}};
    made.title = fmt::format("{}, {}", title, share_text(input, of.idle_ns));
    made.evidence = of.evidence.take();
    return made;
}

/// The time in which each device runs any work.
class device_times {
public:
    explicit device_times(const trace& loaded) {
        for (const device_activity& each : loaded.device_activities) {  // by start
            if (!is_device_work(each.what)) continue;
            devices_of_[each.context].insert(each.device);
            add(runs_[each.device], each);
        }
    }

    /// At least the time in which the devices of these contexts ran something.
    [[nodiscard]] std::int64_t busy_ns(const std::set<std::uint32_t>& contexts,
                                       std::int64_t from_ns, std::int64_t to_ns) const {
        std::set<std::uint32_t> devices;
        for (const std::uint32_t each : contexts)
            if (const auto found = devices_of_.find(each); found != devices_of_.end())
                devices.insert(found->second.begin(), found->second.end());
        std::int64_t sum_ns = 0;
        for (const std::uint32_t each : devices)
            add_to(sum_ns, until(runs_.at(each), to_ns) - until(runs_.at(each), from_ns));
        return std::min(sum_ns, to_ns - from_ns);
    }

private:
    struct run {
        std::int64_t start_ns = 0;
        std::int64_t end_ns = 0;
        std::int64_t before_ns = 0;  // the length of all runs before it
    };

    static void add(std::vector<run>& runs, const device_activity& work) {
        if (runs.empty()) {
            runs.push_back({work.start_ns, work.end_ns, 0});
        } else if (run& last = runs.back(); work.start_ns <= last.end_ns) {
            last.end_ns = std::max(last.end_ns, work.end_ns);
        } else {
            runs.push_back(
                {work.start_ns, work.end_ns, last.before_ns + last.end_ns - last.start_ns});
        }
    }

    static std::int64_t until(const std::vector<run>& runs, std::int64_t time_ns) {
        const auto after = std::ranges::upper_bound(runs, time_ns, {}, &run::start_ns);
        if (after == runs.begin()) return 0;
        const run& last = *(after - 1);
        return last.before_ns + std::min(time_ns, last.end_ns) - last.start_ns;
    }

    std::map<std::uint32_t, std::vector<run>> runs_;               // by device
    std::map<std::uint32_t, std::set<std::uint32_t>> devices_of_;  // by context
};

/// The streams for which an await waited.
struct awaited_streams {
    std::set<std::uint32_t> contexts;
    bool are_known = false;  // all of them
};

awaited_streams streams_of(const trace& loaded, std::uint32_t await) {
    awaited_streams made;
    for (const std::uint32_t at : find_device_waits(loaded, await)) {
        if (loaded.device_waits[at].stream == none) return {};
        made.contexts.insert(loaded.device_waits[at].context);
        made.are_known = true;
    }
    return made;
}

std::map<std::uint32_t, device_group> idle_waits(check_input& input) {
    const trace& loaded = input.loaded();
    const device_times devices(loaded);
    std::map<std::uint32_t, device_group> groups;  // by the site of the await
    std::uint32_t last = none;
    for (const device_wait& each : loaded.device_waits) {
        if (each.await >= loaded.awaits.size() || each.await == last) continue;
        last = each.await;
        const await_info& await = loaded.awaits[each.await];
        const optional_ns end_ns = await.wake_ns ? await.wake_ns : await.resume_ns;
        const awaited_streams streams = streams_of(loaded, each.await);
        if (!end_ns || !streams.are_known) continue;
        device_group& of = groups[await.site];
        of.place = input.await_at(await);
        ++of.count;
        const std::int64_t time_ns = *end_ns - await.suspend_ns;
        const std::int64_t idle_ns =
            time_ns - devices.busy_ns(streams.contexts, await.suspend_ns, *end_ns);
        add_to(of.time_ns, time_ns);
        add_to(of.idle_ns, idle_ns);
        of.evidence.add({.text = "waited while the device ran nothing",
                         .place = of.place,
                         .task = await.task,
                         .await = each.await,
                         .request = of.add_victim(input, await.task, await.suspend_ns, idle_ns),
                         .start_ns = await.suspend_ns,
                         .length_ns = idle_ns});
    }
    return groups;
}

/// Finds the calls that wait for a device. A call within another one on the same thread is a part
/// of that one.
class wait_calls {
public:
    [[nodiscard]] bool is_next(const device_activity& call) {
        if (!is_call(call.what) || call.end_ns - call.start_ns < device_wait_ns) return false;
        if (call.thread == none) return true;
        std::int64_t& end_ns = ends_.try_emplace(call.thread, call.start_ns).first->second;
        if (call.start_ns < end_ns) return false;
        end_ns = call.end_ns;
        return true;
    }

private:
    std::map<std::uint32_t, std::int64_t> ends_;  // of the last call, by thread
};

}  // namespace

std::string lacks_devices(const check_input& input) {
    return input.loaded().device_activities.empty()
               ? std::string("activities of devices: profile_options::use_device, if there is one")
               : std::string();
}

std::string lacks_device_waits(const check_input& input) {
    if (std::string needs = lacks_devices(input); !needs.empty()) return needs;
    const trace_health& health = input.loaded().health;
    if (health.lost_device_records != 0 || !health.device_message.empty())
        return "all activities of the device";
    return lacks_completeness(input);
}

void find_idle_devices(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    for (auto& [site, of] : idle_waits(input)) {
        if (static_cast<double>(of.idle_ns) < most_idle * static_cast<double>(of.time_ns) ||
            !input.is_worth(of.idle_ns, least_share))
            continue;
        finding made = device_finding(
            input, of,
            fmt::format("the device ran nothing for {} of {} in which tasks awaited it in `{}`",
                        format_span(of.idle_ns), format_span(of.time_ns), label_text(of.place)));
        made.explanation = {fmt::format("{} waits for streams", of.count),
                            "the work was requested late or in small pieces, or its end was "
                            "noticed late"};
        to.push_back(std::move(made));
    }
}

void find_device_blocks(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    const trace& loaded = context.loaded();
    wait_calls calls;
    std::map<std::pair<std::string, std::uint32_t>, device_group> groups;
    for (const device_activity& each : loaded.device_activities) {  // by start
        if (each.task >= loaded.tasks.size() || !calls.is_next(each)) continue;
        const std::int64_t time_ns = each.end_ns - each.start_ns;
        const finding_place place = input.work_at(each.task, each.event);
        device_group& of = groups[{place.label, place.site}];
        of.place = place;
        ++of.count;
        add_to(of.idle_ns, time_ns);
        of.evidence.add({.text = "waited in " + printable(loaded.strings[each.name]),
                         .place = place,
                         .task = each.task,
                         .thread = each.thread,
                         .request = of.add_victim(input, each.task, each.start_ns, time_ns),
                         .start_ns = each.start_ns,
                         .length_ns = time_ns});
    }
    for (auto& [key, of] : groups) {
        if (!input.is_worth(of.idle_ns, least_share)) continue;
        finding made =
            device_finding(input, of,
                           fmt::format("`{}` keeps its thread while it waits for the device, {}",
                                       label_text(of.place), times_text(of.count)));
        made.explanation = {fmt::format("calls of at least {} into the device's runtime, {} in all",
                                        format_span(device_wait_ns), format_span(of.idle_ns)),
                            "a thread of an executor cannot run other tasks meanwhile"};
        to.push_back(std::move(made));
    }
}

}  // namespace coroscope::analysis::inline checks
