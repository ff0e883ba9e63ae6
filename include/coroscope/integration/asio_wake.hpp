// SPDX-License-Identifier: Apache-2.0
#pragma once

// The facts by which an operation of Asio that no reactor reports has become ready: the expiry of a
// timer, and the cancellation of the operation. This header must not include a header of Asio.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/detail/export.hpp>
#include <coroscope/integration/asio_task.hpp>

namespace coroscope::asio {

/// Whether the clock is std::chrono::steady_clock, which is CLOCK_MONOTONIC. Found by its name:
/// this header must not include <chrono>.
template <class Clock>
consteval bool is_steady_clock() {
    constexpr char beginning[] = "Clock = std::";
    constexpr char ending[] = "::steady_clock]";
    constexpr auto matches = [](const char* at, const char* wanted, std::size_t count) {
        return __builtin_strncmp(at, wanted, count) == 0;
    };
    bool begins = false;
    for (const char* at = __PRETTY_FUNCTION__; *at != '\0'; ++at) {
        begins = begins || matches(at, beginning, sizeof(beginning) - 1);
        if (begins && matches(at, ending, sizeof(ending))) return true;
    }
    return false;
}

/// Whether the object is the implementation of a timer of std::chrono::steady_clock.
template <class Object>
concept is_steady_timer = requires(const Object& object) {
    typename std::remove_cvref_t<decltype(object.expiry)>::clock;
    requires asio::is_steady_clock<typename std::remove_cvref_t<decltype(object.expiry)>::clock>();
    requires std::is_same_v<typename std::remove_cvref_t<decltype(object.expiry)>::duration,
                            typename std::remove_cvref_t<decltype(object.expiry)>::clock::duration>;
    requires std::remove_cvref_t<decltype(object.expiry)>::period::den == 1'000'000'000;
};

/// Returns operation_state::wake for an operation on the object, as far as it is known when the
/// operation is created: the expiry of a timer of the steady clock, else 0.
template <class Object>
[[gnu::always_inline]] inline std::uint64_t
wake_of([[maybe_unused]] const Object* object) noexcept {
    if constexpr (is_steady_timer<Object>) {
        constexpr std::uint64_t limit = wake_returned - 1;
        const auto expiry_ns = static_cast<std::int64_t>(object->expiry.time_since_epoch().count());
        const std::uint64_t after_first = static_cast<std::uint64_t>(expiry_ns) - 1;
        if (after_first < limit) [[likely]]
            return wake_expiry | static_cast<std::uint64_t>(expiry_ns);
        return expiry_ns > 0 ? 0 : wake_expiry | 1U;  // never, or before the clock's epoch
    } else {
        return 0;
    }
}

/// Notes the object of a created operation, and the expiry if the object is a timer. Must not be
/// called for work for an executor, which has no object. The result of a co_spawn keeps its waker.
template <class Object>
[[gnu::always_inline]] inline void note_object(operation_state& created,
                                               const Object* object) noexcept {
    const bool has_task = created.whose.is(purpose_step | purpose_handler) ||
                          (created.whose.is(purpose_carrying) && created.whose.task != 0);
    if (!has_task) [[unlikely]]
        return;
    created.wake = asio::wake_of(object);
    created.waker = reinterpret_cast<std::uintptr_t>(object);
}

/// Returns the number of the error with which an operation completed; 0 if it has none.
template <class First, class... More>
[[gnu::always_inline]] inline int error_of(const First& first, const More&...) noexcept {
    if constexpr (requires { static_cast<int>(first.value()), first.category(); })
        return first.value();
    else
        return 0;
}
constexpr int error_of() noexcept { return 0; }

/// Must be called when tracked code cancels the operations on the object, by cancel(), close(), …
COROSCOPE_API void cancels_operations(const void* object) noexcept;

/// Must be called when a cancellation signal reaches the awaits of the task.
COROSCOPE_API void cancels_awaits(std::uint64_t task) noexcept;

/// Must be called when the timer of a cancel_after has expired. It cancels the guarded step of the
/// same await.
COROSCOPE_API void times_out(const operation_state& timer) noexcept;

/// Whether the name of the type, with its arguments, has that part.
template <class Type, std::size_t Size>
consteval bool is_named_with(const char (&part)[Size]) {
    for (const char* at = __PRETTY_FUNCTION__; *at != '\0'; ++at)
        if (__builtin_strncmp(at, part, Size - 1) == 0) return true;
    return false;
}

/// Whether the operation is the timer of cancel_after or cancel_at.
template <class Operation>
inline constexpr bool is_timeout = asio::is_named_with<Operation>("timed_cancel_timer_handler<");

/// Asio's default filter of the cancellation signals for a co_spawn.
struct terminal_filter {
    template <class Signal>
    Signal operator()(Signal given) const noexcept {
        return given & Signal::terminal;
    }
};

/// Lets the same signals pass as `filter`, and reports them.
template <class Filter>
struct reporting_filter {
    Filter filter;
    std::uint64_t task;  ///< the co_spawn's; 0: nothing is reported

    template <class Signal>
    Signal operator()(Signal given) {
        const Signal passed = filter(given);
        if (passed != Signal::none && task != 0 && asio::is_active()) asio::cancels_awaits(task);
        return passed;
    }
};
template <class Filter>
reporting_filter(Filter, std::uint64_t) -> reporting_filter<Filter>;

/// Whether the operand of a co_await is this_coro::reset_cancellation_state().
template <class Operand>
inline constexpr bool is_cancellation_reset =
    asio::is_named_with<Operand>("::reset_cancellation_state_");

/// Does what Asio's awaiter of this_coro::reset_cancellation_state() does, with filters that
/// report. `thread` is Asio's awaitable_thread.
template <class Thread, class Reset>
void reset_cancellation(Thread& thread, const Reset& reset, std::uint64_t task) {
    if constexpr (requires { reset.out_filter; })
        thread.reset_cancellation_state(decltype(reset.in_filter)(reset.in_filter),
                                        reporting_filter{reset.out_filter, task});
    else if constexpr (requires { reset.filter; })
        thread.reset_cancellation_state(decltype(reset.filter)(reset.filter),
                                        reporting_filter{reset.filter, task});
    else
        thread.reset_cancellation_state(terminal_filter{},
                                        reporting_filter{terminal_filter{}, task});
}

}  // namespace coroscope::asio
