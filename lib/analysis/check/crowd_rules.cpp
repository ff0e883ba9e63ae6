// SPDX-License-Identifier: Apache-2.0
#include "crowd_rules.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// Followers begin the same call while the first one is still in it.
constexpr std::uint64_t fewest_followers = 5;
constexpr double least_follower_share = 0.6;  // of all calls
// While a call runs, so many of the requests make it too; of all requests it is a minority, as a
// cache has hits.
constexpr double least_share_within = 0.8;
constexpr double most_share_of_all = 0.6;
constexpr double most_share_outside = 0.2;

// A call without a suspension must be so long that others can begin meanwhile, on other threads.
constexpr std::int64_t long_call_ns = 1'000'000;

// So many tasks that one event wakes are a herd.
constexpr std::size_t herd_size = 4;
constexpr std::uint64_t fewest_futile = 10;
// A woken task that finds nothing suspends again within this running time.
constexpr std::int64_t futile_run_ns = 200'000;
// Wakes cost processor time beside the time of requests, so less of that is worth a look.
constexpr double least_herd_share = 0.02;

/// The calls of one scope by requests.
struct call_list {
    std::vector<std::uint32_t> events;    // by start
    std::vector<std::uint32_t> requests;  // of each
};

/// The calls that began while another one was running, and those that did not.
struct stampede {
    std::set<std::uint32_t> leaders;                             // requests
    std::set<std::uint32_t> followers;                           // requests
    std::vector<std::uint32_t> late;                             // the events of the followers
    std::vector<std::pair<std::int64_t, std::int64_t>> windows;  // of the leaders
};

stampede divided(const trace& loaded, const call_list& calls) {
    stampede made;
    for (std::size_t at = 0; at < calls.events.size(); ++at) {
        const event& call = loaded.events[calls.events[at]];
        if (made.windows.empty() || call.start_ns >= made.windows.back().second) {
            made.windows.emplace_back(call.start_ns, call.end_ns);
            made.leaders.insert(calls.requests[at]);
        } else if (!made.leaders.contains(calls.requests[at])) {
            made.followers.insert(calls.requests[at]);
            made.late.push_back(calls.events[at]);
        }
    }
    return made;
}

// Returns whether nearly all requests that began within the windows made the call, and few others.
bool is_cache(const check_input& input, const stampede& of) {
    std::uint64_t within = 0;
    std::uint64_t callers_within = 0;
    std::uint64_t outside = 0;
    std::set<std::pair<std::string, std::uint32_t>> types;
    for (const std::uint32_t each : of.followers) {
        const finding_place type = input.type_of(input.requests()[each]);
        types.insert({type.label, type.site});
    }
    std::size_t window = 0;
    for (std::uint32_t at = 0; at < input.requests().size(); ++at) {
        const finding_place type = input.type_of(input.requests()[at]);
        if (!types.contains({type.label, type.site}) || of.leaders.contains(at)) continue;
        const std::int64_t start_ns = input.requests()[at].info.start_ns;
        while (window < of.windows.size() && of.windows[window].second < start_ns) ++window;
        const bool is_caller = of.followers.contains(at);
        // A follower may have begun just before the first call.
        if (is_caller || (window < of.windows.size() && of.windows[window].first <= start_ns)) {
            ++within;
            callers_within += is_caller ? 1 : 0;
        } else {
            ++outside;
        }
    }
    const std::uint64_t callers_outside = of.leaders.size();
    const auto all = static_cast<double>(within + outside + of.leaders.size());
    const auto callers = static_cast<double>(of.leaders.size() + of.followers.size());
    return static_cast<double>(callers_within) >=
               least_share_within * static_cast<double>(within) &&
           callers <= most_share_of_all * all &&
           static_cast<double>(callers_outside) <=
               most_share_outside * static_cast<double>(outside + callers_outside);
}

// Returns whether the last wait of a call ended because another request went on: the call awaited
// what that request made.
bool is_handed_over(const check_input& input, const event& call, std::uint32_t request) {
    const trace& loaded = input.loaded();
    const index_range own = loaded.tasks[call.task].awaits;
    for (std::size_t count = own.size(); count-- > 0;) {
        const await_info await = loaded.awaits[own.front() + count];
        if (await.suspend_ns >= call.end_ns) continue;
        if (await.suspend_ns < call.start_ns || await.waker == none || !await.wake_ns) return false;
        const std::uint32_t other = input.request_at(await.waker, *await.wake_ns);
        return other != none && other != request;
    }
    return false;
}

std::map<std::uint32_t, call_list> calls_of(check_input& input) {
    const trace& loaded = input.loaded();
    std::vector<std::uint64_t> counts(loaded.strings.size());  // by name
    for (const event& each : loaded.events)
        if (each.task != none) ++counts[each.name];
    std::map<std::uint32_t, call_list> calls;
    for (std::uint32_t at = 0; at < loaded.events.size(); ++at) {
        const event& each = loaded.events[at];
        const bool is_short = each.detail == none && each.end_ns - each.start_ns < long_call_ns;
        if (each.task == none || is_short || counts[each.name] <= fewest_followers ||
            counts[each.name] > 3 * input.requests().size())
            continue;
        const std::uint32_t request = input.request_at(each.task, each.start_ns);
        if (request == none || input.requests()[request].info.event == at ||
            is_handed_over(input, each, request))
            continue;
        call_list& of = calls[each.name];
        of.events.push_back(at);
        of.requests.push_back(request);
    }
    return calls;
}

finding stampede_finding(check_input& input, const stampede& of) {
    const trace& loaded = input.loaded();
    victim_sums victims;
    evidence_list evidence;
    for (const std::uint32_t at : of.late) {
        const event& call = loaded.events[at];
        const std::int64_t time_ns = call.end_ns - call.start_ns;
        const std::uint32_t request = input.request_at(call.task, call.start_ns);
        victims.add(input, request, time_ns);
        evidence.add({.text = "began while another task was in it",
                      .place = input.work_at(call.task, at),
                      .task = call.task,
                      .thread = call.thread,
                      .request = input.requests()[request].info.id,
                      .start_ns = call.start_ns,
                      .length_ns = time_ns});
    }
    finding made;
    const event& first = loaded.events[of.late.front()];
    made.cause = input.work_at(first.task, of.late.front());
    made.victims = victims.list();
    made.count = of.late.size();
    made.cost_ns = victims.time_ns();
    made.title = fmt::format("`{}` is made by many at once, {} times while another task was in it; "
                             "{}, {}",
                             label_text(made.cause), of.late.size(),
                             victims_text(input, victims.count()), share_text(input, made.cost_ns));
    made.explanation = {
        fmt::format("{} calls began the {} times, and nearly every request that came meanwhile "
                    "made its own",
                    of.late.size() + of.windows.size(), of.windows.size()),
        "most requests at other times made no such call, as if they found its result"};
    made.evidence = evidence.take();
    return made;
}

using herd_key = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // place, waker, time

struct herd_group {
    victim_sums victims;
    evidence_list evidence;
    std::uint64_t futile = 0;
    std::uint64_t woken = 0;
    std::uint64_t herds = 0;
    std::size_t largest = 0;
    std::int64_t time_ns = 0;
};

// The wakes of one moment at one place, by the waker.
std::map<herd_key, std::vector<std::uint32_t>> wakes_of(check_input& input) {
    constexpr std::int64_t moment_ns = 1'000'000;
    std::map<herd_key, std::vector<std::uint32_t>> wakes;
    const trace& loaded = input.loaded();
    for (std::uint32_t at = 0; at < loaded.awaits.size(); ++at) {
        const await_info& each = loaded.awaits[at];
        if (!each.wake_ns || !each.resume_ns || each.reason == wake_reason::timer ||
            each.site == none || (each.waker == none && each.waker_thread == none))
            continue;
        wakes[{each.site, each.waker != none ? each.waker : each.waker_thread,
               *each.wake_ns / moment_ns}]
            .push_back(at);
    }
    return wakes;
}

// Whether the task waits again at the same place, in the same scope, after a short run.
bool is_futile(const trace& loaded, std::uint32_t at) {
    const await_info& await = loaded.awaits[at];
    if (at + 1 >= loaded.awaits.size()) return false;
    const await_info& next = loaded.awaits[at + 1];
    return next.task == await.task && next.site == await.site && next.scope == await.scope &&
           next.suspend_ns - *await.resume_ns <= futile_run_ns;
}

}  // namespace

std::string lacks_completeness(const check_input& input) {
    if (input.is_complete()) return {};
    if (!input.loaded().all_threads) return "a session of all threads";
    return "a complete trace: the absence of records proves nothing here";
}

void find_stampedes(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    for (const auto& [name, calls] : calls_of(input)) {
        if (calls.events.size() <= fewest_followers) continue;
        const stampede of = divided(input.loaded(), calls);
        if (of.followers.size() < fewest_followers ||
            static_cast<double>(of.late.size()) <
                least_follower_share * static_cast<double>(calls.events.size()) ||
            !is_cache(input, of))
            continue;
        finding made = stampede_finding(input, of);
        if (input.is_worth(made.cost_ns, least_share)) to.push_back(std::move(made));
    }
}

void find_herds(rule_context& context, std::vector<finding>& to) {
    check_input& input = context.input();
    const trace& loaded = input.loaded();
    std::map<std::uint32_t, herd_group> groups;  // by place
    for (const auto& [key, woken] : wakes_of(input)) {
        if (woken.size() < herd_size) continue;
        herd_group& group = groups[std::get<0>(key)];
        ++group.herds;
        group.woken += woken.size();
        group.largest = std::max(group.largest, woken.size());
        for (const std::uint32_t at : woken) {
            if (!is_futile(loaded, at)) continue;
            const await_info& await = loaded.awaits[at];
            const std::int64_t time_ns = loaded.awaits[at + 1].suspend_ns - *await.wake_ns;
            ++group.futile;
            add_to(group.time_ns, time_ns);
            const std::uint32_t request = input.request_at(await.task, await.suspend_ns);
            if (request != none) group.victims.add(input, request, time_ns);
            group.evidence.add({.text = "was woken and waited again",
                                .place = input.wait_at(await),
                                .task = await.task,
                                .await = at,
                                .request = request == none ? 0 : input.requests()[request].info.id,
                                .start_ns = *await.wake_ns,
                                .length_ns = time_ns});
        }
    }
    for (auto& [site, group] : groups) {
        if (group.futile < fewest_futile || group.futile * 2 < group.woken ||
            !input.is_worth(group.time_ns, least_herd_share))
            continue;
        finding made;
        std::vector<finding_evidence> evidence = group.evidence.take();
        made.cause = evidence.front().place;
        made.victims = group.victims.list();
        made.count = group.futile;
        made.cost_ns = group.time_ns;
        made.title = fmt::format("one event wakes up to {} tasks at `{}`, and most wait again at "
                                 "once: {} of {} wakes were in vain, {}",
                                 group.largest, label_text(made.cause), group.futile, group.woken,
                                 share_text(input, made.cost_ns));
        made.explanation = {
            fmt::format("{} herds; a woken task found nothing and waited again", group.herds),
            fmt::format("between these wakes and the next waits the tasks were queued or ran for "
                        "{}",
                        format_span(group.time_ns))};
        made.evidence = std::move(evidence);
        to.push_back(std::move(made));
    }
}

}  // namespace coroscope::analysis::inline checks
