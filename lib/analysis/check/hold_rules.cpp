// SPDX-License-Identifier: Apache-2.0
#include "hold_rules.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include <coroscope/analysis/units.hpp>
#include <coroscope/trace/file_header.hpp>
#include <fmt/format.h>

#include "../model/missing_facts.hpp"
#include "../model/result_waits.hpp"
#include "../text/utf8.hpp"
#include "../words/places.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

/// The time that requests waited for one lock or resource.
struct hold_group {
    victim_sums victims;
    place_sums causes;
    place_sums waiters;
    evidence_list evidence;
    std::set<std::tuple<std::uint32_t, std::uint32_t>> holds;  // task and thread of the holder
    std::int64_t idle_ns = 0;      // the holder was suspended or blocked
    std::int64_t unproven_ns = 0;  // in which the holder is not known to have been the cause
    std::uint32_t resource = none;
    std::uint64_t lock_address = 0;
};

enum class hold_fault : std::uint8_t { none, held_across_wait, contended, exhausted };

// "mutex", "pool", …; empty for a lock of the C library.
std::string_view kind_of_held(const trace& loaded, std::uint32_t resource) {
    if (resource >= loaded.resource_waits.size()) return {};
    const site_info* const site = find_site(loaded, loaded.resource_waits[resource].site);
    return site == nullptr ? std::string_view() : std::string_view(site->category);
}

bool is_pool(const trace& loaded, std::uint32_t resource) {
    const std::string_view kind = kind_of_held(loaded, resource);
    return kind == "pool" || kind == "semaphore";
}

/// A pool by its name, as all its holders exhaust it together. Otherwise the place of the holder,
/// and the name of a resource. The looks at a thread do not always show the address of a lock.
using hold_key = std::tuple<std::uint32_t, std::string, std::uint32_t>;

hold_key hold_key_of(const trace& loaded, const hold_delay& delay, const finding_place& holder) {
    const std::uint32_t site = delay.resource < loaded.resource_waits.size()
                                   ? loaded.resource_waits[delay.resource].site
                                   : none;
    if (is_pool(loaded, delay.resource)) return {site, {}, none};
    return {site, holder.label, holder.site};
}

bool is_idle(path_kind kind) {
    return kind == path_kind::suspended || kind == path_kind::waiting ||
           kind == path_kind::blocked || kind == path_kind::not_started;
}

std::vector<hold_group> hold_groups_of(check_input& input) {
    const trace& loaded = input.loaded();
    std::map<hold_key, hold_group> groups;
    for (const hold_delay& each : input.hold_delays()) {
        const finding_place place = input.work_at(each.holder, each.holder_scope);
        // A holder without a name may be in a scope or a task that is missing.
        if (place.label.empty() && may_lack_work(loaded)) continue;
        hold_group& group = groups[hold_key_of(loaded, each, place)];
        if (each.is_unproven) {
            add_to(group.unproven_ns, each.time_ns);
            continue;
        }
        if (each.resource != none) group.resource = each.resource;
        if (each.lock_address != 0) group.lock_address = each.lock_address;
        group.victims.add(input, each.request, each.time_ns);
        group.causes.add(place, each.time_ns);
        group.waiters.add(input.work_at(each.waiter, each.waiter_scope), each.time_ns);
        group.holds.insert({each.holder, each.holder == none ? each.holder_thread : none});
        if (is_idle(each.kind)) add_to(group.idle_ns, each.time_ns);
        group.evidence.add({.text = is_idle(each.kind) ? "held it and waited" : "held it",
                            .place = place,
                            .task = each.holder,
                            .thread = each.holder_thread,
                            .request = input.requests()[each.request].info.id,
                            .start_ns = each.from_ns,
                            .length_ns = each.time_ns});
    }
    std::vector<hold_group> made;
    for (auto& [key, group] : groups) made.push_back(std::move(group));
    return made;
}

std::string name_of_held(const trace& loaded, const hold_group& group) {
    if (group.resource < loaded.resource_waits.size()) {
        const std::uint32_t site = loaded.resource_waits[group.resource].site;
        return fmt::format("`{}`", printable(site_name(loaded, site)));
    }
    return group.lock_address == 0 ? std::string("a lock")
                                   : fmt::format("the lock {:#x}", group.lock_address);
}

hold_fault hold_fault_of(const check_input& input, const hold_group& group) {
    if (!input.is_worth(group.victims.time_ns(), least_share)) return hold_fault::none;
    // With the missing facts, other work may have been the largest cause.
    if (group.causes.largest_ns() <= group.unproven_ns) return hold_fault::none;
    if (is_pool(input.loaded(), group.resource)) return hold_fault::exhausted;
    return group.idle_ns > group.victims.time_ns() / 2 ? hold_fault::held_across_wait
                                                       : hold_fault::contended;
}

// `title(group, label)` is the sentence without the victims.
template <class Title>
void add_holds(rule_context& context, hold_fault fault, std::vector<finding>& to, Title title) {
    check_input& input = context.input();
    for (hold_group& group : hold_groups_of(input)) {
        if (hold_fault_of(input, group) != fault) continue;
        finding made;
        made.cause = group.causes.largest();
        made.victims = group.victims.list();
        made.count = group.holds.size();
        made.cost_ns = group.victims.time_ns();
        made.title = fmt::format("{}; {} waited, {}", title(group, label_text(made.cause)),
                                 victims_text(input, group.victims.count()),
                                 share_text(input, made.cost_ns));
        made.explanation = {
            fmt::format("waited for {}: {} in all, most of it in `{}`",
                        name_of_held(context.loaded(), group), format_span(made.cost_ns),
                        label_text(group.waiters.largest())),
            fmt::format(
                "meanwhile the holder was suspended or blocked for {}, {} different holders",
                format_span(group.idle_ns), group.holds.size())};
        made.evidence = group.evidence.take();
        to.push_back(std::move(made));
    }
}

bool has_resources(const trace& loaded) {
    return std::ranges::any_of(loaded.resource_waits, [&](const resource_wait& each) {
        return !is_for_result(loaded, each);
    });
}

}  // namespace

std::string lacks_locks(const check_input& input) {
    const trace& loaded = input.loaded();
    const bool is_recorded = (loaded.asked_for & coroscope::trace::feature_locks) != 0;
    if (is_recorded || has_resources(loaded) || !loaded.lock_waits.empty() ||
        loaded.states.source == coroscope::trace::thread_state_source::switches)
        return {};
    return "waits for locks: coroscope run --record locks, or traced_mutex";
}

std::string lacks_resources(const check_input& input) {
    if (has_resources(input.loaded())) return {};
    return "waits for resources: coroscope::resource around the pool, if there is one";
}

std::set<std::uint32_t> kinds_of_holders(check_input& input) {
    std::set<std::uint32_t> kinds;
    // If records are lost, the known waits may be few of many.
    if (has_losses(input.loaded()))
        for (const hold_delay& each : input.hold_delays())
            if (each.holder != none) kinds.insert(input.kind_of(each.holder));
    for (const hold_group& group : hold_groups_of(input)) {
        if (hold_fault_of(input, group) == hold_fault::none) continue;
        for (const auto& [task, thread] : group.holds)
            if (task != none) kinds.insert(input.kind_of(task));
    }
    return kinds;
}

void find_held_locks(rule_context& context, std::vector<finding>& to) {
    add_holds(context, hold_fault::held_across_wait, to,
              [&](const hold_group& group, const std::string& label) {
                  return fmt::format("`{}` keeps {} while it is suspended or blocked", label,
                                     name_of_held(context.loaded(), group));
              });
}

void find_contended_locks(rule_context& context, std::vector<finding>& to) {
    add_holds(context, hold_fault::contended, to,
              [&](const hold_group& group, const std::string& label) {
                  return fmt::format("`{}` keeps {} for long", label,
                                     name_of_held(context.loaded(), group));
              });
}

void find_exhausted_pools(rule_context& context, std::vector<finding>& to) {
    add_holds(context, hold_fault::exhausted, to,
              [&](const hold_group& group, const std::string& label) {
                  return fmt::format("{} is exhausted, mostly by `{}`",
                                     name_of_held(context.loaded(), group), label);
              });
}

}  // namespace coroscope::analysis::inline checks
