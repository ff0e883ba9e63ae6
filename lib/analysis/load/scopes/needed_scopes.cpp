// SPDX-License-Identifier: Apache-2.0
#include "needed_scopes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <coroscope/trace/jobs.hpp>

#include "scope_records.hpp"

namespace coroscope::analysis::inline scopes {
namespace {

namespace format = coroscope::trace;
using coroscope::trace::record_kind;
using coroscope::trace::record_view;
using coroscope::trace::site_kind;

// Moments of each task. A scope of the task that contains one of them is needed: at a suspension,
// because it may be the await's scope; at the end of another needed scope, because that scope is
// its child or overlaps it, and then encloses no later scope.
class task_moments {
public:
    explicit task_moments(std::size_t tasks) : moments_(tasks) {}

    void add(std::uint32_t task, std::int64_t time_ns) {
        if (task < moments_.size()) moments_[task].push_back(time_ns);
    }

    /// Must be called after additions.
    void sort() {
        for (std::vector<std::int64_t>& each : moments_)
            if (!std::ranges::is_sorted(each)) std::ranges::sort(each);
    }

    [[nodiscard]] bool any_between(std::uint32_t task, std::int64_t from_ns,
                                   std::int64_t to_ns) const {
        const std::vector<std::int64_t>& all = moments_[task];
        const auto next = std::ranges::lower_bound(all, from_ns);
        return next != all.end() && *next <= to_ns;
    }

private:
    std::vector<std::vector<std::int64_t>> moments_;  // by task
};

// The scopes of one stream that are needed.
struct choice {
    std::vector<std::uint32_t> positions;
    std::vector<std::pair<std::uint32_t, std::int64_t>> ends;  // of those with moments: task, time
    std::vector<std::uint32_t> unknown_sites;                  // ids, each once
    flat_index unknown_met;                                    // the same

    void add_unknown(std::uint32_t id) {
        if (unknown_met.insert(id) == unknown_sites.size()) unknown_sites.push_back(id);
    }
};

// Facts about a site that make its scopes needed.
enum site_needs : unsigned char { always = 1, for_names = 2 };

class needed_pass {
public:
    needed_pass(const task_records& records, const std::vector<timeline>& timelines,
                const clock_map& clock, const metadata& names, const trace& loaded)
        : records_(records),
          timelines_(timelines),
          clock_(clock),
          names_(names),
          loaded_(loaded),
          moments_(loaded.tasks.size()),
          sites_(loaded.sites.size()) {
        for (std::size_t at = 0; at < sites_.size(); ++at) {
            if (is_kind(at, site_kind::request)) sites_[at] |= always;
            if (is_kind(at, site_kind::function)) sites_[at] |= for_names;
        }
        for (const request_fact& each : records.requests.facts)
            if (each.site < sites_.size()) sites_[each.site] |= always;
        for (const await_info& each : loaded.awaits) moments_.add(each.task, each.suspend_ns);
        for (const thread_stream& each : records.streams) add_ends_of_others(each);
        moments_.sort();
    }

    // Devices find their scopes by time. The scopes that a file shows as open may have ended.
    [[nodiscard]] bool needs_all() const {
        return !loaded_.device_activities.empty() || !loaded_.device_waits.empty() ||
               !records_.devices.ranges.empty() ||
               (!records_.open_scopes.empty() && !loaded_.health.finished);
    }

    [[nodiscard]] choice all_of(std::size_t stream) const {
        choice all;
        for_each_scope(stream,
                       [&](std::uint32_t position, const record_view& record, const switch_point&) {
                           all.positions.push_back(position);
                           note_site(record, all);
                       });
        return all;
    }

    [[nodiscard]] choice needed_of(std::size_t stream) const {
        choice needed;
        clock_map clock = clock_;
        std::vector<bool> met(loaded_.tasks.size());  // tasks with a scope in this stream
        for_each_scope(stream, [&](std::uint32_t position, const record_view& record,
                                   const switch_point& in_force) {
            const std::uint32_t site = note_site(record, needed);
            const std::uint32_t task = known(in_force.task);
            const std::uint32_t group = known(in_force.group);
            const bool is_first = task != none && !met[task];
            if (is_first) met[task] = true;
            const bool has_moment = group != none && holds_moment(record, group, clock);
            if (!has_moment && !is_first && !is_needed(record, site, task)) return;
            needed.positions.push_back(position);
            if (has_moment) needed.ends.emplace_back(group, end_of(record, clock));
        });
        return needed;
    }

    // Returns whether the ends were moments already, so that the choice stays the same.
    bool add_ends(const std::vector<choice>& choices) {
        bool all_known = true;
        for (const choice& each : choices)
            for (const auto& [task, end_ns] : each.ends)
                all_known = all_known && moments_.any_between(task, end_ns, end_ns);
        if (all_known) return true;
        for (const choice& each : choices)
            for (const auto& [task, end_ns] : each.ends) moments_.add(task, end_ns);
        moments_.sort();
        return false;
    }

private:
    [[nodiscard]] bool is_kind(std::size_t site, site_kind kind) const {
        return loaded_.sites[site].kind == static_cast<std::uint8_t>(kind);
    }

    [[nodiscard]] std::uint32_t known(std::uint32_t task) const {
        return task < loaded_.tasks.size() ? task : none;
    }

    static std::int64_t end_of(const record_view& record, clock_map& clock) {
        const bool is_long = record.kind() != record_kind::scope;
        return clock.to_ns(record.word(0) + (is_long ? record.word(2) : record.value()));
    }

    [[nodiscard]] bool holds_moment(const record_view& record, std::uint32_t task,
                                    clock_map& clock) const {
        return moments_.any_between(task, clock.to_ns(record.word(0)), end_of(record, clock));
    }

    void add_ends_of_others(const thread_stream& stream) {
        clock_map clock = clock_;
        for (const std::uint32_t position : stream.other_scopes) {
            const record_view record = stream.records.record(position);
            if (record.bytes == 0) continue;
            moments_.add(records_.find_task(format::mark_task(record.word(3))),
                         clock.to_ns(record.word(0) + record.word(2)));
        }
    }

    // A range with a label takes the label, which else would count as one that did not end.
    [[nodiscard]] bool is_needed(const record_view& record, std::uint32_t site,
                                 std::uint32_t task) const {
        if (is_labelled(record)) return true;
        if (site >= sites_.size()) return false;
        if ((sites_[site] & always) != 0) return true;
        return (sites_[site] & for_names) != 0 && task != none &&
               (loaded_.tasks[task].asio || loaded_.tasks[task].fiber);
    }

    static bool is_labelled(const record_view& record) {
        return record.kind() == record_kind::long_scope &&
               (record.value() & format::scope_dynamic) != 0;
    }

    std::uint32_t note_site(const record_view& record, choice& into) const {
        if (is_labelled(record)) return none;
        const std::uint32_t site = names_.known_site(record.id());
        if (site == none) into.add_unknown(record.id());
        return site;
    }

    // Calls visit(position, record, switch in force) for each stack scope, in order.
    template <class Visit>
    void for_each_scope(std::size_t number, const Visit& visit) const {
        const thread_stream& stream = records_.streams[number];
        const timeline& line = timelines_[number];
        std::size_t at = 0;
        const std::size_t chunks = stream.records.chunks().size();
        for (std::size_t index = 0; index < chunks; ++index) {
            const chunk_place place = stream.records.chunk(index);
            format::for_each_record(*stream.records.chunks()[index], [&](const record_view& each) {
                const bool is_long = each.kind() == record_kind::long_scope;
                if (each.kind() != record_kind::scope && !(is_long && is_stack_scope(each.value())))
                    return;
                const auto position =
                    place.first +
                    static_cast<std::uint32_t>(static_cast<std::size_t>(each.data - place.records) /
                                               format::record_unit_bytes);
                while (line.end_of(at) <= position) ++at;
                visit(position, each, line.switches[at]);
            });
        }
    }

    const task_records& records_;
    const std::vector<timeline>& timelines_;
    const clock_map& clock_;
    const metadata& names_;
    const trace& loaded_;
    task_moments moments_;
    std::vector<unsigned char> sites_;  // site_needs
};

template <class Choose>
std::vector<choice> choices_of(std::size_t streams, unsigned jobs, const Choose& choose) {
    std::vector<choice> found(streams);
    format::in_parallel(jobs, streams, [&](std::size_t at) { found[at] = choose(at); });
    return found;
}

}  // namespace

void find_needed_scopes(task_records& records, const std::vector<timeline>& timelines,
                        const clock_map& clock, unsigned jobs, metadata& names, trace& loaded) {
    constexpr int most_rounds = 4;  // more are needed only if damaged scopes overlap each other
    needed_pass pass(records, timelines, clock, names, loaded);
    std::vector<choice> choices;
    bool chosen = false;
    for (int round = 0; !chosen && !pass.needs_all() && round < most_rounds; ++round) {
        choices = choices_of(records.streams.size(), jobs,
                             [&](std::size_t at) { return pass.needed_of(at); });
        chosen = pass.add_ends(choices);
    }
    if (!chosen)
        choices = choices_of(records.streams.size(), jobs,
                             [&](std::size_t at) { return pass.all_of(at); });
    for (std::size_t at = 0; at < choices.size(); ++at) {
        thread_stream& stream = records.streams[at];
        for (const std::uint32_t id : choices[at].unknown_sites) names.site(id);
        stream.stack_scopes = std::move(choices[at].positions);
        loaded.threads[stream.thread].scopes_left_out +=
            stream.stack_scope_count - stream.stack_scopes.size();
    }
}

}  // namespace coroscope::analysis::inline scopes
