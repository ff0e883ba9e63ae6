// SPDX-License-Identifier: Apache-2.0
#include "event_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include <coroscope/trace/jobs.hpp>

#include "../records/huge_pages.hpp"
#include "event_order.hpp"
#include "event_place.hpp"
#include "winner_tree.hpp"

namespace coroscope::analysis::inline scopes {
namespace {

// One ordered sequence of scopes, as far as it has been merged: the stack scopes of a stream, or
// the others.
struct run {
    std::uint32_t stream;
    std::uint32_t thread;
    const std::vector<std::uint32_t>* stack_scopes;  // null: the run is `others`
    const std::vector<other_scope>* others;
    const std::vector<scope_extra>* extras;
    const timeline* line;
    std::size_t length;
    stack_decoder decoder;
    std::size_t next = 0;
    stack_scope scope = {};  // the next scope; in a run of others only its times are set
    std::uint32_t position = 0;
    const switch_point* in_force = nullptr;  // at the last scope's position
    std::uint32_t in_force_from = 0;         // its first position
    std::uint32_t in_force_units = 0;        // the number of its positions

    [[nodiscard]] bool done() const { return next == length; }

    const switch_point& switch_in_force() {
        if (position - in_force_from >= in_force_units) [[unlikely]]
            find_switch();
        return *in_force;
    }

    void find_switch() {
        const std::size_t hint = in_force == nullptr ? 0 : index_in_force();
        const std::size_t found = line->in_force(position, hint);
        in_force = &line->switches[found];
        in_force_from = in_force->position;
        in_force_units = line->end_of(found) - in_force_from;
    }

    [[nodiscard]] std::size_t index_in_force() const {
        return static_cast<std::size_t>(in_force - line->switches.data());
    }

    void look_ahead() {
        if (done()) {
            scope.start_ns = std::numeric_limits<std::int64_t>::max();
        } else if (stack_scopes != nullptr) {
            position = (*stack_scopes)[next];
            decoder.decode(position, scope);
        } else {
            const other_scope& other = (*others)[next];
            position = other.position;
            scope.start_ns = other.start_ns;
            scope.end_ns = other.end_ns;
        }
    }
};

// Compares the next scopes of two runs by the model's order. A run that is done comes last.
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
    event_merger(const gathered_scopes& gathered, metadata& names, const clock_map& clock,
                 trace& loaded)
        : texts_(gathered.texts),
          notes_(gathered.notes),
          histories_(gathered.histories),
          names_(names),
          loaded_(loaded),
          tasks_(static_cast<std::uint32_t>(loaded.tasks.size())),
          places_(loaded) {
        std::size_t total = 0;
        for (std::uint32_t stream = 0; stream < gathered.streams.size(); ++stream) {
            total += add_run(gathered, stream, true, clock);
            total += add_run(gathered, stream, false, clock);
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
             !first->done() && !until.passed_by(places_.count()); first = &runs_[tree.winner()]) {
            take_next(*first);
            if (runs_.size() > 1) tree.replay();
        }
        places_.finish();
    }

private:
    std::size_t add_run(const gathered_scopes& gathered, std::uint32_t stream, bool of_stack,
                        const clock_map& clock) {
        const thread_stream& records = gathered.streams[stream];
        const stream_scopes& scopes = gathered.scopes[stream];
        const std::size_t length = of_stack ? records.stack_scopes.size() : scopes.others.size();
        if (length == 0) return 0;
        runs_.push_back({stream, records.thread, of_stack ? &records.stack_scopes : nullptr,
                         &scopes.others, &scopes.extras, &gathered.timelines[stream], length,
                         stack_decoder(records, clock)});
        runs_.back().look_ahead();
        return length;
    }

    void take_next(run& from) {
        if (from.stack_scopes != nullptr)
            add_stack(from);
        else
            add_other((*from.others)[from.next]);
        ++from.next;
        from.look_ahead();
    }

    [[nodiscard]] std::uint32_t known_task(std::uint32_t task) const {
        return task < tasks_ ? task : none;
    }

    void add_stack(run& from) {
        const stack_scope& scope = from.scope;
        const switch_point& in_force = from.switch_in_force();
        event& added = places_.add();
        added.start_ns = scope.start_ns;
        added.end_ns = scope.end_ns;
        added.self_running_ns = scope.start_ns >= in_force.time_ns
                                    ? scope.end_ns - scope.start_ns
                                    : from.line->own_between(in_force.group, scope.start_ns,
                                                             scope.end_ns, from.index_in_force());
        added.thread = from.thread;
        added.task = known_task(in_force.task);
        if (scope.clipped) added.flags = event_clipped;
        if (!scope.is_long) {
            added.site = names_.site(scope.site_id);
            added.name = names_.site_name(added.site);
        }
        if (scope.is_long || texts_.has_arguments(added.site) || !notes_.empty())
            add_extra(from, added);
        if (added.self_running_ns != scope.end_ns - scope.start_ns && in_force.group != none &&
            in_force.group == added.task)
            divide(added);
        places_.link(added, known_task(in_force.group), true);
    }

    void add_extra(const run& from, event& added) {
        const std::vector<scope_extra>& extras = *from.extras;
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
        if (extra->note != none) notes_.give(extra->note, loaded_);
        if (extra->arguments != none) detail_of(added).arguments = extra->arguments;
    }

    event_detail& detail_of(event& added) {
        if (added.detail == none) {
            added.detail = static_cast<std::uint32_t>(loaded_.details.size());
            event_detail& detail = loaded_.details.emplace_back();
            detail.time.running_ns = added.end_ns - added.start_ns;
            detail.end_thread = added.thread;
        }
        return loaded_.details[added.detail];
    }

    // Sets the times of a scope during which its task handed over.
    void divide(event& added) {
        detail_of(added).time = histories_.between(added.task, added.start_ns, added.end_ns).time;
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
        if (scope.note != none) notes_.give(scope.note, loaded_);
        // An asynchronous scope outside tasks is not linked: it has no place among the calls of a
        // thread.
        const std::uint32_t group = scope.on_stack ? known_task(scope.group) : scope.task;
        if (group != none || scope.encloses) places_.link(added, group, scope.encloses);
    }

    const scope_texts& texts_;
    const scope_notes& notes_;
    const task_histories& histories_;
    metadata& names_;
    trace& loaded_;
    std::uint32_t tasks_;
    event_places places_;
    std::vector<run> runs_;
};

}  // namespace

void build_events(const gathered_scopes& gathered, metadata& names, const clock_map& clock,
                  unsigned jobs, deadline& until, trace& loaded) {
    coroscope::trace::in_parallel(jobs, gathered.streams.size(), [&](std::size_t stream) {
        put_in_order(gathered.streams[stream].stack_scopes,
                     stack_decoder(gathered.streams[stream], clock));
        put_in_order(gathered.scopes[stream].others);
    });
    event_merger(gathered, names, clock, loaded).merge(until);
}

}  // namespace coroscope::analysis::inline scopes
