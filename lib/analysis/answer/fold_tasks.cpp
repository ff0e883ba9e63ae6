// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/fold_tasks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../text/glob.hpp"
#include "../words/await_names.hpp"

namespace coroscope::analysis {
namespace {

// The pattern or the library that folds the site's tasks; empty if none does.
std::string folder_of(const std::string& title, const fold_options& options) {
    for (const std::string& pattern : options.patterns)
        if (matches_glob(pattern, title)) return pattern;
    if (!options.libraries) return {};
    for (const library_coroutines& each : known_library_coroutines())
        if (matches_glob(each.pattern, title)) return std::string(each.library);
    return {};
}

// For each task the nearest shown task: itself, or the first on the chain of next(). `none` if the
// chain ends before.
template <class Next>
std::vector<std::uint32_t> nearest_shown(const std::vector<bool>& folded, Next next) {
    constexpr std::uint32_t unknown = none - 1;
    std::vector<std::uint32_t> nearest(folded.size(), unknown);
    std::vector<std::uint32_t> way;
    for (std::uint32_t task = 0; task < folded.size(); ++task) {
        std::uint32_t at = task;
        for (way.clear(); at < folded.size() && folded[at] && nearest[at] == unknown;
             at = next(at)) {
            nearest[at] = none;  // a cycle, which only damage can cause, has no shown task
            way.push_back(at);
        }
        const bool is_known = at < folded.size() && folded[at];
        const std::uint32_t found = at >= folded.size() ? none : is_known ? nearest[at] : at;
        for (const std::uint32_t each : way) nearest[each] = found;
        if (!folded[task]) nearest[task] = task;
    }
    return nearest;
}

class folding {
public:
    folding(trace& loaded, const fold_options& options) : loaded_(loaded), read_(loaded) {
        choose(options);
        keep_requests();
        keep_roots_with_scopes();
    }

    [[nodiscard]] bool is_empty() const {
        return std::ranges::find(folded_, true) == folded_.end();
    }

    void apply() {
        parents_ = nearest_shown(folded_, [this](std::uint32_t at) { return task(at).parent; });
        awaiters_ = nearest_shown(folded_, [this](std::uint32_t at) { return task(at).awaiter; });
        heirs_ = nearest_shown(folded_, [this](std::uint32_t at) { return above(at); });
        awaited_ = nearest_shown(folded_, [this](std::uint32_t at) { return awaited_by(at); });
        find_wakers();
        find_serving_awaits();
        add_up();
        number_tasks();
        move_awaits();
        move_slices();
        move_tasks();
        rename_tasks();
    }

private:
    [[nodiscard]] task_info task(std::uint32_t at) const { return read_.tasks[at]; }
    [[nodiscard]] bool is_folded(std::uint32_t at) const {
        return at < folded_.size() && folded_[at];
    }

    void choose(const fold_options& options) {
        by_site_.resize(loaded_.sites.size());
        for (std::uint32_t site = 0; site < by_site_.size(); ++site)
            by_site_[site] = folder_of(site_name(loaded_, site), options);
        folded_.resize(loaded_.tasks.size());
        for (std::uint32_t at = 0; at < folded_.size(); ++at)
            folded_[at] =
                task(at).spawn_site < by_site_.size() && !by_site_[task(at).spawn_site].empty();
    }

    // The awaiter of a folded task, else its parent.
    [[nodiscard]] std::uint32_t above(std::uint32_t at) const {
        return task(at).awaiter < folded_.size() ? task(at).awaiter : task(at).parent;
    }

    void keep_roots_with_scopes() {
        if (is_empty()) return;
        const auto heirs = nearest_shown(folded_, [this](std::uint32_t at) { return above(at); });
        for (const event& scope : loaded_.events)
            if (is_folded(scope.task) && heirs[scope.task] == none) folded_[scope.task] = false;
    }

    void keep_requests() {
        for (const request_info& each : loaded_.requests)
            if (each.event == none && is_folded(each.task)) folded_[each.task] = false;
    }

    [[nodiscard]] std::uint32_t awaited_by(std::uint32_t at) const {
        std::uint32_t longest = none;
        std::int64_t longest_ns = -1;
        for (const std::uint32_t index : task(at).awaits) {
            const await_info& await = read_.awaits[index];
            const std::int64_t end_ns = await.resume_ns.value_or(loaded_.duration_ns);
            if (await.awaited == none || end_ns - await.suspend_ns <= longest_ns) continue;
            longest = await.awaited;
            longest_ns = end_ns - await.suspend_ns;
        }
        return longest;
    }

    // Finds for each await the shown task that woke it. If the waker is folded, the search goes on
    // with the task that woke the waker, and so on.
    void find_wakers() {
        constexpr std::uint32_t unknown = none - 1;
        find_wakes();
        wakers_.assign(loaded_.awaits.size(), unknown);
        std::vector<std::uint32_t> way;
        for (std::uint32_t index = 0; index < wakers_.size(); ++index) {
            std::uint32_t at = index;
            for (way.clear(); at != none && wakers_[at] == unknown; at = wake_before(at)) {
                way.push_back(at);
                if (!is_folded(read_.awaits[at].waker)) break;
                wakers_[at] = none;  // a cycle, which only damage can cause, has no shown task
            }
            const bool is_shown = !way.empty() && at == way.back();
            const std::uint32_t found = at == none ? none
                                        : is_shown ? read_.awaits[at].waker
                                                   : wakers_[at];
            for (const std::uint32_t each : way) wakers_[each] = found;
        }
    }

    // Finds for each await the last await of its task, up to this one, that another task may have
    // ended. An operation that completed at once does not count, because its task went on running.
    void find_wakes() {
        wakes_.assign(loaded_.awaits.size(), none);
        for (const task_info& each : loaded_.tasks) {
            std::uint32_t last = none;
            for (const std::uint32_t index : each.awaits) {
                const await_info& await = read_.awaits[index];
                if (!await.at_once || await.waker != none) last = index;
                wakes_[index] = last;
            }
        }
    }

    // Returns the await of the waker after whose end the waker ran and woke this await.
    [[nodiscard]] std::uint32_t wake_before(std::uint32_t index) const {
        const await_info& woken = read_.awaits[index];
        const std::int64_t time_ns =
            woken.wake_ns.value_or(woken.resume_ns.value_or(loaded_.duration_ns));
        const index_range awaits = task(woken.waker).awaits;
        if (awaits.empty()) return none;
        const auto first = loaded_.awaits.begin() + awaits.front();
        auto after =
            std::ranges::upper_bound(first, first + static_cast<std::ptrdiff_t>(awaits.size()),
                                     time_ns, {}, &await_info::suspend_ns);
        if (after != first && std::prev(after)->resume_ns.value_or(time_ns + 1) > time_ns) --after;
        const auto before = static_cast<std::uint32_t>(after - first);
        return before == 0 ? none : wakes_[awaits[before - 1]];
    }

    // For each task the last await that awaits it.
    void find_serving_awaits() {
        serving_.assign(folded_.size(), none);
        for (std::uint32_t index = 0; index < loaded_.awaits.size(); ++index)
            if (read_.awaits[index].awaited < serving_.size())
                serving_[read_.awaits[index].awaited] = index;
    }

    // The shown await during which an await of a folded task took place. The number of steps is
    // bounded, because damage may cause a cycle.
    [[nodiscard]] std::uint32_t shown_await(std::uint32_t await) const {
        for (std::size_t steps = 0; await != none && steps < folded_.size(); ++steps) {
            const std::uint32_t of = read_.awaits[await].task;
            if (!is_folded(of)) return await;
            await = serving_[of];
        }
        return none;
    }

    void add_up() {
        trace_health& health = loaded_.health;
        for (std::uint32_t at = 0; at < folded_.size(); ++at) {
            if (!folded_[at]) continue;
            ++health.folded_tasks;
            add_to(health.folded_running_ns, task(at).time.running_ns);
            add_to(health.folded_queued_ns, task(at).time.queued_ns);
            add_to(health.folded_waiting_ns, task(at).time.waiting_ns);
            const std::string& by = by_site_[task(at).spawn_site];
            if (std::ranges::find(health.folded_by, by) == health.folded_by.end())
                health.folded_by.push_back(by);
        }
        std::ranges::sort(health.folded_by);
    }

    void number_tasks() {
        numbers_.assign(folded_.size(), none);
        std::uint32_t next = 0;
        for (std::uint32_t at = 0; at < folded_.size(); ++at)
            if (!folded_[at]) numbers_[at] = next++;
    }

    // The new number of the shown task that `by` has for a task.
    [[nodiscard]] std::uint32_t renamed(std::uint32_t at,
                                        const std::vector<std::uint32_t>& by) const {
        if (at >= by.size() || by[at] == none) return none;
        return numbers_[by[at]];
    }

    void move_awaits() {
        std::vector<std::uint32_t> numbers(loaded_.awaits.size(), none);
        std::uint32_t next = 0;
        for (std::uint32_t at = 0; at < numbers.size(); ++at)
            if (!is_folded(read_.awaits[at].task)) numbers[at] = next++;
        for (device_wait& wait : loaded_.device_waits) {
            const std::uint32_t shown =
                wait.await < numbers.size() ? shown_await(wait.await) : none;
            wait.await = shown == none ? none : numbers[shown];
        }
        std::ranges::stable_sort(loaded_.device_waits, {}, [](const device_wait& wait) {
            return std::tuple(wait.await, wait.context, wait.stream);
        });
        loaded_.awaits.update([this](await_info& await, std::size_t at) {
            await.waker = wakers_[at] < numbers_.size() ? numbers_[wakers_[at]] : none;
            return true;
        });
        loaded_.awaits.remove_if([this](const await_info& each) { return is_folded(each.task); });
        loaded_.awaits.update([this](await_info& await, std::size_t) {
            await.task = numbers_[await.task];
            await.awaited = renamed(await.awaited, awaited_);
            return true;
        });
    }

    void move_slices() {
        loaded_.slices.remove_if([this](const slice& each) { return is_folded(each.task); });
        loaded_.slices.update([this](slice& each, std::size_t) {
            if (each.task != none) each.task = numbers_[each.task];
            return true;
        });
    }

    // Moves the shown tasks to the front, with their slices and awaits, which are in the order of
    // their tasks.
    void move_tasks() {
        std::uint32_t first_slice = 0, first_await = 0;
        packed_list<task_info> kept;
        for (std::uint32_t at = 0; at < folded_.size(); ++at) {
            if (folded_[at]) continue;
            task_info moved = task(at);
            moved.parent = renamed(moved.parent, parents_);
            moved.awaiter = renamed(moved.awaiter, awaiters_);
            const auto slices = static_cast<std::uint32_t>(moved.slices.size());
            const auto awaits = static_cast<std::uint32_t>(moved.awaits.size());
            moved.slices = {first_slice, slices};
            moved.awaits = {first_await, awaits};
            first_slice += slices;
            first_await += awaits;
            kept.append(moved);
        }
        loaded_.tasks = std::move(kept);
    }

    void rename_tasks() {
        for (event& each : loaded_.events) each.task = renamed(each.task, heirs_);
        for (stream_info& each : loaded_.streams) each.task = renamed(each.task, heirs_);
        for (device_activity& each : loaded_.device_activities)
            each.task = renamed(each.task, heirs_);
        for (device_wait& each : loaded_.device_waits) each.task = renamed(each.task, heirs_);
        for (device_range& each : loaded_.device_ranges) each.task = renamed(each.task, heirs_);
        for (resource_wait& each : loaded_.resource_waits)
            for (std::uint32_t* task : {&each.task, &each.holder_task, &each.releaser_task})
                *task = renamed(*task, heirs_);
        for (blocking_call& each : loaded_.blocking_calls) each.task = renamed(each.task, heirs_);
        for (request_info& each : loaded_.requests) each.task = renamed(each.task, heirs_);
        for (value_info& each : loaded_.values) each.task = renamed(each.task, heirs_);
        for (lock_wait& each : loaded_.lock_waits)
            for (thread_work* work : {&each.waiter, &each.holder, &each.releaser})
                work->task = renamed(work->task, heirs_);
    }

    trace& loaded_;
    const trace& read_;  // the same, whose lists stay packed
    std::vector<std::string> by_site_;
    std::vector<bool> folded_;
    // For each task the shown task that replaces it as a parent, as an awaiter, as the task of a
    // scope and as an awaited task.
    std::vector<std::uint32_t> parents_, awaiters_, heirs_, awaited_;
    std::vector<std::uint32_t> wakers_, wakes_;  // by await; see find_wakers() and find_wakes()
    std::vector<std::uint32_t> serving_;
    std::vector<std::uint32_t> numbers_;
};

}  // namespace

trace fold_tasks(trace loaded, const fold_options& options) {
    folding fold(loaded, options);
    if (!fold.is_empty()) fold.apply();
    return loaded;
}

}  // namespace coroscope::analysis
