// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <coroscope/analysis/expect.hpp>
#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "../words/places.hpp"
#include "../words/request_words.hpp"

namespace coroscope::analysis {
namespace {

struct timed_request {
    const request_info* request = nullptr;
    request_time time;
};

/// The whole requests of a type. A wall time is known of all, the parts only of those in full.
std::vector<timed_request> timed_requests(const trace& loaded, const request_list& list,
                                          std::string_view type, bool in_full) {
    std::vector<timed_request> found;
    const std::vector<request_time> times = times_of_requests(loaded, list.requests);
    for (std::size_t at = 0; at < list.requests.size(); ++at) {
        const request_info& each = list.requests[at];
        if (!each.is_whole() || (in_full && each.left_out) || request_name(loaded, each) != type)
            continue;
        found.push_back({&each, times[at]});
    }
    return found;
}

expectation no_such_request(const trace& loaded, const request_list& list, std::string_view type) {
    std::set<std::string> names;
    for (const request_info& each : list.requests) names.insert(request_name(loaded, each));
    std::string known;
    for (const std::string& each : names) known += (known.empty() ? "" : ", ") + printable(each);
    return {false, fmt::format("no whole request {} was recorded; the recorded types: {}",
                               printable(type), known.empty() ? "none" : known)};
}

/// The request at the 99th percentile, by nearest rank. Reorders the requests.
template <class Time>
const timed_request& at_p99(std::vector<timed_request>& requests, Time time_of) {
    const std::size_t rank = (requests.size() * 99 + 99) / 100;
    const auto at = requests.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::ranges::nth_element(requests, at, {}, time_of);
    return *at;
}

std::string subject(const timed_request& of, std::string_view type, std::size_t requests) {
    return fmt::format("p99 of {} requests {} (request {}, {} after the start)", requests,
                       printable(type), of.request->id, format_span(of.request->start_ns));
}

std::int64_t queued_at_most(const timed_request& of) {
    return of.time.known ? saturated_sum(of.time.time.queued_ns, of.time.time.waiting_ns)
                         : of.time.wall_ns;
}

std::int64_t queued_at_least(const timed_request& of) {
    return of.time.known ? of.time.time.queued_ns : 0;
}

}  // namespace

expectation expect_queued_p99(const recorded_block& recorded, std::string_view request,
                              std::chrono::nanoseconds limit) {
    if (!recorded.doubt().empty()) return {false, recorded.doubt()};
    const trace& loaded = recorded.loaded();
    const request_list list = requests_of(loaded);
    auto requests = timed_requests(loaded, list, request, true);
    if (requests.empty()) return no_such_request(loaded, list, request);
    const timed_request& most = at_p99(requests, queued_at_most);
    if (queued_at_most(most) <= limit.count()) return {true, {}};
    const timed_request& least = at_p99(requests, queued_at_least);
    const std::int64_t queued_ns = queued_at_least(least);
    if (queued_ns <= limit.count())
        return {false, fmt::format("p99 of requests {}: it is not known for how long they were "
                                   "queued, because the wakes of some of their awaits were not "
                                   "seen; {}",
                                   printable(request),
                                   loaded.all_threads ? "coroscope awaits names these awaits"
                                                      : "record with .all_threads = true")};
    return {false,
            fmt::format("{} was queued for {} (limit {}); its executor had no free thread: "
                        "coroscope executors and coroscope path --request {} name the work ahead",
                        subject(least, request, requests.size()), format_span(queued_ns),
                        format_span(limit.count()), least.request->id)};
}

expectation expect_wall_p99(const recorded_block& recorded, std::string_view request,
                            std::chrono::nanoseconds limit) {
    if (!recorded.doubt().empty()) return {false, recorded.doubt()};
    const trace& loaded = recorded.loaded();
    const request_list list = requests_of(loaded);
    auto requests = timed_requests(loaded, list, request, false);
    if (requests.empty()) return no_such_request(loaded, list, request);
    const timed_request& slow =
        at_p99(requests, [](const timed_request& each) { return each.time.wall_ns; });
    if (slow.time.wall_ns <= limit.count()) return {true, {}};
    return {false,
            fmt::format("{} took {} (limit {}); coroscope path --request {} shows the steps "
                        "on which its end depended",
                        subject(slow, request, requests.size()), format_span(slow.time.wall_ns),
                        format_span(limit.count()), slow.request->id)};
}

}  // namespace coroscope::analysis
