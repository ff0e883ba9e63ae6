// SPDX-License-Identifier: Apache-2.0
#pragma once

// The identities of the current task and of the current request, for logs.
//
//   char text[coroscope::identity_chars];
//   char* end = coroscope::to_chars(text, text + sizeof text, coroscope::current_request());
//   log(std::string_view(text, end));                  // "2080@81234567890123"
//
// `coroscope tasks F --task 2080` shows that task. `coroscope requests F --request
// 2080@81234567890123` shows the request in which the task was at that moment, also if the request
// began in a task that created this one. integration/fmt.hpp and integration/std_format.hpp let fmt
// and the standard library print them.
//
// Any thread may call the functions at any time; they are noexcept, allocate nothing and take no
// lock.

#include <cstddef>
#include <cstdint>

#include <coroscope/attribute.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope {

/// Room for each of the two identities as text, in characters.
inline constexpr std::size_t identity_chars = 48;

/// A task's id, as in the trace and in `coroscope tasks`. 0: no task, or no session records here.
struct task_identity {
    std::uint64_t task = 0;
    constexpr explicit operator bool() const noexcept { return task != 0; }
    friend bool operator==(const task_identity&, const task_identity&) = default;
};

/// A moment of a task, or of a thread outside tasks, by which the analysis finds the request. The
/// program does not know which of its scopes are requests, so an identity does not mean that there
/// was a request. Empty if no session records here.
struct request_identity {
    std::uint64_t task = 0;      ///< 0: outside tasks
    std::uint32_t thread = 0;    ///< the thread's number in the trace, from 1
    std::int64_t moment_ns = 0;  ///< on CLOCK_MONOTONIC
    constexpr explicit operator bool() const noexcept { return thread != 0; }
    friend bool operator==(const request_identity&, const request_identity&) = default;
};

COROSCOPE_API task_identity current_task() noexcept;
COROSCOPE_API request_identity current_request() noexcept;

namespace detail {

constexpr char* put_text(char* first, char* last, const char* text, const char* end) noexcept {
    if (first == nullptr || last - first < end - text) return nullptr;
    while (text != end) *first++ = *text++;
    return first;
}

template <class Integer>
constexpr char* put_number(char* first, char* last, Integer number) noexcept {
    char digits[24] = {};
    char* const end = digits + sizeof digits;
    return detail::put_text(first, last, detail::format_integer(number, end), end);
}

}  // namespace detail

/// Writes the identity as text without a NUL: the task's number, "-" if there is none. Returns the
/// end of the text, or null if there is no room.
constexpr char* to_chars(char* first, char* last, const task_identity& of) noexcept {
    constexpr const char* none = "-";
    return of ? detail::put_number(first, last, of.task)
              : detail::put_text(first, last, none, none + 1);
}

/// The same for a request: TASK@MOMENT, outside tasks tTHREAD@MOMENT, "-" if it is empty.
constexpr char* to_chars(char* first, char* last, const request_identity& of) noexcept {
    constexpr const char* marks = "-t@";
    if (!of) return detail::put_text(first, last, marks, marks + 1);
    char* at = first;
    if (of.task != 0) {
        at = detail::put_number(at, last, of.task);
    } else {
        at = detail::put_text(at, last, marks + 1, marks + 2);
        at = detail::put_number(at, last, of.thread);
    }
    at = detail::put_text(at, last, marks + 2, marks + 3);
    return detail::put_number(at, last, of.moment_ns);
}

}  // namespace coroscope
