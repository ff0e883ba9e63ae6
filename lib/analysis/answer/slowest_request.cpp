// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/slowest_request.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "../words/await_names.hpp"
#include "guessed_requests.hpp"
#include "scope_states.hpp"
#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/request_statistics.hpp>

namespace coroscope::analysis {
namespace {

class part_collector {
public:
    explicit part_collector(const trace& loaded) : loaded_(loaded) {}

    void add_await(const await_info& await) {
        request_part& part =
            part_of(part_kind::await, await_title(loaded_, await), await_place(loaded_, await));
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

    // Adds the time that no child explains: its running time is the request's own, and its other
    // times count as an unknown await.
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

// Finds out whether scopes lie within the scope `outer`. Keeps the answers for all scopes that it
// visited, so that later searches end early.
class enclosed_scopes {
public:
    enclosed_scopes(const trace& loaded, std::uint32_t outer) : loaded_(loaded) {
        known_[outer] = true;
        known_[none] = false;
    }

    bool has(std::uint32_t scope) {
        way_.clear();
        auto found = known_.find(scope);
        for (; found == known_.end(); found = known_.find(scope)) {
            way_.push_back(scope);
            scope = loaded_.events[scope].parent;
        }
        const bool inside = found->second;
        for (const std::uint32_t each : way_) known_[each] = inside;
        return inside;
    }

private:
    const trace& loaded_;
    std::unordered_map<std::uint32_t, bool> known_;
    std::vector<std::uint32_t> way_;
};

// A range encloses no scopes: what is in it began while it was open.
void add_awaits_of(const trace& loaded, std::uint32_t index, part_collector& parts) {
    const event& scope = loaded.events[index];
    const bool is_range = has_no_self_time(scope);
    enclosed_scopes inside(loaded, index);
    for (const std::uint32_t at : loaded.tasks[scope.task].awaits) {
        const await_info& await = loaded.awaits[at];
        const bool open = await.suspend_ns >= scope.start_ns && await.suspend_ns < scope.end_ns;
        if (is_range ? open : inside.has(await.scope)) parts.add_await(await);
    }
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

    request.states = settled(scope_states(loaded).running(scope), request.time.running_ns);

    part_collector parts(loaded);
    for (std::size_t at = index + 1;
         at < loaded.events.size() && loaded.events[at].start_ns <= scope.end_ns; ++at)
        if (loaded.events[at].parent == index) parts.add_scope(loaded.events[at]);
    if (scope.task != none) add_awaits_of(loaded, index, parts);
    request.parts = parts.finish(request);
    return request;
}

slow_request describe_task(const trace& loaded, std::uint32_t index) {
    const task_info& task = loaded.tasks[index];
    slow_request request;
    request.name = site_name(loaded, task.spawn_site);
    request.site = task.spawn_site;
    request.task = index;
    request.start_ns = task.first_wake_ns.value_or(0);
    request.wall_ns = task.time.wall_ns();
    request.time = task.time;
    request.states = settled(scope_states(loaded).of_task(task), request.time.running_ns);

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
    const auto is_called = [&loaded](const task_info& task, std::string_view title) {
        return site_name(loaded, task.spawn_site) == title;
    };
    std::uint32_t slowest = none;
    for (std::uint32_t index = 0; index < loaded.tasks.size(); ++index) {
        const task_info& task = loaded.tasks[index];
        if (!ended_well(task) || (!name.empty() && !is_called(task, name))) continue;
        if (slowest == none || task.time.wall_ns() > loaded.tasks[slowest].time.wall_ns())
            slowest = index;
    }
    if (slowest == none) return std::nullopt;
    slow_request request = describe_task(loaded, slowest);
    request.instances = static_cast<std::uint64_t>(
        std::count_if(loaded.tasks.begin(), loaded.tasks.end(), [&](const task_info& task) {
            return ended_well(task) && is_called(task, request.name);
        }));
    return request;
}

std::optional<slow_request> slowest_marked(const trace& loaded) {
    const auto place = find_slowest({loaded.requests, false, true});
    if (!place) return std::nullopt;
    const request_info* slowest = &loaded.requests[*place];
    slow_request request = slowest->event < loaded.events.size()
                               ? describe_scope(loaded, slowest->event)
                               : describe_task(loaded, slowest->task);
    request.name = loaded.strings[slowest->name];
    request.site = slowest->site;
    request.id = slowest->id;
    request.instances = static_cast<std::uint64_t>(
        std::ranges::count_if(loaded.requests, [&](const request_info& each) {
            return each.is_whole() && each.name == slowest->name;
        }));
    return request;
}

}  // namespace

std::optional<slow_request> slowest_request(const trace& loaded, std::string_view name) {
    if (name.empty()) {
        if (!loaded.requests.empty()) return slowest_marked(loaded);
        const std::uint32_t site = guess_request_site(loaded);
        if (site != none)
            return slowest_scope(loaded, [site](const event& scope) { return scope.site == site; });
        return slowest_task(loaded, {});
    }
    auto found = slowest_scope(
        loaded, [&](const event& scope) { return loaded.strings[scope.name] == name; });
    return found ? found : slowest_task(loaded, name);
}

}  // namespace coroscope::analysis
