// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../answer/scope_states.hpp"
#include "../words/places.hpp"
#include "call_times.hpp"

namespace coroscope::analysis::inline compare {
namespace {

bool is_function(const trace& loaded, std::uint32_t site) {
    return site < loaded.sites.size() &&
           loaded.sites[site].kind ==
               static_cast<std::uint8_t>(coroscope::trace::site_kind::function);
}

/// The names of functions of which there are several end with their lines, which move.
std::string name_of_scope(const trace& loaded, const event& scope) {
    return is_function(loaded, scope.site) ? site_name(loaded, scope.site)
                                           : loaded.strings[scope.name];
}

/// Returns whether the time of a call is known in whole. An open, clipped or abandoned one is not.
bool is_whole(const event& scope) {
    return (scope.flags & (event_open | event_clipped | event_abandoned | event_left_out)) == 0;
}

/// Whether a call has a length, but no time of its own.
bool has_length_only(const event& scope) {
    return (scope.flags & (event_suspension_unknown | event_await)) != 0 || has_no_self_time(scope);
}

/// For how long the thread of each scope was preempted in its own time.
std::vector<std::int64_t> preempted_times(const trace& loaded) {
    std::vector<std::int64_t> times;
    if (!loaded.states.any()) return times;
    times.resize(loaded.events.size());
    scope_states states(loaded);
    for (std::size_t at = 0; at < loaded.events.size(); ++at) {
        const event& each = loaded.events[at];
        const std::int64_t preempted_ns = states.own(each).preempted_ns;
        add_to(times[at], preempted_ns);
        if (each.parent < at && !has_no_self_time(loaded.events[each.parent]))
            add_to(times[each.parent], -preempted_ns);
    }
    return times;
}

struct collected_scope {
    run_row row;
    std::vector<std::int64_t> times_ns;
    std::vector<std::int64_t> with_preempted_ns;  // empty if no states are known
    double in_requests = 0;
    double inner = 0;
};

class scope_collection {
public:
    explicit scope_collection(const trace& loaded)
        : loaded_(loaded), last_(loaded.sites.size() + 1, {none, 0}) {}

    collected_scope& of(const event& scope) { return scopes_[place_of(scope)]; }
    std::vector<collected_scope>& all() { return scopes_; }

private:
    std::size_t place_of(const event& scope) {
        const std::size_t site = std::min<std::size_t>(scope.site, loaded_.sites.size());
        if (last_[site].first == scope.name) [[likely]]
            return last_[site].second;
        const std::uint64_t key = std::uint64_t{site} << 32 | scope.name;
        const auto [found, is_new] = places_.try_emplace(key, 0);
        if (is_new) found->second = place_in_source(scope);
        last_[site] = {scope.name, found->second};
        return found->second;
    }

    /// A line of a template has a site for each instance.
    std::size_t place_in_source(const event& scope) {
        run_row row;
        row.name = name_of_scope(loaded_, scope);
        set_place(row, loaded_, scope.site);
        const auto [found, is_new] =
            lines_.try_emplace({row.name, row.file, row.line}, scopes_.size());
        if (is_new) scopes_.emplace_back().row = std::move(row);
        return found->second;
    }

    const trace& loaded_;
    std::vector<collected_scope> scopes_;
    std::map<std::tuple<std::string, std::string, std::uint32_t>, std::size_t> lines_;
    std::unordered_map<std::uint64_t, std::size_t> places_;    // by site and name
    std::vector<std::pair<std::uint32_t, std::size_t>> last_;  // by site: the last name's place
};

run_row finished(collected_scope& of, double requests) {
    run_row row = std::move(of.row);
    row.time = call_times_of(of.times_ns);
    row.with_delay = of.with_preempted_ns.empty() ? row.time : call_times_of(of.with_preempted_ns);
    row.inner_per_call = row.calls == 0 ? 0 : of.inner / row.calls;
    row.per_request = requests == 0 ? 0 : of.in_requests / requests;
    of.times_ns = {};
    of.with_preempted_ns = {};
    return row;
}

}  // namespace

void set_place(run_row& row, const trace& loaded, std::uint32_t site) {
    const site_info* const found = find_site(loaded, site);
    if (found == nullptr) return;
    row.file = found->file;
    row.line = found->line;
}

std::vector<run_row> rows_of_scopes(const trace& loaded, const work_of_requests& work,
                                    double requests) {
    const std::vector<std::int64_t> preempted_ns = preempted_times(loaded);
    scope_collection scopes(loaded);
    for (std::uint32_t at = 0; at < loaded.events.size(); ++at) {
        const event& each = loaded.events[at];
        if (each.parent < at) scopes.of(loaded.events[each.parent]).inner += 1;
        collected_scope& of = scopes.of(each);
        of.row.calls += 1;
        of.in_requests += work.has_event(at) ? 1 : 0;
        if (!is_whole(each)) continue;
        std::int64_t time_ns = each.self_running_ns;
        if (has_length_only(each)) {
            of.row.measured = compared_time::length;
            time_ns = each.end_ns - each.start_ns;
        } else if (!preempted_ns.empty()) {
            of.with_preempted_ns.push_back(std::max<std::int64_t>(time_ns, 0));
            time_ns = saturated_difference(time_ns, preempted_ns[at]);
        }
        of.times_ns.push_back(std::max<std::int64_t>(time_ns, 0));
    }
    std::vector<run_row> rows;
    for (collected_scope& each : scopes.all()) rows.push_back(finished(each, requests));
    return rows;
}

}  // namespace coroscope::analysis::inline compare
