// SPDX-License-Identifier: Apache-2.0
#pragma once

// jthread: a std::jthread whose function is a task. The task is a child of the task that starts the
// thread, and has its session and attributes. The time until the thread runs is queued time, and
// all work of the thread belongs to the new task. With propagate(), in contrast, a scope on another
// thread belongs to the starting task.
//
//   coroscope::jthread worker([](std::stop_token stop) { COROSCOPE_FUNCTION(); … });
//
// The spawn site is the place of the construction if the function is passed without arguments; else
// it is unknown.

#include <source_location>
#include <thread>
#include <type_traits>
#include <utility>

#include <coroscope/config.hpp>
#include <coroscope/detail/invoke.hpp>
#include <coroscope/executor_adaptor.hpp>

namespace coroscope {
namespace detail {

/// The function object of the thread, called with the arguments that std::jthread passes.
template <class Function>
class thread_body {
public:
    template <class Source>
    thread_body(Source&& function, const void* location)
        : function_(static_cast<Source&&>(function)), ticket_(detail::post_thread(location)) {}

    template <class... Arguments>
        requires std::is_invocable_v<Function, Arguments...>
    void operator()(Arguments&&... arguments) {
        const job_run run(ticket_.redeem());
        static_cast<void>(
            detail::invoke(std::move(function_), static_cast<Arguments&&>(arguments)...));
    }

private:
    Function function_;
    job_ticket ticket_;
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

#if COROSCOPE_ENABLED

/// A std::jthread that is a task; see above. Errors are those of std::jthread.
class jthread : public std::jthread {
public:
    jthread() noexcept = default;

    template <class Function>
        requires(!std::is_same_v<std::remove_cvref_t<Function>, jthread>)
    explicit jthread(Function&& function,
                     std::source_location where = std::source_location::current())
        : std::jthread(detail::thread_body<std::decay_t<Function>>(
              static_cast<Function&&>(function), detail::location_address(where))) {}

    template <class Function, class First, class... Rest>
        requires(!std::is_same_v<std::remove_cvref_t<First>, std::source_location>)
    explicit jthread(Function&& function, First&& first, Rest&&... rest)
        : std::jthread(detail::thread_body<std::decay_t<Function>>(
                           static_cast<Function&&>(function), nullptr),
                       static_cast<First&&>(first), static_cast<Rest&&>(rest)...) {}
};

#else

using jthread = std::jthread;

#endif

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
