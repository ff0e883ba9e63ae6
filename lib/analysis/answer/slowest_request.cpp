// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/slowest_request.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

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

// Scopes by their parents: of each the first child and its next sibling, or none.
struct scope_tree {
    std::vector<std::uint32_t> first_child;
    std::vector<std::uint32_t> next_sibling;
};

scope_tree tree_of(const trace& loaded) {
    const std::size_t count = loaded.events.size();
    scope_tree tree{std::vector(count, none), std::vector(count, none)};
    for (std::uint32_t index = 0; index < count; ++index) {
        const std::uint32_t parent = loaded.events[index].parent;
        if (parent == none) continue;
        tree.next_sibling[index] = tree.first_child[parent];
        tree.first_child[parent] = index;
    }
    return tree;
}

// Calls enter(scope) on the way down to each scope of a root's, and leave(scope) on the way up.
template <class Enter, class Leave>
void walk_from(std::uint32_t root, const trace& loaded, const scope_tree& tree, Enter enter,
               Leave leave) {
    std::uint32_t at = root;
    enter(at);
    while (true) {
        if (tree.first_child[at] != none) {
            at = tree.first_child[at];
            enter(at);
            continue;
        }
        for (; at != root && tree.next_sibling[at] == none; at = loaded.events[at].parent)
            leave(at);
        leave(at);
        if (at == root) return;
        at = tree.next_sibling[at];
        enter(at);
    }
}

// The functions around the scope at which a walk stands, each with how often it is open.
class open_functions {
public:
    explicit open_functions(std::size_t sites) : times_(sites) {}

    void enter(std::uint32_t site) {
        if (times_[site]++ == 0) sites_.push_back(site);
    }
    // What was entered last leaves first, and so does the site that then is open no more.
    void leave(std::uint32_t site) {
        if (--times_[site] == 0) sites_.pop_back();
    }
    [[nodiscard]] const std::vector<std::uint32_t>& sites() const noexcept { return sites_; }
    [[nodiscard]] std::uint64_t times(std::uint32_t site) const { return times_[site]; }

private:
    std::vector<std::uint64_t> times_;
    std::vector<std::uint32_t> sites_;
};

// How often which functions ran in which. Recursion may be as deep as a trace is long: not every scope around a scope
// is looked at, but every function.
template <class Eligible>
void count_inside(const trace& loaded, Eligible eligible, std::vector<candidate>& candidates) {
    const scope_tree tree = tree_of(loaded);
    open_functions open(candidates.size());
    const auto enter = [&](std::uint32_t index) {
        const event& scope = loaded.events[index];
        if (!eligible(scope)) return;
        for (const std::uint32_t outer : open.sites())
            candidates[outer].inside[scope.site] += open.times(outer);
        open.enter(scope.site);
    };
    const auto leave = [&](std::uint32_t index) {
        if (eligible(loaded.events[index])) open.leave(loaded.events[index].site);
    };
    for (std::uint32_t index = 0; index < loaded.events.size(); ++index)
        if (loaded.events[index].parent == none) walk_from(index, loaded, tree, enter, leave);
}

// Marks the functions around awaits. What is around a scope that was met before is marked.
template <class Eligible>
void find_awaiting(const trace& loaded, Eligible eligible, std::vector<candidate>& candidates) {
    std::vector<bool> met(loaded.events.size());
    for (const await_info& await : loaded.awaits) {
        for (std::uint32_t scope = await.scope; scope != none && !met[scope];
             scope = loaded.events[scope].parent) {
            met[scope] = true;
            if (eligible(loaded.events[scope])) candidates[loaded.events[scope].site].awaits = true;
        }
    }
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
    }
    count_inside(loaded, eligible, candidates);
    find_awaiting(loaded, eligible, candidates);

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

// Whether scopes lie in one; of what is around a scope the answer is kept for the next.
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
    enclosed_scopes inside(loaded, index);
    if (scope.task != none)
        for (const std::uint32_t await : loaded.tasks[scope.task].awaits)
            if (inside.has(loaded.awaits[await].scope)) parts.add_await(loaded.awaits[await]);
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
