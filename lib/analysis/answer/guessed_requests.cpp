// SPDX-License-Identifier: Apache-2.0
#include "guessed_requests.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

#include <coroscope/trace/format.hpp>

namespace coroscope::analysis::inline answers {
namespace {

// A function that repeats another one this many times on average is a loop that serves requests. If
// another function repeats it as often, it is not: its repetitions are then retries, rows, pieces.
// A call that retries repeats less often.
constexpr std::uint64_t loop_repetitions = 16;

// A function that lasts longer than 1/loop_share of the session, and awaits loop_repetitions times,
// is a loop, too.
constexpr std::int64_t loop_share = 2;

struct candidate {
    std::uint64_t instances = 0;
    std::int64_t wall_ns = 0;
    bool awaits = false;
    std::uint64_t own_awaits = 0;                   // not in other scopes in it
    std::map<std::uint32_t, std::uint64_t> inside;  // by site: number of calls in it

    [[nodiscard]] std::int64_t mean_ns() const {
        return wall_ns / std::max<std::int64_t>(1, static_cast<std::int64_t>(instances));
    }
};

bool repeats(const candidate& of, std::uint32_t site) {
    const auto found = of.inside.find(site);
    return found != of.inside.end() && found->second >= loop_repetitions * of.instances;
}

bool is_loop(const trace& loaded, const std::vector<candidate>& all, std::uint32_t site) {
    const candidate& of = all[site];
    if (of.instances == 0) return false;
    const bool lasts = of.mean_ns() > loaded.duration_ns / loop_share;
    if (lasts && of.own_awaits >= loop_repetitions * of.instances) return true;
    for (std::uint32_t outer = 0; outer < all.size(); ++outer)
        if (outer != site && repeats(all[outer], site)) return false;
    return std::ranges::any_of(of.inside, [&](const auto& function) {
        return function.first != site && repeats(of, function.first);
    });
}

// By scope: its first child and its next sibling, or none.
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

// Visits a root and all scopes below it. Calls enter(scope) before the scopes below a scope, and
// leave(scope) after them.
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

// The functions around the current scope of a walk, each with the number of its open scopes.
class open_functions {
public:
    explicit open_functions(std::size_t sites) : times_(sites) {}

    void enter(std::uint32_t site) {
        if (times_[site]++ == 0) sites_.push_back(site);
    }
    // Scopes leave in the reverse order. A site leaves with its last open scope.
    void leave(std::uint32_t site) {
        if (--times_[site] == 0) sites_.pop_back();
    }
    [[nodiscard]] const std::vector<std::uint32_t>& sites() const noexcept { return sites_; }
    [[nodiscard]] std::uint64_t times(std::uint32_t site) const { return times_[site]; }

private:
    std::vector<std::uint64_t> times_;
    std::vector<std::uint32_t> sites_;
};

// Counts for each function the calls of other functions in it. Goes through the functions around a
// scope, not through the scopes, because a recursion may be as deep as the trace is long.
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

// Marks the functions around awaits. The functions around a scope that was met before are marked
// already.
template <class Eligible>
void find_awaiting(const trace& loaded, Eligible eligible, std::vector<candidate>& candidates) {
    std::vector<bool> met(loaded.events.size());
    for (const await_info& await : loaded.awaits) {
        if (await.scope != none && eligible(loaded.events[await.scope]))
            ++candidates[loaded.events[await.scope].site].own_awaits;
        for (std::uint32_t scope = await.scope; scope != none && !met[scope];
             scope = loaded.events[scope].parent) {
            met[scope] = true;
            if (eligible(loaded.events[scope])) candidates[loaded.events[scope].site].awaits = true;
        }
    }
}

}  // namespace

bool ended_well(const event& scope) noexcept {
    return (scope.flags & (event_abandoned | event_clipped | event_open | event_suspension_unknown |
                           event_await)) == 0;
}

bool ended_well(const task_info& task) noexcept {
    return (task.state == task_state::finished || task.state == task_state::failed) &&
           !task.older_than_session;
}

std::uint32_t guess_request_site(const trace& loaded) {
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
        return std::tuple(!is_loop(loaded, candidates, site), of.inside.size(), of.wall_ns);
    };
    std::uint32_t best = none;
    for (std::uint32_t site = 0; site < candidates.size(); ++site)
        if (candidates[site].awaits && (best == none || rank(site) > rank(best))) best = site;
    return best;
}

}  // namespace coroscope::analysis::inline answers
