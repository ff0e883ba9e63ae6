// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/slowest_request.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

#include "site_names.hpp"
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/trace/format.hpp>

namespace coroscope::analysis {
namespace {

// A function that lasts longer than this share of the session is a loop that serves requests.
constexpr std::int64_t loop_share = 10;

bool ended_well(const event& scope) {
    return (scope.flags & (event_abandoned | event_clipped | event_open | event_suspension_unknown |
                           event_await)) == 0;
}

bool ended_well(const task_info& task) {
    return (task.state == task_state::finished || task.state == task_state::failed) &&
           !task.older_than_session;
}

// And so is one that another function repeats in this many times, on average.
constexpr std::uint64_t loop_repetitions = 8;

struct candidate {
    std::uint64_t instances = 0;
    std::int64_t wall_ns = 0;
    bool awaits = false;
    std::map<std::uint32_t, std::uint64_t> inside;  // functions that ran in it, by site: how often
};

bool is_loop(const trace& loaded, const candidate& of) {
    const auto instances = static_cast<std::int64_t>(of.instances);
    if (of.wall_ns / std::max<std::int64_t>(1, instances) > loaded.duration_ns / loop_share)
        return true;
    return std::any_of(of.inside.begin(), of.inside.end(), [&of](const auto& function) {
        return function.second >= loop_repetitions * of.instances;
    });
}

// The site whose scopes are most like requests, or none.
std::uint32_t request_site(const trace& loaded) {
    std::vector<candidate> candidates(loaded.sites.size());
    const auto eligible = [&loaded](const event& scope) {
        return scope.site != none && scope.task != none && (scope.flags & event_in_frame) != 0 &&
               ended_well(scope) &&
               loaded.sites[scope.site].kind ==
                   static_cast<std::uint8_t>(coroscope::trace::site_kind::function);
    };
    for (const event& scope : loaded.events) {
        if (!eligible(scope)) continue;
        ++candidates[scope.site].instances;
        add_to(candidates[scope.site].wall_ns, scope.end_ns - scope.start_ns);
        for (std::uint32_t outer = scope.parent; outer != none; outer = loaded.events[outer].parent)
            if (eligible(loaded.events[outer]))
                ++candidates[loaded.events[outer].site].inside[scope.site];
    }
    for (const await_info& await : loaded.awaits)
        for (std::uint32_t scope = await.scope; scope != none; scope = loaded.events[scope].parent)
            if (eligible(loaded.events[scope])) candidates[loaded.events[scope].site].awaits = true;

    const auto rank = [&](std::uint32_t site) {
        const candidate& of = candidates[site];
        return std::tuple(!is_loop(loaded, of), of.inside.size(), of.wall_ns);
    };
    std::uint32_t best = none;
    for (std::uint32_t site = 0; site < candidates.size(); ++site)
        if (candidates[site].awaits && (best == none || rank(site) > rank(best))) best = site;
    return best;
}

class part_collector {
public:
    explicit part_collector(const trace& loaded) : loaded_(loaded) {}

    void add_await(const await_info& await) {
        request_part& part = part_of(part_kind::await, site_title(loaded_, await.site), await.site);
        ++part.count;
        part.time.add(split_of(loaded_, await));
    }

    void add_scope(const event& scope) {
        const std::int64_t running_ns = scope.detail == none
                                            ? scope.end_ns - scope.start_ns
                                            : loaded_.details[scope.detail].time.running_ns;
        request_part& part = part_of(part_kind::scope, loaded_.strings[scope.name], scope.site);
        ++part.count;
        add_to(part.time.running_ns, running_ns);
    }

    // What no child explains: running is the request's own, and the rest was waited where nobody saw.
    std::vector<request_part> finish(const slow_request& request) {
        time_split explained;
        for (const auto& [key, part] : parts_) explained.add(part.time);
        const auto rest = [](std::int64_t all_ns, std::int64_t known_ns) {
            return std::max<std::int64_t>(0, all_ns - known_ns);
        };
        const std::int64_t self_ns = rest(request.time.running_ns, explained.running_ns);
        const time_split unseen{0, rest(request.time.suspended_ns, explained.suspended_ns),
                                rest(request.time.queued_ns, explained.queued_ns),
                                rest(request.time.waiting_ns, explained.waiting_ns)};
        if (self_ns != 0) {
            request_part& self = part_of(part_kind::self, request.name, request.site);
            self.count = 1;
            self.time.running_ns = self_ns;
        }
        if (unseen.wall_ns() != 0) {
            request_part& part = part_of(part_kind::await, "unknown", none);
            ++part.count;
            part.time.add(unseen);
        }
        std::vector<request_part> found;
        for (auto& [key, part] : parts_) found.push_back(std::move(part));
        std::sort(found.begin(), found.end(),
                  [](const request_part& left, const request_part& right) {
                      return std::tuple(-left.wall_ns(), left.site, left.kind) <
                             std::tuple(-right.wall_ns(), right.site, right.kind);
                  });
        return found;
    }

private:
    request_part& part_of(part_kind kind, const std::string& label, std::uint32_t site) {
        request_part& part = parts_[{kind, label, site}];
        part.kind = kind;
        part.label = label;
        part.site = site;
        return part;
    }

    const trace& loaded_;
    std::map<std::tuple<part_kind, std::string, std::uint32_t>, request_part> parts_;
};

bool encloses(const trace& loaded, std::uint32_t outer, std::uint32_t scope) {
    while (scope != none && scope != outer) scope = loaded.events[scope].parent;
    return scope == outer;
}

slow_request describe_scope(const trace& loaded, std::uint32_t index) {
    const event& scope = loaded.events[index];
    slow_request request;
    request.name = loaded.strings[scope.name];
    request.site = scope.site;
    request.event = index;
    request.task = scope.task;
    request.start_ns = scope.start_ns;
    request.wall_ns = scope.end_ns - scope.start_ns;
    request.time.running_ns = request.wall_ns;
    if (scope.detail != none) request.time = loaded.details[scope.detail].time;

    part_collector parts(loaded);
    for (std::size_t at = index + 1;
         at < loaded.events.size() && loaded.events[at].start_ns <= scope.end_ns; ++at)
        if (loaded.events[at].parent == index) parts.add_scope(loaded.events[at]);
    if (scope.task != none)
        for (const std::uint32_t await : loaded.tasks[scope.task].awaits)
            if (encloses(loaded, index, loaded.awaits[await].scope))
                parts.add_await(loaded.awaits[await]);
    request.parts = parts.finish(request);
    return request;
}

slow_request describe_task(const trace& loaded, std::uint32_t index) {
    const task_info& task = loaded.tasks[index];
    slow_request request;
    request.name = site_title(loaded, task.spawn_site);
    request.site = task.spawn_site;
    request.task = index;
    request.start_ns = task.first_wake_ns.value_or(0);
    request.wall_ns = task.time.wall_ns();
    request.time = task.time;

    part_collector parts(loaded);
    for (const event& scope : loaded.events) {
        const bool outermost = scope.parent == none || loaded.events[scope.parent].task != index;
        if (scope.task == index && outermost && ended_well(scope)) parts.add_scope(scope);
    }
    for (const std::uint32_t await : task.awaits) parts.add_await(loaded.awaits[await]);
    request.parts = parts.finish(request);
    return request;
}

template <class Matches>
std::optional<slow_request> slowest_scope(const trace& loaded, Matches matches) {
    std::uint32_t slowest = none;
    std::uint64_t instances = 0;
    const auto wall_ns = [&loaded](std::uint32_t index) {
        return loaded.events[index].end_ns - loaded.events[index].start_ns;
    };
    for (std::uint32_t index = 0; index < loaded.events.size(); ++index) {
        if (!matches(loaded.events[index]) || !ended_well(loaded.events[index])) continue;
        ++instances;
        if (slowest == none || wall_ns(index) > wall_ns(slowest)) slowest = index;
    }
    if (slowest == none) return std::nullopt;
    slow_request request = describe_scope(loaded, slowest);
    request.instances = instances;
    return request;
}

std::optional<slow_request> slowest_task(const trace& loaded, std::string_view name) {
    std::uint32_t slowest = none;
    std::uint64_t instances = 0;
    for (std::uint32_t index = 0; index < loaded.tasks.size(); ++index) {
        const task_info& task = loaded.tasks[index];
        if (!ended_well(task) || (!name.empty() && site_title(loaded, task.spawn_site) != name))
            continue;
        ++instances;
        if (slowest == none || task.time.wall_ns() > loaded.tasks[slowest].time.wall_ns())
            slowest = index;
    }
    if (slowest == none) return std::nullopt;
    slow_request request = describe_task(loaded, slowest);
    request.instances = instances;
    return request;
}

}  // namespace

std::optional<slow_request> slowest_request(const trace& loaded, std::string_view name) {
    if (name.empty()) {
        const std::uint32_t site = request_site(loaded);
        if (site != none)
            return slowest_scope(loaded, [site](const event& scope) { return scope.site == site; });
        return slowest_task(loaded, {});
    }
    auto found = slowest_scope(
        loaded, [&](const event& scope) { return loaded.strings[scope.name] == name; });
    return found ? found : slowest_task(loaded, name);
}

}  // namespace coroscope::analysis
