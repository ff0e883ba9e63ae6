// SPDX-License-Identifier: Apache-2.0
#pragma once

// Requests: the units of work that the program's users care about, such as an HTTP request or a
// job. `coroscope requests` shows their percentiles, the parts of their time, and the slowest ones.
//
//   COROSCOPE_REQUEST("GET /item");             // the block is a request, and a scope
//   COROSCOPE_REQUEST("GET /item", 50ms);       // with a deadline
//   COROSCOPE_REQUEST_TASK("job.resize");       // the whole task that runs here is a request
//   const coroscope::request handled(route);    // a block whose label is known at run time
//   const coroscope::request_range job("job");  // ends when its last handle goes, or by end()
//   coroscope::request_task(name);              // as COROSCOPE_REQUEST_TASK, with a run-time label
//
// The label is the type of the request. A deadline is a std::chrono::duration, the longest time
// that the request may take. A request that takes longer is counted as late, and nothing else
// happens. Every request misses a deadline of 0 or less.
//
// A request has failed if an exception ends its block or its task. For other failures, and for
// ranges, which no exception ends, the two classes have fail().
//
// A request inside another one is a separate request.
//
// Thread-safety: as for scopes, ranges and record_function. Everything is noexcept.
// COROSCOPE_REQUEST and COROSCOPE_REQUEST_TASK allocate nothing, take no lock and make no system
// call; a request costs what a scope costs, and a deadline or a failure 48 bytes more. The macros
// are statements for block scope, and their labels are string literals.

#include <coroscope/config.hpp>
#include <coroscope/detail/request_notes.hpp>
#include <coroscope/macro.hpp>
#include <coroscope/range.hpp>

#if COROSCOPE_ENABLED

#define COROSCOPE_DETAIL_REQUEST(number, label, ...)                                               \
    COROSCOPE_DETAIL_UNIQUE_SITE(number, label, request, "", 0, "");                               \
    [[maybe_unused]] const ::coroscope::detail::request_scope<                                     \
        ::coroscope::detail::compiled_in("", 0), COROSCOPE_DETAIL_SITE_TYPE(number)>               \
    COROSCOPE_DETAIL_JOIN(coroscope_scope_, number) {                                              \
        __VA_ARGS__                                                                                \
    }
#define COROSCOPE_REQUEST(label, ...)                                                              \
    COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                         \
    COROSCOPE_DETAIL_REQUEST(__COUNTER__, COROSCOPE_DETAIL_LABEL(label) __VA_OPT__(, ) __VA_ARGS__)

#define COROSCOPE_REQUEST_TASK(label, ...)                                                         \
    do {                                                                                           \
        COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                     \
        COROSCOPE_DETAIL_SITE(coroscope_site, COROSCOPE_DETAIL_LABEL(label), request, "", 0, "");  \
        if (::coroscope::detail::compiled_in("", 0) &&                                             \
            ::coroscope::detail::hardly_ever(                                                      \
                ::coroscope::detail::wants_scopes(::coroscope::detail::load_gate())))              \
            ::coroscope::detail::note_task_request(                                                \
                coroscope_site, {::coroscope::detail::deadline_in_ns(__VA_ARGS__), false});        \
    } while (false)

#else

#define COROSCOPE_REQUEST(label, ...)                                                              \
    COROSCOPE_DETAIL_NEEDS_LITERAL(label);                                                         \
    COROSCOPE_DETAIL_CHECK(__VA_ARGS__)
#define COROSCOPE_REQUEST_TASK(label, ...) COROSCOPE_REQUEST(label __VA_OPT__(, ) __VA_ARGS__)

#endif

namespace coroscope {
namespace detail {

/// Calls `use(text, size)` with a C string, or with text that has data() and size().
template <class Label, class Use>
void with_label(const Label& label, const Use& use) noexcept {
    if constexpr (std::is_convertible_v<const Label&, const char*>) {
        const char* text = label;
        use(text, text == nullptr ? 0 : __builtin_strlen(text));
    } else {
        use(label.data(), label.size());
    }
}

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// A request from its construction to the end of the block, with a run-time label. It must be a
/// local variable. With COROSCOPE_ENABLED=0 it does nothing.
class [[nodiscard]] request {
public:
    /// `label` must be a C string or have data() and size(); it is copied. `deadline`: nothing, or
    /// a std::chrono::duration.
    template <class Label, class... Deadline>
        requires(sizeof...(Deadline) <= 1 && !std::is_same_v<Label, request>)
    explicit request(const Label& label, const Deadline&... deadline) noexcept {
        if (COROSCOPE_ENABLED == 0) return;
        const bool left_out = detail::in_left_out_request();
        if (!left_out && !detail::wants_scopes(detail::load_gate())) [[likely]]
            return;
        detail::with_label(label, [&](const char* text, std::size_t size) noexcept {
            if (left_out)
                detail::begin_inside_left_out(range_, text, size, {detail::range_form::block});
            else
                detail::begin_range(range_, text, size, {detail::range_form::block});
            state_ = detail::open_request(range_, text, size, detail::deadline_in_ns(deadline...));
        });
    }
    request(const request&) = delete;
    request& operator=(const request&) = delete;
    ~request() {
        if (COROSCOPE_ENABLED == 0 || range_.start.ticks == 0) [[likely]]
            return;
        detail::end_request(range_, state_);
    }

    /// Marks the request as failed. Must be called before the end of the block, on the thread that
    /// runs the block.
    void fail() const noexcept {
        if (range_.start.ticks != 0) detail::note_request(range_, {0, true});
    }

private:
    detail::range_start range_;
    detail::request_state state_ = 0;
};

/// A range that is a request: it begins here and ends elsewhere, as coroscope::range does. Sampling
/// leaves it out only if it begins inside another request that is left out, because the work of a
/// range is not known before its end.
class request_range : public range {
public:
    /// Refers to no range.
    request_range() noexcept = default;

    /// As for request. Allocates once, as every range.
    template <class Label, class... Deadline>
        requires(sizeof...(Deadline) <= 1 && !std::is_same_v<Label, request_range>)
    explicit request_range(const Label& label, const Deadline&... deadline) noexcept
        : range(detail::begin_shared_request(label)) {
        if (coroscope_state())
            detail::note_request(*coroscope_state(), {detail::deadline_in_ns(deadline...), false});
    }

    /// Marks the request as failed. Has no effect if the range has ended.
    void fail() const noexcept {
        if (coroscope_state()) detail::note_request(*coroscope_state(), {0, true});
    }
};

/// Makes the whole task that runs here a request, from its first wake to its finish, with a
/// run-time label: a C string, or text with data() and size(), of which at most 208 bytes are kept.
/// Does nothing outside tasks. If a task is made a request twice, the first label and the last
/// deadline count.
template <class Label, class... Deadline>
    requires(sizeof...(Deadline) <= 1)
void request_task(const Label& label, const Deadline&... deadline) noexcept {
    if (COROSCOPE_ENABLED == 0 || !detail::wants_scopes(detail::load_gate())) [[likely]]
        return;
    detail::with_label(label, [&](const char* text, std::size_t size) noexcept {
        detail::note_task_request(text, size, {detail::deadline_in_ns(deadline...), false});
    });
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
