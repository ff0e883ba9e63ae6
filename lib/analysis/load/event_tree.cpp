// SPDX-License-Identifier: Apache-2.0
#include "event_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <queue>

#include "event_order.hpp"
#include "huge_pages.hpp"

namespace coroscope::analysis::loading {
namespace {

// One ordered sequence of scopes, as far as it has been merged.
struct run {
    std::uint32_t stream = 0;
    bool is_stack = false;
    std::vector<std::uint32_t> order;
    std::size_t next = 0;
    std::int64_t start_ns = 0;  // of the next scope
    std::int64_t end_ns = 0;
    std::uint32_t position = 0;  // in the stream, counted in stack scopes

    [[nodiscard]] bool done() const { return next == order.size(); }
};

// The model's order across runs. In one stream a frame's scope that ended after a stack scope of the
// same extent is the outer one.
bool comes_after(const run& left, const run& right) {
    if (left.start_ns != right.start_ns) return left.start_ns > right.start_ns;
    if (left.end_ns != right.end_ns) return left.end_ns < right.end_ns;
    if (left.stream != right.stream) return left.stream > right.stream;
    if (left.position != right.position) return left.position < right.position;
    return left.is_stack && !right.is_stack;
}

class event_merger {
public:
    event_merger(std::span<const thread_stream> streams, std::span<const timeline> timelines,
                 std::span<const stream_scopes> scopes, const symbols& names, trace& loaded)
        : streams_(streams),
          timelines_(timelines),
          scopes_(scopes),
          names_(names),
          loaded_(loaded),
          innermost_(loaded.tasks.size() + loaded.threads.size(), none) {}

    void merge() {
        make_runs();
        order_awaits();
        std::size_t total = 0;
        const auto later = [this](std::uint32_t left, std::uint32_t right) {
            return comes_after(runs_[left], runs_[right]);
        };
        std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, decltype(later)> queue(
            later);
        for (std::uint32_t index = 0; index < runs_.size(); ++index) {
            total += runs_[index].order.size();
            queue.push(index);
        }
        loaded_.events.reserve(total);
        prefer_huge_pages(loaded_.events.data(), total * sizeof(event));
        while (!queue.empty()) {
            run& first = runs_[queue.top()];
            const std::uint32_t index = queue.top();
            queue.pop();
            // One run often goes on for long: as long as it does, the queue stays as it is.
            const run* second = queue.empty() ? nullptr : &runs_[queue.top()];
            do take_next(first);
            while (!first.done() && (second == nullptr || !comes_after(first, *second)));
            if (!first.done()) queue.push(index);
        }
        settle_awaits(std::numeric_limits<std::int64_t>::max());
    }

private:
    void order_awaits() {
        awaits_.resize(loaded_.awaits.size());
        std::iota(awaits_.begin(), awaits_.end(), 0U);
        std::sort(awaits_.begin(), awaits_.end(), [this](std::uint32_t left, std::uint32_t right) {
            return loaded_.awaits[left].suspend_ns < loaded_.awaits[right].suspend_ns;
        });
    }

    // Gives the awaits that began before `start_ns` the innermost scope that was open around them.
    void settle_awaits(std::int64_t start_ns) {
        for (; next_await_ < awaits_.size(); ++next_await_) {
            await_info& await = loaded_.awaits[awaits_[next_await_]];
            if (await.suspend_ns >= start_ns) break;
            const std::int64_t resume_ns = await.resume_ns.value_or(await.suspend_ns);
            std::uint32_t scope = innermost_[await.task];
            while (scope != none && (loaded_.events[scope].end_ns < resume_ns ||
                                     loaded_.events[scope].end_ns <= await.suspend_ns))
                scope = loaded_.events[scope].parent;
            await.scope = scope;
        }
        next_suspend_ns_ = next_await_ < awaits_.size()
                               ? loaded_.awaits[awaits_[next_await_]].suspend_ns
                               : std::numeric_limits<std::int64_t>::max();
    }

    void make_runs() {
        for (std::uint32_t stream = 0; stream < scopes_.size(); ++stream) {
            if (!scopes_[stream].stack.empty())
                add_run(stream, true, order_of(std::span(scopes_[stream].stack)));
            if (!scopes_[stream].longs.empty())
                add_run(stream, false, order_of(std::span(scopes_[stream].longs)));
        }
    }

    void add_run(std::uint32_t stream, bool is_stack, std::vector<std::uint32_t> order) {
        run& added = runs_.emplace_back();
        added.stream = stream;
        added.is_stack = is_stack;
        added.order = std::move(order);
        look_ahead(added);
    }

    void look_ahead(run& from) {
        if (from.done()) return;
        const std::uint32_t index = from.order[from.next];
        if (from.is_stack) {
            const stack_scope& scope = scopes_[from.stream].stack[index];
            from.start_ns = scope.start_ns;
            from.end_ns = scope.end_ns;
            from.position = index;
        } else {
            const long_scope& scope = scopes_[from.stream].longs[index];
            from.start_ns = scope.start_ns;
            from.end_ns = scope.end_ns;
            from.position = scope.position;
        }
    }

    void take_next(run& from) {
        if (next_suspend_ns_ < from.start_ns) settle_awaits(from.start_ns);
        const std::uint32_t index = from.order[from.next++];
        if (from.is_stack)
            add_stack(from.stream, scopes_[from.stream].stack[index]);
        else
            add_long(scopes_[from.stream].longs[index]);
        look_ahead(from);
    }

    void add_stack(std::uint32_t stream, const stack_scope& scope) {
        event added;
        added.start_ns = scope.start_ns;
        added.end_ns = scope.end_ns;
        added.self_running_ns = scope.end_ns - scope.start_ns;
        added.site = scope.site;
        added.thread = streams_[stream].thread;
        if ((scope.site & stack_scope::has_extra) != 0)
            add_extra(added, scopes_[stream].extras[scope.site & ~stack_scope::has_extra]);
        else
            added.name = names_.site_name(scope.site);
        const switch_point& in_force = timelines_[stream].switches[scope.switch_index];
        added.task = in_force.task < loaded_.tasks.size() ? in_force.task : none;
        place(added, group_of(in_force.group, added.thread), true);
    }

    void add_extra(event& added, const scope_extra& extra) {
        added.self_running_ns = extra.own_ns;
        added.site = extra.site;
        added.name = extra.name;
        added.flags = extra.flags;
        if (extra.arguments == none) return;
        event_detail detail;
        detail.time.running_ns = added.end_ns - added.start_ns;
        detail.end_thread = added.thread;
        detail.arguments = extra.arguments;
        added.detail = static_cast<std::uint32_t>(loaded_.details.size());
        loaded_.details.push_back(detail);
    }

    void add_long(const long_scope& scope) {
        event added;
        added.start_ns = scope.start_ns;
        added.end_ns = scope.end_ns;
        added.self_running_ns = scope.own_ns;
        added.name = scope.name;
        added.site = scope.site;
        added.thread = scope.thread;
        added.task = scope.task;
        added.detail = scope.detail;
        added.flags = scope.flags;
        // Outside tasks an asynchronous scope has no place among the calls of a thread.
        if (scope.task == none && !scope.encloses)
            loaded_.events.push_back(added);
        else
            place(added, group_of(scope.task, scope.thread), scope.encloses);
    }

    [[nodiscard]] std::size_t group_of(std::uint32_t task, std::uint32_t thread) const {
        return task < loaded_.tasks.size() ? task : loaded_.tasks.size() + thread;
    }

    // The enclosing events of a group are a stack that is linked by `parent`.
    void place(event& added, std::size_t group, bool encloses) {
        std::uint32_t& top = innermost_[group];
        while (top != none) {
            event& above = loaded_.events[top];
            if (added.start_ns < above.end_ns && added.end_ns <= above.end_ns) {
                above.self_running_ns =
                    std::max<std::int64_t>(0, above.self_running_ns - added.self_running_ns);
                break;
            }
            if (added.start_ns < above.end_ns) overlap(above, added);
            top = above.parent;
        }
        added.parent = top;
        if (encloses) top = static_cast<std::uint32_t>(loaded_.events.size());
        loaded_.events.push_back(added);
    }

    // Ranges begun and ended by hand may overlap without nesting. Such a one has a total only, as an
    // asynchronous event has; or else two of them would count the time that they share.
    static void overlap(event& earlier, event& later) {
        event& by_hand = (earlier.flags & event_explicit) != 0 ? earlier : later;
        if ((by_hand.flags & event_explicit) == 0) return;
        by_hand.flags |= event_async;
        by_hand.self_running_ns = 0;
    }

    std::span<const thread_stream> streams_;
    std::span<const timeline> timelines_;
    std::span<const stream_scopes> scopes_;
    const symbols& names_;
    trace& loaded_;
    std::vector<run> runs_;
    std::vector<std::uint32_t> awaits_;  // by suspension
    std::size_t next_await_ = 0;
    std::int64_t next_suspend_ns_ = std::numeric_limits<std::int64_t>::min();
    std::vector<std::uint32_t> innermost_;  // by group: the event that may enclose the next one
};

}  // namespace

void build_events(std::span<const thread_stream> streams, std::span<const timeline> timelines,
                  std::span<const stream_scopes> scopes, const symbols& names, trace& loaded) {
    event_merger(streams, timelines, scopes, names, loaded).merge();
}

}  // namespace coroscope::analysis::loading
