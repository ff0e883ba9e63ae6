// SPDX-License-Identifier: Apache-2.0
#include "walk.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_set>

#include "../model/interruptions.hpp"
#include "../model/scope_owner.hpp"

namespace coroscope::analysis::inline paths {
namespace {

// The longest chain of holders, each of which waits for the next one.
constexpr std::size_t deepest_holder = 256;
// Deeper families of tasks are not followed.
constexpr std::size_t deepest_family = 64;

class walker {
public:
    walker(surroundings& around, std::uint32_t thread, critical_path& path)
        : around_(around),
          loaded_(around.loaded()),
          path_(path),
          at_(path.end_ns),
          levels_{{path.task, thread, path.start_ns, none}} {}

    void walk() {
        while (!levels_.empty()) {
            if (at_ <= levels_.back().from_ns)
                levels_.pop_back();
            else
                step();
        }
        std::ranges::reverse(path_.segments);
    }

private:
    // From from_ns on, the path is in `task`; if that is none, in all work on `thread`. Before
    // from_ns, the path is in the work of the level below, which waited from from_ns on.
    struct level {
        std::uint32_t task;
        std::uint32_t thread;
        std::int64_t from_ns;
        std::uint32_t wait;  // of the level below: index into path_.waits
    };

    [[nodiscard]] std::uint32_t task() const { return levels_.back().task; }
    [[nodiscard]] task_info info() const { return loaded_.tasks[task()]; }

    // Explains the time from `from_ns`, or from the begin of the level, to at_.
    void explain(path_kind kind, std::int64_t from_ns, std::uint32_t thread, std::uint32_t await) {
        explain_in(task(), kind, from_ns, thread, await);
    }

    void explain_in(std::uint32_t task, path_kind kind, std::int64_t from_ns, std::uint32_t thread,
                    std::uint32_t await) {
        from_ns = std::max(from_ns, levels_.back().from_ns);
        path_.segments.push_back({.kind = kind,
                                  .start_ns = from_ns,
                                  .end_ns = at_,
                                  .task = task,
                                  .thread = thread,
                                  .await = await,
                                  .through = levels_.back().wait});
        at_ = from_ns;
        met_.clear();
    }

    void step() {
        if (task() == none) return step_on_thread();
        const std::optional<slice> last = last_slice();
        if (last && last->end_ns >= at_) return step_in_run(task(), last->thread, last->start_ns);
        const std::uint32_t await = last_await();
        const std::int64_t known_until =
            std::max(last ? last->end_ns : INT64_MIN, await == none ? INT64_MIN : end_of(await));
        if (await != none && end_of(await) >= at_) return step_before_resume(await);
        if (known_until == INT64_MIN) return step_before_first_run();
        explain(path_kind::unknown, known_until, none, none);
    }

    void step_on_thread() {
        const std::uint32_t thread = levels_.back().thread;
        if (thread >= loaded_.threads.size())
            return explain(path_kind::running, INT64_MIN, thread, none);
        const auto [from_ns, occupant] = around_.occupants().on(thread).piece_before(at_);
        step_in_run(occupant, thread, from_ns);
    }

    // Explains time in which the thread ran the task `runs`, or no task, since from_ns.
    void step_in_run(std::uint32_t runs, std::uint32_t thread, std::int64_t from_ns) {
        from_ns = std::max(from_ns, levels_.back().from_ns);
        const std::optional<held_wait> wait =
            around_.held() ? around_.held()->on_thread(thread, from_ns, at_) : std::nullopt;
        if (!wait) return explain_in(runs, path_kind::running, from_ns, thread, none);
        if (wait->until_ns < at_)
            return explain_in(runs, path_kind::running, wait->until_ns, thread, none);
        from_ns = std::max(from_ns, wait->start_ns);
        if (!go_on_in_holder(*wait, from_ns,
                             {.kind = path_kind::blocked, .task = runs, .thread = thread}))
            explain_in(runs, path_kind::running, from_ns, thread, none);
    }

    // The last of the task's slices or awaits that began before at_: an index, or none.
    template <class Item>
    [[nodiscard]] std::uint32_t last_of(const packed_list<Item>& items, const index_range& own,
                                        std::int64_t Item::* start_ns) const {
        if (own.empty()) return none;
        const auto begin = items.begin() + own.front();
        const auto after = std::ranges::lower_bound(
            begin, begin + static_cast<std::ptrdiff_t>(own.size()), at_, {}, start_ns);
        return after == begin ? none : static_cast<std::uint32_t>(after - items.begin() - 1);
    }

    [[nodiscard]] std::optional<slice> last_slice() const {
        const std::uint32_t last = last_of(loaded_.slices, info().slices, &slice::start_ns);
        if (last == none) return std::nullopt;
        return loaded_.slices[last];
    }

    [[nodiscard]] std::uint32_t last_await() const {
        return last_of(loaded_.awaits, info().awaits, &await_info::suspend_ns);
    }

    [[nodiscard]] std::int64_t end_of(std::uint32_t await) const {
        return loaded_.awaits[await].resume_ns.value_or(INT64_MAX);
    }

    void step_before_resume(std::uint32_t index) {
        const await_info& await = loaded_.awaits[index];
        if (await.wake_ns) {
            const std::int64_t wake_ns = std::max(*await.wake_ns, await.suspend_ns);
            if (wake_ns < at_) return explain(path_kind::queued, wake_ns, none, index);
            if (const std::int64_t last_ns = last_act_of(await); last_ns < at_)
                return step_before_result(index, last_ns);
            if (had_ended(await.waker, await.suspend_ns))
                return explain(path_kind::suspended, await.suspend_ns, none, index);
            if (is_for_resource(await)) return step_in_resource_wait(await, index);
            if (go_on_in(await.waker, await.suspend_ns,
                         wait_of(index, path_kind::suspended, path_edge::wake)))
                return;
        }
        const path_kind kind =
            await.wake_ns || is_held(loaded_, await) ? path_kind::suspended : path_kind::waiting;
        step_before_unseen_wake(await, index, kind);
    }

    // Explains an await that no known task ended by a wake.
    void step_before_unseen_wake(const await_info& await, std::uint32_t index, path_kind kind) {
        const std::int64_t from_ns = std::max(await.suspend_ns, levels_.back().from_ns);
        if (step_into_ended(await.awaited, from_ns, index, kind)) return;
        const bool is_join = await.awaited == none && !await.wake_ns;
        if (is_join && is_descendant(await.waker) &&
            step_into_ended(await.waker, from_ns, index, kind))
            return;
        if (goes_on_at_end(await) &&
            go_on_in(await.awaited, from_ns, wait_of(index, kind, path_edge::end)))
            return;
        if (await.awaited == none && await.reason == wake_reason::unknown &&
            step_into_resource(from_ns, index, kind))
            return;
        explain(kind, from_ns, none, index);
    }

    // Returns whether neither the await nor the awaited task had ended when the session ended.
    [[nodiscard]] bool goes_on_at_end(const await_info& await) const {
        return await.awaited < loaded_.tasks.size() && !await.resume_ns &&
               !loaded_.tasks[await.awaited].end_ns;
    }

    // Returns whether the path's task, or a task that it created, created this one.
    [[nodiscard]] bool is_descendant(std::uint32_t of) const {
        for (std::size_t depth = 0; depth < deepest_family && of < loaded_.tasks.size(); ++depth) {
            of = loaded_.tasks[of].parent;
            if (of == task()) return true;
        }
        return false;
    }

    // If the task ended within the wait, the awaiter waited for it. With a when_all() that is not
    // instrumented, the last child is the task that ran before the resume.
    bool step_into_ended(std::uint32_t ended, std::int64_t from_ns, std::uint32_t await,
                         path_kind kind) {
        if (ended >= loaded_.tasks.size()) return false;
        const optional_ns& end_ns = loaded_.tasks[ended].end_ns;
        if (!end_ns || *end_ns <= from_ns || *end_ns > at_) return false;
        if (*end_ns == at_) return go_on_in(ended, from_ns, wait_of(await, kind, path_edge::end));
        explain(kind, *end_ns, none, await);
        return true;
    }

    [[nodiscard]] bool had_ended(std::uint32_t waker, std::int64_t time_ns) const {
        if (waker >= loaded_.tasks.size()) return false;
        const optional_ns& end_ns = loaded_.tasks[waker].end_ns;
        return end_ns && *end_ns < time_ns;
    }

    // Returns whether the await is a wait for a resource. Its waker need not have held that all the
    // time.
    [[nodiscard]] bool is_for_resource(const await_info& await) const {
        return around_.waits().is_for_resource(task(), *await.wake_ns);
    }

    void step_in_resource_wait(const await_info& await, std::uint32_t index) {
        if (!step_into_resource(await.suspend_ns, index, path_kind::suspended))
            explain(path_kind::suspended, await.suspend_ns, none, index);
    }

    // Returns the latest part of the task's wait for a resource since from_ns, if a holder is
    // known.
    [[nodiscard]] std::optional<held_wait> held_part(std::int64_t from_ns) const {
        if (around_.held() == nullptr) return std::nullopt;
        return around_.held()->of_task(task(), from_ns, at_);
    }

    // If the task waited for a resource, the path goes on in the work that released or held it.
    bool step_into_resource(std::int64_t from_ns, std::uint32_t await, path_kind kind) {
        const std::optional<held_wait> wait = held_part(from_ns);
        if (!wait) return false;
        if (wait->until_ns < at_) {
            explain(kind, wait->until_ns, none, await);
            return true;
        }
        return go_on_in_holder(*wait, std::max(from_ns, wait->start_ns),
                               wait_of(await, kind, path_edge::resource));
    }

    // Explains the time from the end of the waker, at ended_ns, to its wake. Meanwhile the result
    // waited for the waker's executor, or for something that the trace does not show.
    void step_before_result(std::uint32_t index, std::int64_t ended_ns) {
        const await_info& await = loaded_.awaits[index];
        if (await.reason == wake_reason::result &&
            go_on_in(await.waker, await.suspend_ns,
                     wait_of(index, path_kind::suspended, path_edge::wake)))
            return explain(path_kind::queued, ended_ns, none, none);
        explain(path_kind::suspended, ended_ns, none, index);
    }

    // The time at which the waker acted last: its end, if that was before the wake.
    [[nodiscard]] std::int64_t last_act_of(const await_info& await) const {
        if (await.waker >= loaded_.tasks.size()) return INT64_MAX;
        const optional_ns& end_ns = loaded_.tasks[await.waker].end_ns;
        return end_ns && *end_ns > await.suspend_ns ? *end_ns : INT64_MAX;
    }

    void step_before_first_run() {
        const task_info of = info();
        if (of.first_wake_ns && *of.first_wake_ns < at_)
            return explain(path_kind::queued, *of.first_wake_ns, none, none);
        if (of.spawn_ns && *of.spawn_ns < at_)
            return explain(of.first_wake_ns ? path_kind::not_started : path_kind::waiting,
                           *of.spawn_ns, none, none);
        if (of.spawn_ns && go_back_to(of.parent)) return;
        explain(path_kind::unknown, levels_.back().from_ns, none, none);
    }

    // The path of a task before its spawn. A task that was spawned in its awaiter's await_suspend
    // is younger than the suspension.
    bool go_back_to(std::uint32_t parent) {
        if (parent >= loaded_.tasks.size()) return false;
        if (levels_.size() > 1 && levels_[levels_.size() - 2].task == parent) {
            const std::int64_t from_ns = levels_.back().from_ns;
            levels_.pop_back();
            explain(path_kind::suspended, from_ns, none, last_await());
            return true;
        }
        if (!met_.insert(scope_owner(parent, none)).second) return false;
        levels_.back().task = parent;
        return true;
    }

    [[nodiscard]] path_wait wait_of(std::uint32_t await, path_kind kind, path_edge edge) const {
        return {.kind = kind, .edge = edge, .task = task(), .await = await};
    }

    // Returns false if the task is unknown, or if the path was already in it at this moment. `wait`
    // is the wait of the level that the path leaves. Its times are set here.
    bool go_on_in(std::uint32_t next, std::int64_t from_ns, path_wait wait) {
        return next < loaded_.tasks.size() && enter(next, none, from_ns, wait);
    }

    bool go_on_in_holder(const held_wait& held, std::int64_t from_ns, path_wait wait) {
        if (levels_.size() >= deepest_holder) return false;
        wait.edge = held.edge;
        wait.resource = held.resource;
        wait.lock_address = held.lock_address;
        wait.lock = held.lock;
        return enter(held.task, held.thread, from_ns, wait);
    }

    bool enter(std::uint32_t task, std::uint32_t thread, std::int64_t from_ns, path_wait wait) {
        met_.insert(scope_owner(levels_.back().task, levels_.back().thread));
        if (!met_.insert(scope_owner(task, thread)).second) return false;
        wait.start_ns = std::max(from_ns, levels_.back().from_ns);
        wait.end_ns = at_;
        wait.through = levels_.back().wait;
        levels_.push_back(
            {task, thread, wait.start_ns, static_cast<std::uint32_t>(path_.waits.size())});
        path_.waits.push_back(wait);
        return true;
    }

    surroundings& around_;
    const trace& loaded_;
    critical_path& path_;  // its segments: the latest first
    std::int64_t at_;      // the path is known from here on
    std::vector<level> levels_;
    std::unordered_set<std::uint64_t> met_;  // owners in which the path was at at_
};

}  // namespace

void walk_back(surroundings& around, std::uint32_t thread, critical_path& path) {
    walker(around, thread, path).walk();
}

}  // namespace coroscope::analysis::inline paths
