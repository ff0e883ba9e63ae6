// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/add_process.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "../words/function_names.hpp"
#include "add_health.hpp"

namespace coroscope::analysis {
namespace {

using indices = std::vector<std::uint32_t>;

std::uint32_t moved(std::uint32_t index, std::size_t by) {
    return index == none ? none : index + static_cast<std::uint32_t>(by);
}
std::uint32_t through(const indices& places, std::uint32_t index) {
    return index < places.size() ? places[index] : none;
}
index_range moved(index_range range, std::size_t by) {
    if (range.empty()) return range;
    return {moved(range.front(), by), static_cast<std::uint32_t>(range.size())};
}
void move(std::int64_t& time_ns, std::int64_t by_ns) { add_to(time_ns, by_ns); }
void move(optional_ns& time_ns, std::int64_t by_ns) {
    if (time_ns) time_ns = saturated_sum(*time_ns, by_ns);
}

/// Adds the values that `all` lacks, and returns the place of each value of `more` in `all`.
template <class Value, class Key>
indices add_new(std::vector<Value>& all, const std::vector<Value>& more, const Key& key_of) {
    std::map<decltype(key_of(more.front())), std::uint32_t> known;
    for (std::size_t at = 0; at < all.size(); ++at)
        known.emplace(key_of(all[at]), static_cast<std::uint32_t>(at));
    indices places;
    for (const Value& each : more) {
        const auto [place, is_new] =
            known.emplace(key_of(each), static_cast<std::uint32_t>(all.size()));
        if (is_new) all.push_back(each);
        places.push_back(place->second);
    }
    return places;
}

auto key_of_site(const site_info& site) {
    return std::tuple(site.label, site.function, site.file, site.line, site.column, site.category,
                      site.arguments, site.kind);
}

/// Adds the sites that `all` lacks. The frame size of a known site becomes the largest one.
indices add_sites(std::vector<site_info>& all, const std::vector<site_info>& more) {
    indices places = add_new(all, more, key_of_site);
    for (std::size_t at = 0; at < more.size(); ++at) {
        std::uint32_t& known_bytes = all[places[at]].frame_bytes;
        known_bytes = std::max(known_bytes, more[at].frame_bytes);
    }
    return places;
}

/// The places of the parts of `more` in the trace to which they are added.
struct places {
    indices strings;
    indices sites;
    std::size_t threads;
    std::size_t tasks;
    std::size_t slices;
    std::size_t awaits;
    std::size_t details;
    std::size_t attributes;
    std::size_t events;
    std::size_t executors;
    std::size_t objects;
    std::size_t spawn_places;
    std::int64_t later_ns;  ///< the added trace started this much later
};

void add_attributes(trace& all, const trace& more, const places& at) {
    for (attribute_info each : more.attributes) {
        each.key = through(at.strings, each.key);
        each.value = through(at.strings, each.value);
        each.parent = moved(each.parent, at.attributes);
        all.attributes.push_back(each);
    }
}

void add_tasks(trace& all, const trace& more, const places& at) {
    for (task_info each : more.tasks) {
        each.spawn_site = through(at.sites, each.spawn_site);
        each.parent = moved(each.parent, at.tasks);
        each.awaiter = moved(each.awaiter, at.tasks);
        each.spawn_thread = moved(each.spawn_thread, at.threads);
        each.attribute = moved(each.attribute, at.attributes);
        each.executor = moved(each.executor, at.executors);
        each.spawn_place = moved(each.spawn_place, at.spawn_places);
        each.slices = moved(each.slices, at.slices);
        each.awaits = moved(each.awaits, at.awaits);
        for (optional_ns* time : {&each.spawn_ns, &each.first_wake_ns, &each.end_ns})
            move(*time, at.later_ns);
        all.tasks.append(each);
    }
    for (slice each : more.slices) {
        each.task = moved(each.task, at.tasks);
        each.thread = moved(each.thread, at.threads);
        move(each.start_ns, at.later_ns);
        move(each.end_ns, at.later_ns);
        all.slices.append(each);
    }
}

/// Sets the addresses to 0, because they are valid only in the process of `more`.
void add_spawn_places(trace& all, const trace& more, const places& at) {
    for (spawn_place each : more.spawn_places) {
        each.site = through(at.sites, each.site);
        each.inside = each.caller = 0;
        all.spawn_places.push_back(std::move(each));
    }
}

/// Numbers of executors and of objects count within a process, so those of the traces may be equal.
void add_executors(trace& all, const trace& more, const places& at) {
    for (executor_info each : more.executors) {
        each.inner = moved(each.inner, at.executors);
        all.executors.push_back(each);
    }
    all.objects.insert(all.objects.end(), more.objects.begin(), more.objects.end());
}

void add_awaits(trace& all, const trace& more, const places& at) {
    for (await_info each : more.awaits) {
        each.site = through(at.sites, each.site);
        each.task = moved(each.task, at.tasks);
        each.awaited = moved(each.awaited, at.tasks);
        each.waker = moved(each.waker, at.tasks);
        each.scope = moved(each.scope, at.events);
        each.waker_thread = moved(each.waker_thread, at.threads);
        each.executor = moved(each.executor, at.executors);
        each.object = moved(each.object, at.objects);
        move(each.suspend_ns, at.later_ns);
        move(each.wake_ns, at.later_ns);
        move(each.resume_ns, at.later_ns);
        all.awaits.append(each);
    }
}

void add_events(trace& all, const trace& more, const places& at) {
    for (event_detail each : more.details) {
        each.end_thread = moved(each.end_thread, at.threads);
        each.arguments = through(at.strings, each.arguments);
        all.details.push_back(each);
    }
    for (event each : more.events) {
        each.name = through(at.strings, each.name);
        each.site = through(at.sites, each.site);
        each.thread = moved(each.thread, at.threads);
        each.task = moved(each.task, at.tasks);
        each.parent = moved(each.parent, at.events);
        each.detail = moved(each.detail, at.details);
        each.attribute = moved(each.attribute, at.attributes);
        move(each.start_ns, at.later_ns);
        move(each.end_ns, at.later_ns);
        all.events.push_back(each);
    }
}

void add_requests(trace& all, const trace& more, const places& at) {
    for (request_info each : more.requests) {
        each.name = through(at.strings, each.name);
        each.site = through(at.sites, each.site);
        each.event = moved(each.event, at.events);
        each.task = moved(each.task, at.tasks);
        each.thread = moved(each.thread, at.threads);
        move(each.start_ns, at.later_ns);
        move(each.end_ns, at.later_ns);
        all.requests.push_back(each);
    }
}

// Takes the maximum of each number: the processes of one command have the same budget and the same
// least interval.
void add_sampling(request_sampling& all, const request_sampling& more, const places& at) {
    all.interval = std::max(all.interval, more.interval);
    all.least_interval = std::max(all.least_interval, more.least_interval);
    all.budget_ppm = std::max(all.budget_ppm, more.budget_ppm);
    all.cost_ppm = std::max(all.cost_ppm, more.cost_ppm);
    all.changes += more.changes;
    for (interval_change each : more.changed) {
        move(each.time_ns, at.later_ns);
        all.changed.push_back(each);
    }
    std::ranges::stable_sort(all.changed, {}, &interval_change::time_ns);
}

void add_values(trace& all, const trace& more, const places& at) {
    for (value_info each : more.values) {
        each.site = through(at.sites, each.site);
        each.task = moved(each.task, at.tasks);
        each.thread = moved(each.thread, at.threads);
        each.scope = moved(each.scope, at.events);
        move(each.time_ns, at.later_ns);
        all.values.push_back(each);
    }
    std::ranges::stable_sort(all.values, {}, [](const value_info& value) {
        return std::tuple(value.time_ns, value.thread);
    });
}

void move(thread_work& work, const places& at) {
    work.thread = moved(work.thread, at.threads);
    work.task = moved(work.task, at.tasks);
    work.scope = moved(work.scope, at.events);
}

void add_resource_waits(trace& all, const trace& more, const places& at) {
    for (resource_wait each : more.resource_waits) {
        each.site = through(at.sites, each.site);
        for (std::uint32_t* task : {&each.task, &each.holder_task, &each.releaser_task})
            *task = moved(*task, at.tasks);
        for (std::uint32_t* thread : {&each.thread, &each.holder_thread, &each.releaser_thread})
            *thread = moved(*thread, at.threads);
        each.holder_scope = moved(each.holder_scope, at.events);
        for (std::int64_t* time_ns : {&each.start_ns, &each.end_ns}) move(*time_ns, at.later_ns);
        move(each.released_ns, at.later_ns);
        all.resource_waits.push_back(each);
    }
    std::ranges::stable_sort(all.resource_waits, {}, [](const resource_wait& wait) {
        return std::tuple(wait.start_ns, wait.end_ns, wait.thread);
    });
}

void add_blocking_calls(trace& all, const trace& more, const places& at) {
    for (blocking_call each : more.blocking_calls) {
        each.thread = moved(each.thread, at.threads);
        each.task = moved(each.task, at.tasks);
        each.scope = moved(each.scope, at.events);
        for (std::int64_t* time_ns : {&each.start_ns, &each.end_ns}) move(*time_ns, at.later_ns);
        all.blocking_calls.push_back(each);
    }
    std::ranges::stable_sort(all.blocking_calls, {}, [](const blocking_call& call) {
        return std::tuple(call.start_ns, call.end_ns, call.thread);
    });
}

/// Addresses of different processes may be equal. They name different locks, which the model cannot
/// tell.
void add_lock_waits(trace& all, const trace& more, const places& at) {
    for (lock_wait each : more.lock_waits) {
        for (thread_work* work : {&each.waiter, &each.holder, &each.releaser}) move(*work, at);
        for (std::int64_t* time_ns : {&each.start_ns, &each.end_ns}) move(*time_ns, at.later_ns);
        move(each.released_ns, at.later_ns);
        all.lock_waits.push_back(each);
    }
    std::ranges::stable_sort(all.lock_waits, {}, [](const lock_wait& wait) {
        return std::tuple(wait.start_ns, wait.end_ns, wait.waiter.thread);
    });
}

/// Functions that have different names in each process may share one now.
void name_functions(trace& all) {
    const std::vector<std::string> names = distinct_function_names(all.sites);
    std::map<std::string, std::uint32_t> strings;
    indices of_sites(names.size(), none);
    for (std::size_t at = 0; at < all.strings.size(); ++at)
        strings.emplace(all.strings[at], static_cast<std::uint32_t>(at));
    bool any = false;
    for (std::size_t at = 0; at < names.size(); ++at) {
        if (names[at].empty()) continue;
        any = true;
        const auto known = strings.find(names[at]);
        of_sites[at] =
            known != strings.end() ? known->second : static_cast<std::uint32_t>(all.strings.size());
        if (known == strings.end()) all.strings.push_back(names[at]);
    }
    if (!any) return;
    for (event& each : all.events)
        if (each.site < of_sites.size() && of_sites[each.site] != none)
            each.name = of_sites[each.site];
}

}  // namespace

void add_process(trace& all, const trace& more) {
    if (all.process_id == 0 && all.threads.empty() && all.events.empty() && all.tasks.empty()) {
        all = more;
        return;
    }
    const places at{
        add_new(all.strings, more.strings, [](const std::string& each) { return each; }),
        add_sites(all.sites, more.sites),
        all.threads.size(),
        all.tasks.size(),
        all.slices.size(),
        all.awaits.size(),
        all.details.size(),
        all.attributes.size(),
        all.events.size(),
        all.executors.size(),
        all.objects.size(),
        all.spawn_places.size(),
        saturated_difference(more.start_realtime_ns, all.start_realtime_ns)};
    all.threads.insert(all.threads.end(), more.threads.begin(), more.threads.end());
    add_attributes(all, more, at);
    add_executors(all, more, at);
    add_spawn_places(all, more, at);
    add_tasks(all, more, at);
    add_awaits(all, more, at);
    add_events(all, more, at);
    add_requests(all, more, at);
    add_sampling(all.sampling, more.sampling, at);
    if (all.categories.empty()) all.categories = more.categories;
    add_values(all, more, at);
    add_resource_waits(all, more, at);
    add_blocking_calls(all, more, at);
    add_lock_waits(all, more, at);
    name_functions(all);
    all.duration_ns = std::max(all.duration_ns, saturated_sum(at.later_ns, more.duration_ns));
    all.file_bytes += more.file_bytes;
    all.packed_bytes += more.packed_bytes;
    add_health(all.health, more.health);
}

}  // namespace coroscope::analysis
