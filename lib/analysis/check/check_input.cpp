// SPDX-License-Identifier: Apache-2.0
#include "check_input.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "../model/requests.hpp"
#include "../words/request_words.hpp"
#include "path_delays.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// A program cannot win less than this by any change.
constexpr std::int64_t least_cost_ns = 1'000'000;

// A request's tasks that await each other deeper are not followed.
constexpr int deepest_nesting = 16;

bool is_followed(const request_info& request) { return request.is_whole() && !request.left_out; }

// Tasks that ended and that no other task awaits.
std::vector<request_info> whole_tasks(const trace& loaded) {
    std::vector<request_info> made;
    for (std::uint32_t task = 0; task < loaded.tasks.size(); ++task) {
        const task_info& each = loaded.tasks[task];
        if (each.awaiter == none && each.end_ns && each.first_wake_ns)
            made.push_back(request_of_task(loaded, task));
    }
    number_requests(made);
    return made;
}

template <class Delay>
void sort_by_request(std::vector<Delay>& delays) {
    std::ranges::stable_sort(delays, {}, &Delay::request);
}

// Returns the numbers below `count` in an order of which each beginning is spread evenly: each
// number is about 0.618 of the count after the one before.
std::vector<std::uint32_t> spread_order(std::size_t count) {
    constexpr double golden = 0.6180339887498949;
    auto step = static_cast<std::size_t>(static_cast<double>(count) * golden) + 1;
    while (std::gcd(step, count) > 1) ++step;
    std::vector<std::uint32_t> made(count);
    std::size_t at = 0;
    for (std::uint32_t& each : made) {
        each = static_cast<std::uint32_t>(at);
        at = (at + step) % count;
    }
    return made;
}

}  // namespace

check_input::check_input(const trace& loaded, const check_options& options)
    : loaded_(loaded),
      list_(requests_of(loaded)),
      stalled_of_executors_(loaded.executors.size() + 1),
      places_(loaded) {
    choose_requests(options.most_requests);
    follow_paths(options.most_segments);
    sort_requests();
    sort_events();
}

void check_input::choose_requests(std::size_t most_followed) {
    if (list_.guessed) basis_ = finding_basis::guessed_requests;
    if (std::ranges::none_of(list_.requests, is_followed)) {
        list_.requests = whole_tasks(loaded_);
        basis_ = finding_basis::tasks;
    }
    is_request_.resize(loaded_.events.size());
    for (const request_info& each : list_.requests) {
        if (each.event < is_request_.size()) is_request_[each.event] = true;
        if (is_followed(each)) requests_.push_back({each});
    }
    whole_requests_ = requests_.size();
    if (requests_.size() <= most_followed) return;
    std::vector<checked_request> chosen;
    chosen.reserve(most_followed);
    for (std::size_t at = 0; at < most_followed; ++at)
        chosen.push_back(requests_[at * requests_.size() / most_followed]);
    requests_ = std::move(chosen);
}

void check_input::follow_paths(std::size_t most_segments) {
    const std::vector<std::uint32_t> order = spread_order(requests_.size());
    std::vector<request_info> followed;
    followed.reserve(order.size());
    for (const std::uint32_t each : order) followed.push_back(requests_[each].info);
    path_delays delays(loaded_);
    auto next = order.begin();
    const std::size_t found = for_each_critical_path(
        loaded_, followed, {}, most_segments, [&](const critical_path& path) {
            delays.add(*next, path);
            checked_request& request = requests_[*next++];
            request.stalled = delays.stalled_of_last();
            request.unproven_ns = delays.unproven_ns_of_last();
            add_to(request_ns_, request.info.wall_ns());
            stalled_.add(request.stalled);
        });
    queued_ = delays.take_queued();
    held_ = delays.take_held();
    turns_ = delays.take_turns();
    stalled_of_executors_ = delays.take_stalled();
    sort_by_request(queued_);
    sort_by_request(held_);
    sort_by_request(turns_);
    if (found < order.size()) keep_requests(std::span(order).first(found));
}

// Removes the other requests. `kept`: indices into requests_, among them those of all delays.
void check_input::keep_requests(std::span<const std::uint32_t> kept) {
    std::vector<std::uint32_t> places(requests_.size(), none);
    for (const std::uint32_t each : kept) places[each] = 0;
    std::vector<checked_request> chosen;
    for (std::size_t at = 0; at < places.size(); ++at) {
        if (places[at] == none) continue;
        places[at] = static_cast<std::uint32_t>(chosen.size());
        chosen.push_back(requests_[at]);
    }
    requests_ = std::move(chosen);
    const auto move_all = [&](auto& delays) {
        for (auto& each : delays) each.request = places[each.request];
    };
    move_all(queued_);
    move_all(held_);
    move_all(turns_);
}

void check_input::sort_requests() {
    for (std::uint32_t at = 0; at < requests_.size(); ++at)
        if (const std::uint32_t task = requests_[at].info.task; task != none)
            own_.push_back({task, at, requests_[at].info.end_ns});
    std::ranges::stable_sort(own_, {}, &own_request::task);
    for (std::size_t at = 1; at < own_.size(); ++at)
        if (own_[at].task == own_[at - 1].task)
            own_[at].latest_end_ns = std::max(own_[at].latest_end_ns, own_[at - 1].latest_end_ns);
}

std::uint32_t check_input::request_at(std::uint32_t task, std::int64_t time_ns) const {
    for (int depth = 0; depth < deepest_nesting && task < loaded_.tasks.size(); ++depth) {
        const auto after = std::ranges::partition_point(own_, [&](const own_request& each) {
            return each.task < task ||
                   (each.task == task && requests_[each.request].info.start_ns <= time_ns);
        });
        for (auto at = after; at != own_.begin();) {
            --at;
            if (at->task != task || at->latest_end_ns < time_ns) break;
            if (requests_[at->request].info.end_ns >= time_ns) return at->request;
        }
        const task_info& of = loaded_.tasks[task];
        task = of.awaiter != none ? of.awaiter : of.parent;
    }
    return none;
}

void check_input::sort_events() {
    event_starts_.assign(loaded_.tasks.size() + 1, 0);
    for (const event& each : loaded_.events)
        if (each.task < loaded_.tasks.size()) ++event_starts_[each.task + 1];
    std::partial_sum(event_starts_.begin(), event_starts_.end(), event_starts_.begin());
    event_order_.resize(event_starts_.back());
    std::vector<std::uint32_t> next(event_starts_.begin(), event_starts_.end() - 1);
    for (std::uint32_t at = 0; at < loaded_.events.size(); ++at)
        if (const std::uint32_t task = loaded_.events[at].task; task < next.size())
            event_order_[next[task]++] = at;
}

const stalled_time& check_input::stalled_of(std::uint32_t executor) const {
    return stalled_of_executors_[std::min<std::size_t>(executor, stalled_of_executors_.size() - 1)];
}

bool check_input::is_worth(std::int64_t cost_ns, double share) const noexcept {
    const auto program_ns = static_cast<double>(request_ns_ - stalled_.total_ns());
    return cost_ns >= least_cost_ns && static_cast<double>(cost_ns) >= share * program_ns;
}

double check_input::share_of(std::int64_t cost_ns) const noexcept {
    if (request_ns_ <= 0) return 0;
    return std::min(1.0, static_cast<double>(cost_ns) / static_cast<double>(request_ns_));
}

bool check_input::is_complete() const noexcept {
    const trace_health& health = loaded_.health;
    return health.finished && !health.being_recorded && !health.partial && !health.lost_records() &&
           health.damaged_chunks == 0 && health.warnings.empty() && health.left_out_requests == 0 &&
           loaded_.all_threads;
}

std::span<const std::uint32_t> check_input::events_of(std::uint32_t task) const {
    if (task >= loaded_.tasks.size()) return {};
    return std::span(event_order_)
        .subspan(event_starts_[task], event_starts_[task + 1] - event_starts_[task]);
}

std::uint32_t check_input::kind_of(std::uint32_t task) {
    if (task >= loaded_.tasks.size()) return none;
    const auto own = events_of(task);
    const std::uint64_t key = own.empty()
                                  ? std::uint64_t{none} << 32 | loaded_.tasks[task].spawn_site
                                  : std::uint64_t{loaded_.events[own.front()].name} << 32 |
                                        loaded_.events[own.front()].site;
    return kinds_.try_emplace(key, static_cast<std::uint32_t>(kinds_.size())).first->second;
}

bool check_input::may_lack_first_scope(std::uint32_t task) const noexcept {
    return loaded_.health.open_scopes_unknown && !loaded_.tasks[task].end_ns;
}

bool check_input::may_be_of_one_kind(std::uint32_t task, std::uint32_t other) {
    if (kind_of(task) == kind_of(other)) return true;
    const std::size_t tasks = loaded_.tasks.size();
    return task < tasks && other < tasks &&
           loaded_.tasks[task].spawn_site == loaded_.tasks[other].spawn_site &&
           (may_lack_first_scope(task) || may_lack_first_scope(other));
}

finding_place check_input::type_of(const checked_request& request) const {
    return {request_name(loaded_, request.info), request.info.site};
}

finding_place check_input::work_at(std::uint32_t task, std::uint32_t scope) {
    if (task >= loaded_.tasks.size() && scope >= loaded_.events.size()) return {};
    const numbered_place& found =
        places_[places_.of_work(task, scope < loaded_.events.size() ? scope : none)];
    return {found.label, found.site};
}

finding_place check_input::wait_at(const await_info& await) {
    if (await.scope >= loaded_.events.size() || is_request_[await.scope]) return await_at(await);
    return work_at(await.task, await.scope);
}

finding_place check_input::await_at(const await_info& await) {
    const numbered_place& found = places_[places_.of_await(await)];
    return {found.label, found.site};
}

}  // namespace coroscope::analysis::inline checks
