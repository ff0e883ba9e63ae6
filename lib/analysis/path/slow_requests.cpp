// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/slow_requests.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "../words/request_words.hpp"
#include "group_parts.hpp"
#include "requests_of_type.hpp"

namespace coroscope::analysis {
namespace {

constexpr std::size_t most_compared = 50;  // of each group
constexpr std::size_t fewest_slow = 5;     // candidates, if the requests are at least twice as many
constexpr std::size_t slow_share = 100;    // one of 100 requests is a candidate
constexpr std::int64_t least_excess = 4;   // 4: a quarter of the excess of the slowest request
constexpr std::size_t median_share = 5;    // one of 5 requests is a median one
// Slow requests began together if these are so many, and at least half of all. Median requests that
// began meanwhile may have a quarter of that share. Otherwise it may be the usual load.
constexpr std::uint64_t fewest_together = 3;
constexpr std::uint64_t least_times_together = 4;

using requests = std::vector<request_info>;

// Returns the slow ones of these requests, the slowest first. A single outlier is not mixed with
// requests that are hardly slower than the median.
requests slow_of(const requests& sorted) {
    const std::size_t candidates = std::min(
        std::clamp(sorted.size() / slow_share, fewest_slow, most_compared), sorted.size() / 2);
    const std::int64_t median_ns = sorted[sorted.size() / 2].wall_ns();
    const std::int64_t excess_ns = sorted.back().wall_ns() - median_ns;
    requests slow;
    for (auto each = sorted.rbegin(); slow.size() < candidates; ++each) {
        if ((each->wall_ns() - median_ns) < excess_ns / least_excess) break;
        slow.push_back(*each);
    }
    return slow;
}

requests median_of(const requests& sorted) {
    const std::size_t count =
        std::clamp<std::size_t>(sorted.size() / median_share, 1, most_compared);
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - count) / 2);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
}

std::vector<std::uint64_t> ids_of(const requests& group) {
    std::vector<std::uint64_t> ids;
    for (const request_info& each : group) ids.push_back(each.id);
    return ids;
}

std::int64_t mean_wall_ns(const requests& group) {
    std::int64_t sum_ns = 0;
    for (const request_info& each : group) add_to(sum_ns, each.wall_ns());
    return sum_ns / static_cast<std::int64_t>(group.size());
}

// Sets the shares of the parts. Returns the unexplained share of the parts that are
// longer in the slow requests.
double add_shares(std::vector<request_difference>& differences) {
    std::int64_t more_ns = 0;
    std::int64_t grown_ns = 0;
    std::int64_t unexplained_ns = 0;
    for (const request_difference& each : differences) {
        const std::int64_t part_ns = std::max<std::int64_t>(each.more_ns(), 0);
        add_to(more_ns, each.more_ns());
        add_to(grown_ns, part_ns);
        add_to(unexplained_ns, part_ns - each.explained_ns);
    }
    for (request_difference& each : differences)
        each.share =
            more_ns > 0 ? static_cast<double>(each.more_ns()) / static_cast<double>(more_ns) : 0;
    return grown_ns > 0 ? static_cast<double>(unexplained_ns) / static_cast<double>(grown_ns) : 0;
}

// Counts the requests that were in progress at a moment.
class requests_in_progress {
public:
    explicit requests_in_progress(const request_list& list) {
        for (const request_info& each : list.requests) {
            starts_.push_back(each.start_ns);
            ends_.push_back(each.end_ns);
        }
        std::ranges::sort(starts_);
        std::ranges::sort(ends_);
    }

    // The mean number of others at the starts of a group.
    [[nodiscard]] double beside(const requests& group) const {
        double sum = 0;
        for (const request_info& each : group) {
            const auto begun = std::ranges::upper_bound(starts_, each.start_ns) - starts_.begin();
            const auto ended = std::ranges::upper_bound(ends_, each.start_ns) - ends_.begin();
            sum += static_cast<double>(std::max<std::ptrdiff_t>(begun - ended - 1, 0));
        }
        return sum / static_cast<double>(group.size());
    }

private:
    std::vector<std::int64_t> starts_;
    std::vector<std::int64_t> ends_;
};

request_burst burst_of(const requests& slow, const requests& median, std::int64_t window_ns) {
    std::vector<std::int64_t> starts;
    for (const request_info& each : slow) starts.push_back(each.start_ns);
    std::ranges::sort(starts);
    request_burst found;
    for (auto first = starts.begin(), last = first; first != starts.end(); ++first) {
        while (last != starts.end() && *last - *first <= window_ns) ++last;
        if (const auto count = static_cast<std::uint64_t>(last - first); count > found.requests)
            found = {count, 0, *first, *(last - 1) - *first};
    }
    found.median =
        static_cast<std::uint64_t>(std::ranges::count_if(median, [&](const request_info& each) {
            return each.start_ns - found.start_ns <= window_ns &&
                   found.start_ns + found.ns - each.start_ns <= window_ns;
        }));
    const bool is_burst =
        found.requests >= fewest_together && 2 * found.requests >= slow.size() &&
        found.requests * median.size() >= least_times_together * found.median * slow.size();
    return is_burst ? found : request_burst();
}

std::uint32_t attribute_of(const trace& loaded, const request_info& request) {
    if (request.event != none) return loaded.events[request.event].attribute;
    return request.task < loaded.tasks.size() ? loaded.tasks[request.task].attribute : none;
}

using attribute_shares = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

// The share of the requests that carry each key and value; the innermost value of a key counts.
attribute_shares shares_of(const trace& loaded, const requests& group) {
    attribute_shares shares;
    for (const request_info& each : group) {
        std::set<std::uint32_t> met;
        for (std::uint32_t at = attribute_of(loaded, each); at != none;
             at = loaded.attributes[at].parent) {
            const attribute_info& attribute = loaded.attributes[at];
            if (attribute.unknown) break;
            if (met.insert(attribute.key).second)
                shares[{attribute.key, attribute.value}] += 1 / static_cast<double>(group.size());
        }
    }
    return shares;
}

std::vector<attribute_difference> attributes_of(const trace& loaded, const requests& slow,
                                                const requests& median) {
    const attribute_shares of_median = shares_of(loaded, median);
    std::vector<attribute_difference> found;
    for (const auto& [name, share] : shares_of(loaded, slow)) {
        const auto other = of_median.find(name);
        const double less = other == of_median.end() ? 0 : other->second;
        if (is_typical_of_slow(share, less))
            found.push_back({loaded.strings[name.first], loaded.strings[name.second], share, less});
    }
    sort_by_share(found);
    return found;
}

slow_requests compared(const trace& loaded, const request_list& list, const requests& sorted,
                       const requests& slow) {
    const requests median = median_of(sorted);
    slow_requests made;
    made.slow = ids_of(slow);
    made.median = ids_of(median);
    made.slow_wall_ns = mean_wall_ns(slow);
    made.median_wall_ns = mean_wall_ns(median);
    group_differences found = differences_of(loaded, slow, median);
    made.differences = std::move(found.parts);
    made.threads = std::move(found.uses.threads);
    made.executors = std::move(found.uses.executors);
    made.unexplained_share = add_shares(made.differences);
    made.name = request_name(loaded, sorted.front());
    made.requests = sorted.size();
    const requests_in_progress progress(list);
    made.slow_in_progress = progress.beside(slow);
    made.median_in_progress = progress.beside(median);
    made.attributes = attributes_of(loaded, slow, median);
    made.burst = burst_of(slow, median, made.median_wall_ns);
    return made;
}

// Returns the type of the slowest request, among the types with enough requests to compare.
std::string slowest_compared_type(const trace& loaded, const request_list& list) {
    struct extent {
        std::size_t count = 0;
        std::int64_t longest_ns = 0;
    };
    std::map<std::string, extent> types;
    for (const request_info& each : list.requests) {
        if (!each.is_whole() || each.left_out) continue;
        extent& type = types[request_name(loaded, each)];
        ++type.count;
        type.longest_ns = std::max(type.longest_ns, each.wall_ns());
    }
    const std::pair<const std::string, extent>* slowest = nullptr;
    for (const auto& each : types)
        if (each.second.count >= fewest_compared_requests &&
            (slowest == nullptr || each.second.longest_ns > slowest->second.longest_ns))
            slowest = &each;
    return slowest == nullptr ? std::string() : slowest->first;
}

}  // namespace

std::string_view name_of(cause_role role) noexcept {
    switch (role) {
        case cause_role::ran: return "ran";
        case cause_role::held: return "held";
        case cause_role::waited: return "waited";
        case cause_role::woke: return "woke";
        case cause_role::device: return "device";
        case cause_role::idle: return "idle";
        case cause_role::preempted: return "preempted";
        case cause_role::unknown: break;
    }
    return "unknown";
}

std::optional<slow_requests> compare_slow_requests(const trace& loaded, const request_list& list,
                                                   std::string_view name) {
    const requests sorted = requests_of_type(
        loaded, list, name.empty() ? slowest_compared_type(loaded, list) : std::string(name));
    if (sorted.size() < fewest_compared_requests) return std::nullopt;
    return compared(loaded, list, sorted, slow_of(sorted));
}

std::optional<slow_requests> compare_request(const trace& loaded, const request_list& list,
                                             std::size_t request) {
    const request_info& chosen = list.requests[request];
    const requests sorted = requests_of_type(loaded, list, request_name(loaded, chosen));
    if (!chosen.is_whole() || chosen.left_out || sorted.size() < fewest_compared_requests)
        return std::nullopt;
    return compared(loaded, list, sorted, {chosen});
}

}  // namespace coroscope::analysis
