// SPDX-License-Identifier: Apache-2.0
#include "group_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <coroscope/analysis/device_statistics.hpp>

#include "../model/missing_facts.hpp"
#include "../words/await_names.hpp"
#include "../words/path_words.hpp"
#include "../words/places.hpp"
#include "charged_work.hpp"
#include "earlier_work.hpp"
#include "waking_work.hpp"

namespace coroscope::analysis::inline paths {
namespace {

constexpr std::int64_t least_work = 5;  // a fifth of a part

using named_site = std::pair<std::string, std::uint32_t>;
using part_key = std::tuple<path_kind, named_site, named_site>;  // kind, place, scope of a wait
using work_key = std::pair<named_site, cause_role>;

struct work_sum {
    std::int64_t time_ns = 0;
    // The only one of each; none if there are several.
    std::uint32_t thread = none;
    std::uint32_t resource = none;
};
using work_sums = std::map<work_key, work_sum>;

struct part_sums {
    std::int64_t slow_ns = 0;
    std::int64_t median_ns = 0;
    work_sums slow_work;
    work_sums median_work;
};

named_site name_of_work(const trace& loaded, std::uint32_t task, std::uint32_t scope) {
    if (scope < loaded.events.size()) {
        const event& at = loaded.events[scope];
        return {loaded.strings[at.name], at.site};
    }
    if (task >= loaded.tasks.size()) return {{}, none};
    const std::uint32_t site = loaded.tasks[task].spawn_site;
    return {site_name(loaded, site), site};
}

// Returns the innermost scope around a wait, except for the scope of a named await itself.
std::uint32_t scope_around(const trace& loaded, const path_segment& segment) {
    const std::uint32_t scope = segment.event;
    if (scope == none || is_placed_by_scope(loaded, loaded.awaits[segment.await])) return scope;
    if (loaded.events[scope].site != segment_site(loaded, segment)) return scope;
    const std::uint32_t outer = loaded.events[scope].parent;
    return outer != none && loaded.events[outer].task == segment.task ? outer : none;
}

// Returns the innermost scope in the waiting task; if there is none, the task. Empty for the
// request itself and its task.
named_site scope_of_wait(const trace& loaded, const critical_path& path,
                         const path_segment& segment) {
    if (segment.await == none) return {{}, none};
    const std::uint32_t scope = scope_around(loaded, segment);
    if (scope == path.event || (scope == none && segment.task == path.task)) return {{}, none};
    return name_of_work(loaded, segment.task, scope);
}

// Divides sums by the size of a group. The results add up to the quotient of the whole sum.
class exact_means {
public:
    explicit exact_means(std::size_t size) : size_(static_cast<std::int64_t>(size)) {}

    std::int64_t next(std::int64_t sum_ns) {
        const std::int64_t before_ns = sum_ns_ / size_;
        add_to(sum_ns_, sum_ns);
        return sum_ns_ / size_ - before_ns;
    }

private:
    std::int64_t size_;
    std::int64_t sum_ns_ = 0;
};

// The sizes of the two groups.
struct group_sizes {
    std::int64_t slow;
    std::int64_t median;
};

// By how much work took longer in the slow requests, as a mean per request.
class more_work {
public:
    more_work(const part_sums& sums, const group_sizes& sizes) {
        for (const auto& [key, sum] : sums.slow_work) add(key, sum.time_ns / sizes.slow);
        for (const auto& [key, sum] : sums.median_work) add(key, -(sum.time_ns / sizes.median));
    }

    [[nodiscard]] std::int64_t of(const work_key& key) const { return by_key_.at(key); }

    /// In all roles: work may have run on one thread while it held a lock for which work on another
    /// one waited.
    [[nodiscard]] std::int64_t of(const named_site& name) const {
        std::int64_t sum_ns = 0;
        for (const auto& [key, time_ns] : by_key_)
            if (key.first == name && analysis::is_work(key.second)) add_to(sum_ns, time_ns);
        return sum_ns;
    }

    [[nodiscard]] std::int64_t of_roles(bool (*is_chosen)(cause_role)) const {
        std::int64_t sum_ns = 0;
        for (const auto& [key, time_ns] : by_key_)
            if (is_chosen(key.second)) add_to(sum_ns, time_ns);
        return sum_ns;
    }

    /// Returns the largest role of the work with the most time in all roles; null if there is none.
    [[nodiscard]] const work_key* largest_work() const {
        const work_key* largest = nullptr;
        const auto size_of = [&](const work_key& key) { return std::pair(of(key.first), of(key)); };
        for (const auto& [key, time_ns] : by_key_)
            if (analysis::is_work(key.second) &&
                (largest == nullptr || size_of(key) > size_of(*largest)))
                largest = &key;
        return largest;
    }

    [[nodiscard]] const work_key* largest_without_work() const {
        const work_key* largest = nullptr;
        for (const auto& [key, time_ns] : by_key_)
            if (is_no_work(key.second) && (largest == nullptr || time_ns > of(*largest)))
                largest = &key;
        return largest;
    }

    static bool is_no_work(cause_role role) { return !analysis::is_work(role); }

private:
    void add(const work_key& key, std::int64_t time_ns) { add_to(by_key_[key], time_ns); }

    std::map<work_key, std::int64_t> by_key_;
};

// Returns the work that explains a fifth of the longer time; without it, why the threads did not
// work for half of that time. Null: neither.
const work_key* cause_of(const more_work& more, std::int64_t more_ns) {
    const work_key* const work = more.largest_work();
    if (work != nullptr && more.of(work->first) > 0 && least_work * more.of(work->first) >= more_ns)
        return work;
    if (2 * more.of_roles(more_work::is_no_work) < more_ns) return nullptr;
    return more.largest_without_work();
}

// Returns the part of the longer time that has a place or a cause.
std::int64_t explained_ns(const request_difference& part, const more_work& more) {
    const std::int64_t most_ns = std::max<std::int64_t>(part.more_ns(), 0);
    const auto between = [&](std::int64_t time_ns) {
        return std::clamp<std::int64_t>(time_ns, 0, most_ns);
    };
    switch (part.kind) {
        case path_kind::unknown: return 0;
        case path_kind::queued: return between(more.of_roles(analysis::is_work));
        case path_kind::waiting:
            return between(more.of_roles([](cause_role role) { return role == cause_role::held; }));
        default: break;
    }
    return most_ns -
           between(more.of_roles([](cause_role role) { return role == cause_role::unknown; }));
}

class part_collection {
public:
    part_collection(const trace& loaded, const std::vector<critical_path>& paths)
        : loaded_(loaded), charged_(loaded), waking_(loaded, paths), devices_(loaded) {}

    void add(const critical_path& path, bool is_slow) {
        const std::vector<std::uint32_t> earlier = earlier_work(loaded_, path);
        for (std::size_t at = 0; at < path.segments.size(); ++at) {
            if (earlier[at] != none) {
                add_unproven(path, path.segments[at], path.waits[earlier[at]], is_slow);
                continue;
            }
            const path_segment& each = path.segments[at];
            const named_site scope = scope_of_wait(loaded_, path, each);
            part_sums& sums = parts_[{each.kind, place_of(each), scope}];
            add_to(is_slow ? sums.slow_ns : sums.median_ns, each.length_ns());
            add_causes(is_slow ? sums.slow_work : sums.median_work, path, each, scope);
        }
    }

    [[nodiscard]] std::vector<request_difference> result(std::size_t slow,
                                                         std::size_t median) const {
        std::vector<request_difference> made;
        exact_means slow_ns(slow);
        exact_means median_ns(median);
        for (const auto& [key, sums] : parts_) {
            request_difference part;
            part.kind = std::get<0>(key);
            std::tie(part.label, part.site) = std::get<1>(key);
            std::tie(part.scope, part.scope_site) = std::get<2>(key);
            part.slow_ns = slow_ns.next(sums.slow_ns);
            part.median_ns = median_ns.next(sums.median_ns);
            set_cause(part, sums,
                      {static_cast<std::int64_t>(slow), static_cast<std::int64_t>(median)});
            made.push_back(std::move(part));
        }
        std::ranges::stable_sort(made, std::ranges::greater(), &request_difference::more_ns);
        return made;
    }

private:
    [[nodiscard]] named_site place_of(const path_segment& segment) const {
        return {segment_label(loaded_, segment), segment_site(loaded_, segment)};
    }

    void add_causes(work_sums& work, const critical_path& path, const path_segment& segment,
                    const named_site& scope) const {
        for (const std::uint32_t at : segment.blame)
            charged_.for_each(segment, path.blame[at],
                              [&](const charge& each) { add_charge(work, each, each.time_ns); });
        std::int64_t left_ns = segment.length_ns();
        const auto add = [&](const charge& each) {
            const std::int64_t time_ns = std::min(left_ns, each.time_ns);
            left_ns -= time_ns;
            add_charge(work, each, time_ns);
        };
        // A running thread may be blocked, if its states were not recorded.
        if (segment.kind == path_kind::blocked || segment.kind == path_kind::running)
            waking_.for_each_producer(segment, add);
        if (segment.kind == path_kind::running &&
            lacks_states(loaded_, segment.thread, segment.start_ns, segment.end_ns))
            add({.thread = segment.thread, .role = cause_role::unknown, .time_ns = left_ns});
        if (segment.kind != path_kind::suspended && segment.kind != path_kind::waiting) return;
        charged_.for_each_holder(segment, add);
        left_ns -= add_device(work, segment, left_ns);
        if (const charge waking = waking_.of(segment, path.start_ns); waking.scope != none)
            add(waking);
        if (segment.kind == path_kind::suspended && !scope.first.empty() && left_ns > 0)
            add_work(work, {scope, cause_role::waited}, {left_ns});
    }

    // Adds time in which the request waited for a waker that did something else.
    void add_unproven(const critical_path& path, const path_segment& segment,
                      const path_wait& own_wait, bool is_slow) {
        path_segment waiting = segment_of(own_wait);
        waiting.kind = path_kind::waiting;
        part_sums& sums =
            parts_[{waiting.kind, place_of(waiting), scope_of_wait(loaded_, path, waiting)}];
        add_to(is_slow ? sums.slow_ns : sums.median_ns, segment.length_ns());
    }

    // Adds the device work for which the task waited, and returns its time.
    std::int64_t add_device(work_sums& work, const path_segment& segment,
                            std::int64_t most_ns) const {
        if (segment.await == none) return 0;
        const std::int64_t time_ns = std::min(most_ns, devices_.of(segment.await).covered_ns);
        if (time_ns <= 0) return 0;
        const std::uint32_t longest = awaited_work(loaded_, segment.await).longest;
        std::string kernel;
        if (longest < loaded_.device_activities.size())
            kernel = loaded_.strings[loaded_.device_activities[longest].name];
        add_work(work, {{std::move(kernel), none}, cause_role::device}, {time_ns});
        return time_ns;
    }

    void add_charge(work_sums& work, const charge& of, std::int64_t time_ns) const {
        const named_site name = analysis::is_work(of.role)
                                    ? name_of_work(loaded_, of.task, of.scope)
                                    : named_site{{}, none};
        // A task may hold something while it is on no thread.
        const bool is_on_thread = of.role != cause_role::held || of.task == none;
        add_work(work, {name, of.role}, {time_ns, is_on_thread ? of.thread : none, of.resource});
    }

    static void add_work(work_sums& work, const work_key& key, const work_sum& added) {
        const auto [found, is_new] = work.try_emplace(key, added);
        if (is_new) return;
        work_sum& sum = found->second;
        add_to(sum.time_ns, added.time_ns);
        if (sum.thread != added.thread) sum.thread = none;
        if (sum.resource != added.resource) sum.resource = none;
    }

    static void set_cause(request_difference& part, const part_sums& sums,
                          const group_sizes& sizes) {
        const more_work more(sums, sizes);
        part.explained_ns = explained_ns(part, more);
        const work_key* const chosen = cause_of(more, part.more_ns());
        if (chosen == nullptr) return;
        const auto slow = sums.slow_work.find(*chosen);
        if (slow == sums.slow_work.end()) return;
        difference_cause& cause = part.cause.emplace();
        std::tie(cause.label, cause.site) = chosen->first;
        cause.role = chosen->second;
        cause.thread = slow->second.thread;
        cause.resource = slow->second.resource;
        cause.time_ns = slow->second.time_ns / sizes.slow;
        cause.more_ns = analysis::is_work(cause.role) ? more.of(chosen->first) : more.of(*chosen);
    }

    const trace& loaded_;
    charged_work charged_;
    waking_work waking_;
    device_coverage devices_;
    std::map<part_key, part_sums> parts_;
};

}  // namespace

group_differences differences_of(const trace& loaded, std::span<const request_info> slow,
                                 std::span<const request_info> median) {
    std::vector<request_info> both(slow.begin(), slow.end());
    both.insert(both.end(), median.begin(), median.end());
    const std::vector<critical_path> paths =
        critical_paths(loaded, both, {.through_holders = false});
    part_collection parts(loaded, paths);
    for (std::size_t at = 0; at < paths.size(); ++at) parts.add(paths[at], at < slow.size());
    return {parts.result(slow.size(), median.size()), uses_of(loaded, paths, slow.size())};
}

}  // namespace coroscope::analysis::inline paths
