// SPDX-License-Identifier: Apache-2.0
#include "event_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "event_order.hpp"
#include "event_place.hpp"
#include "huge_pages.hpp"
#include "winner_tree.hpp"

namespace coroscope::analysis::loading {
namespace {

// One ordered sequence of scopes, as far as it has been merged: the stack scopes of a stream, or the
// others.
struct run {
    run(std::uint32_t of_stream, bool of_stack, std::size_t scopes, const stack_decoder& with)
        : stream(of_stream), is_stack(of_stack), length(scopes), decoder(with) {}

    std::uint32_t stream;
    bool is_stack;
    std::size_t length;
    stack_decoder decoder;
    std::size_t next = 0;
    std::size_t in_force = 0;  // the switch in force at the last scope
    stack_scope scope;         // the next scope; of the others, only its extent
    std::uint32_t position = 0;

    [[nodiscard]] bool done() const { return next == length; }
};

// The model's order across runs; a run that is done comes last. Streams have no order of their own.
bool comes_before(const run& left, const run& right) {
    if (left.scope.start_ns != right.scope.start_ns)
        return left.scope.start_ns < right.scope.start_ns;
    if (left.done() || right.done()) return !left.done();
    if (left.scope.end_ns != right.scope.end_ns) return left.scope.end_ns > right.scope.end_ns;
    if (left.stream != right.stream) return left.stream < right.stream;
    return left.position > right.position;
}

class event_merger {
public:
    event_merger(const gathered_scopes& gathered, symbols& names, const clock_map& clock,
                 trace& loaded)
        : gathered_(gathered), names_(names), loaded_(loaded), places_(loaded) {
        std::size_t total = 0;
        for (std::uint32_t stream = 0; stream < gathered.streams.size(); ++stream) {
            total += add_run(stream, true, gathered.streams[stream].stack_scopes.size(), clock);
            total += add_run(stream, false, gathered.scopes[stream].others.size(), clock);
        }
        if (total >= none) throw std::length_error("more events than indices");
        loaded_.events.reserve(total);
        prefer_huge_pages(loaded_.events.data(), total * sizeof(event));
    }

    void merge(deadline& until) {
        if (runs_.empty()) return places_.finish();
        winner_tree tree(runs_.size(), [this](std::uint32_t left, std::uint32_t right) {
            return comes_before(runs_[left], runs_[right]);
        });
        for (run* first = &runs_[tree.winner()];
             !first->done() && !until.passed_by(loaded_.events.size());
             first = &runs_[tree.winner()]) {
            take_next(*first);
            if (runs_.size() > 1) tree.replay();
        }
        places_.finish();
    }

private:
    std::size_t add_run(std::uint32_t stream, bool is_stack, std::size_t scopes,
                        const clock_map& clock) {
        if (scopes == 0) return 0;
        runs_.emplace_back(stream, is_stack, scopes,
                           stack_decoder(gathered_.streams[stream], clock));
        look_ahead(runs_.back());
        return scopes;
    }

    void look_ahead(run& from) {
        if (from.done()) {
            from.scope.start_ns = std::numeric_limits<std::int64_t>::max();
        } else if (from.is_stack) {
            from.position = gathered_.streams[from.stream].stack_scopes[from.next];
            from.decoder.decode(from.position, from.scope);
        } else {
            const other_scope& scope = gathered_.scopes[from.stream].others[from.next];
            from.position = scope.position;
            from.scope.start_ns = scope.start_ns;
            from.scope.end_ns = scope.end_ns;
        }
    }

    void take_next(run& from) {
        if (from.is_stack)
            add_stack(from);
        else
            add_other(gathered_.scopes[from.stream].others[from.next]);
        ++from.next;
        look_ahead(from);
    }

    void add_stack(run& from) {
        const stack_scope& scope = from.scope;
        const timeline& line = gathered_.timelines[from.stream];
        from.in_force = line.in_force(from.position, from.in_force);
        const switch_point& in_force = line.switches[from.in_force];
        event& added = places_.add();
        added.start_ns = scope.start_ns;
        added.end_ns = scope.end_ns;
        added.self_running_ns =
            scope.start_ns >= in_force.time_ns
                ? scope.end_ns - scope.start_ns
                : line.own_between(in_force.group, scope.start_ns, scope.end_ns, from.in_force);
        added.thread = gathered_.streams[from.stream].thread;
        added.task = in_force.task < loaded_.tasks.size() ? in_force.task : none;
        if (scope.clipped) added.flags = event_clipped;
        if (!scope.is_long) {
            added.site = names_.site(scope.site_id);
            added.name = names_.site_name(added.site);
        }
        if (scope.is_long || gathered_.texts.has_arguments(added.site) || !gathered_.notes.empty())
            add_extra(from, added);
        places_.link(added, in_force.group < loaded_.tasks.size() ? in_force.group : none, true);
    }

    void add_extra(const run& from, event& added) {
        const std::vector<scope_extra>& extras = gathered_.scopes[from.stream].extras;
        const auto extra =
            std::lower_bound(extras.begin(), extras.end(), from.position,
                             [](const scope_extra& candidate, std::uint32_t position) {
                                 return candidate.position < position;
                             });
        if (extra == extras.end() || extra->position != from.position) {
            if (added.name == none) added.name = names_.intern("unknown label");
            return;
        }
        added.site = extra->site;
        added.name = extra->name;
        added.flags |= extra->flags;
        if (extra->note != none) gathered_.notes.give(extra->note, loaded_);
        if (extra->arguments == none) return;
        event_detail detail;
        detail.time.running_ns = added.end_ns - added.start_ns;
        detail.end_thread = added.thread;
        detail.arguments = extra->arguments;
        added.detail = static_cast<std::uint32_t>(loaded_.details.size());
        loaded_.details.push_back(detail);
    }

    void add_other(const other_scope& scope) {
        event& added = places_.add();
        added.start_ns = scope.start_ns;
        added.end_ns = scope.end_ns;
        added.self_running_ns = scope.own_ns;
        added.name = scope.name;
        added.site = scope.site;
        added.thread = scope.thread;
        added.task = scope.task;
        added.detail = scope.detail;
        added.flags = scope.flags;
        if (scope.note != none) gathered_.notes.give(scope.note, loaded_);
        // Outside tasks an asynchronous scope has no place among the calls of a thread.
        if (scope.task != none || scope.encloses) places_.link(added, scope.task, scope.encloses);
    }

    const gathered_scopes& gathered_;
    symbols& names_;
    trace& loaded_;
    event_places places_;
    std::vector<run> runs_;
};

}  // namespace

void build_events(const gathered_scopes& gathered, symbols& names, const clock_map& clock,
                  deadline& until, trace& loaded) {
    for (std::size_t stream = 0; stream < gathered.streams.size(); ++stream) {
        put_in_order(gathered.streams[stream].stack_scopes,
                     stack_decoder(gathered.streams[stream], clock));
        put_in_order(gathered.scopes[stream].others);
    }
    event_merger(gathered, names, clock, loaded).merge(until);
}

}  // namespace coroscope::analysis::loading
