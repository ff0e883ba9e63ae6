// SPDX-License-Identifier: Apache-2.0
#pragma once

// The differences between the slow requests of a type and its median ones.
//
// The critical paths of both groups are compared part by part. A part is the time of one kind at
// one place, as the mean per request. The differences of all parts add up to the difference of the
// mean wall times exactly. Only whole requests that are not left out are compared. The candidates
// for the slow requests are the slowest hundredth: 5 to 50 requests, but no more than half of all.
// A candidate is slow if it exceeds the median by at least a quarter of the excess of the slowest
// request. The median requests are the fifth around the median, at most the 50 nearest to it.
//
// model.hpp describes times and indices. Thread-safety: pure functions, safe on any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// The fewest whole requests of a type that can be compared.
inline constexpr std::size_t fewest_compared_requests = 5;

/// The role of the work that explains a part.
enum class cause_role : std::uint8_t {
    ran,        ///< it ran on the threads for which a queued part waited
    held,       ///< it held a lock or a resource for which the part, or the work ahead, waited
    waited,     ///< the part is a wait of this scope or task, which is not the request itself
    woke,       ///< it is a scope outside tasks, which began within the request and ended the wait
    device,     ///< it is the longest kernel of the device work for which a suspended part waited
    idle,       ///< no work: no task and no scope ran on the threads of a queued part
    preempted,  ///< no work: the threads of a queued part had no processor
    unknown     ///< no work: facts are missing about the work on the part's threads
};

/// Returns whether the cause is work of the program.
[[nodiscard]] constexpr bool is_work(cause_role role) noexcept {
    return role != cause_role::idle && role != cause_role::preempted && role != cause_role::unknown;
}

/// "ran", "held", "waited", "woke", "device", "idle", "preempted", "unknown".
[[nodiscard]] COROSCOPE_API std::string_view name_of(cause_role role) noexcept;

/// The work by which one part is longest in the slow requests.
struct difference_cause {
    std::string label;          ///< its scope, else its task; a kernel; empty: no work
    std::uint32_t site = none;  ///< of that scope or task: index into trace::sites
    /// Index into trace::threads; none: several threads, or a task that held something.
    std::uint32_t thread = none;
    cause_role role = cause_role::ran;
    std::int64_t time_ns = 0;  ///< mean per slow request
    std::int64_t more_ns = 0;  ///< more of it than in the median requests, in all roles
    /// The resource that it held: index into trace::sites; none: a lock, or several resources.
    std::uint32_t resource = none;
};

/// One part of the paths' time, as means per request.
struct request_difference {
    path_kind kind = path_kind::unknown;
    std::string label;          ///< of the scope, the await or the task
    std::uint32_t site = none;  ///< index into trace::sites
    std::int64_t slow_ns = 0;
    std::int64_t median_ns = 0;
    double share = 0;  ///< of the difference of the wall times; negative: less in slow requests
    /// The cause explains at least a fifth of more_ns().
    std::optional<difference_cause> cause;
    /// The part of more_ns() that is explained: of queued time, that with known work ahead; of
    /// waiting time, that with a known holder; of unknown time, nothing. Other time has a place,
    /// but does not count if the states of its threads are missing.
    std::int64_t explained_ns = 0;
    /// For a wait: the innermost scope that was open in the task, if it is not the request itself.
    std::string scope;
    std::uint32_t scope_site = none;  ///< index into trace::sites
    [[nodiscard]] std::int64_t more_ns() const noexcept { return slow_ns - median_ns; }
    /// Returns whether at least a fifth is explained, and facts are not missing for most of it.
    [[nodiscard]] bool is_explained() const noexcept {
        return explained_ns > 0 && explained_ns >= more_ns() / 5 &&
               !(cause && cause->role == cause_role::unknown);
    }
};

/// An attribute that slow requests carry more often.
struct attribute_difference {
    std::string key;
    std::string value;
    double slow_share = 0;    ///< of the slow requests
    double median_share = 0;  ///< of the median ones
};

/// A thread or an executor that more of the slow requests used.
struct use_difference {
    std::uint32_t index = none;  ///< in trace::threads or trace::executors
    double slow_share = 0;       ///< of the slow requests
    double median_share = 0;     ///< of the median ones
};

/// The most slow requests that began within the mean time of a median request.
struct request_burst {
    std::uint64_t requests = 0;  ///< 0: less than half of the slow ones began together
    std::uint64_t median = 0;    ///< the median ones that began within that time of all of them
    std::int64_t start_ns = 0;   ///< the start of the first slow one
    std::int64_t ns = 0;         ///< from there to the start of the last one
};

/// The comparison.
struct slow_requests {
    std::string name;                   ///< of the type
    std::uint64_t requests = 0;         ///< whole ones of the type
    std::vector<std::uint64_t> slow;    ///< ids, the slowest first
    std::vector<std::uint64_t> median;  ///< ids
    std::int64_t slow_wall_ns = 0;      ///< means
    std::int64_t median_wall_ns = 0;
    std::vector<request_difference> differences;  ///< the largest share first
    /// The share of the unexplained parts in all parts that take longer in the slow requests.
    double unexplained_share = 0;
    double slow_in_progress = 0;    ///< mean number of other requests in progress at the start
    double median_in_progress = 0;  ///< the same for the median requests
    std::vector<attribute_difference> attributes;  ///< the largest difference of shares first
    std::vector<use_difference> threads;           ///< on which the paths ran, in the same order
    std::vector<use_difference> executors;  ///< for which the paths were queued, in the same order
    /// Set if at least half of the slow requests, and at least 3, began together, unless median
    /// ones did so, too: a share of them that is more than a quarter of that of the slow ones.
    request_burst burst{};
    /// Whether the slow requests take at least a quarter longer than the median ones.
    [[nodiscard]] bool differ() const noexcept { return slow_wall_ns > median_wall_ns / 4 * 5; }
};

/// Compares the slow requests of a type with its median ones. `name` is the name of the requests;
/// empty: that of the slowest whole request, among the types with at least fewest_compared_requests
/// whole requests. Returns nothing if the type has fewer requests to compare, or if there is no
/// such type.
[[nodiscard]] COROSCOPE_API std::optional<slow_requests>
compare_slow_requests(const trace& loaded, const request_list& list, std::string_view name = {});

/// Compares one request (a place in the list) with the median ones of its type. Returns nothing if
/// it is not whole, or if its type has too few.
[[nodiscard]] COROSCOPE_API std::optional<slow_requests>
compare_request(const trace& loaded, const request_list& list, std::size_t request);

}  // namespace coroscope::analysis
