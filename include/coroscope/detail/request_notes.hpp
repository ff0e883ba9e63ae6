// SPDX-License-Identifier: Apache-2.0
#pragma once

// The recording half of requests: facts about a scope, a range or a task that is a request.

#include <cstddef>
#include <cstdint>
#include <exception>

#include <coroscope/detail/export.hpp>
#include <coroscope/detail/range_start.hpp>
#include <coroscope/scope.hpp>

namespace coroscope::detail {

/// The facts about a request beside its extent.
struct request_traits {
    std::uint64_t deadline_ns = 0;  ///< 0: none
    bool failed = false;
};

/// Returns a std::chrono::duration in nanoseconds, at least 1; 0 without an argument: no deadline.
constexpr std::uint64_t deadline_in_ns() noexcept { return 0; }
template <class Duration>
constexpr std::uint64_t deadline_in_ns(const Duration& length) noexcept {
    using period = typename Duration::period;
    constexpr double limit = 9.2e18;
    const double length_ns = static_cast<double>(length.count()) *
                             static_cast<double>(period::num) * 1e9 /
                             static_cast<double>(period::den);
    if (!(length_ns >= 1)) return 1;
    return static_cast<std::uint64_t>(length_ns < limit ? length_ns : limit);
}

/// The number of exceptions that unwind this thread's stack.
inline std::int32_t exceptions_under_way() noexcept { return std::uncaught_exceptions(); }

/// The state of an open request: the number of exceptions under way at its begin and, in the bits
/// above, the decision about its sampling.
using request_state = std::int32_t;

/// Decides whether a request is recorded in full, and writes its deadline (0: none). Must be called
/// once, right after the begin of its scope.
COROSCOPE_API request_state open_request(site& where, const scope_start& start,
                                         std::uint64_t deadline_ns) noexcept;
COROSCOPE_API request_state open_request(range_start& range, const char* label, std::size_t size,
                                         std::uint64_t deadline_ns) noexcept;
/// Begins a request inside a request that is left out.
COROSCOPE_API request_state open_inside_left_out(scope_start& start) noexcept;
/// As begin_range(), for a request inside a request that is left out.
COROSCOPE_API void begin_inside_left_out(range_start& range, const char* label, std::size_t size,
                                         const range_traits& traits) noexcept;

/// Writes facts about a request that began with `start` at `where`. Does nothing if its begin was
/// not recorded.
COROSCOPE_API void note_request(site& where, const scope_start& start,
                                const request_traits& traits) noexcept;
/// The same for a range. Writes into the range's own session.
COROSCOPE_API void note_request(const range_start& range, const request_traits& traits) noexcept;

/// Ends the scope of a request as end_scope() does. The request has failed if more exceptions are
/// under way than at its begin. `state` must be the result of the function that opened it.
COROSCOPE_API COROSCOPE_NO_PLT void end_request(site& where, const scope_start* start,
                                                request_state state) noexcept;
/// The same for a request with a run-time label.
COROSCOPE_API void end_request(const range_start& range, request_state state) noexcept;

/// Makes the current task a request. Does nothing outside tasks, and if nothing records.
COROSCOPE_API void note_task_request(site& where, const request_traits& traits) noexcept;
COROSCOPE_API void note_task_request(const char* label, std::size_t size,
                                     const request_traits& traits) noexcept;

class range_state;
/// Makes a shared range a request.
COROSCOPE_API void note_request(const range_state& state, const request_traits& traits) noexcept;

/// The object that COROSCOPE_REQUEST defines, as selected_scope for COROSCOPE.
template <bool Enabled, class Site>
class request_scope {
public:
    [[gnu::always_inline]] request_scope() noexcept {
        open([] { return std::uint64_t{0}; });
    }
    template <class Duration>
    [[gnu::always_inline]] explicit request_scope(const Duration& deadline) noexcept {
        open([&deadline] { return detail::deadline_in_ns(deadline); });
    }
    request_scope(const request_scope&) = delete;
    request_scope& operator=(const request_scope&) = delete;
    [[gnu::always_inline]] ~request_scope() {
        if (detail::hardly_ever(detail::was_begun(start_)))
            detail::end_request(Site{}(), &start_, state_);
    }

private:
    template <class Deadline>
    [[gnu::always_inline]] void open(const Deadline& deadline_ns) noexcept {
        detail::begin_scope(start_, Site{}());
        if (detail::hardly_ever(detail::was_begun(start_)))
            state_ = detail::open_request(Site{}(), start_, deadline_ns());
        else if (detail::hardly_ever(detail::in_left_out_request()))
            state_ = detail::open_inside_left_out(start_);
    }

    scope_start start_;
    request_state state_;  // set if the scope was begun
};

template <class Site>
struct request_scope<false, Site> : no_scope {
    request_scope() = default;
    template <class Duration>
    explicit request_scope(const Duration&) noexcept {}
};

}  // namespace coroscope::detail
