// SPDX-License-Identifier: Apache-2.0
#pragma once

// propagate(callable): the context follows a callable to another thread, such as a thread pool, a
// std::thread or a callback (torch: wrapPropagateTLSState). The context is captured at the call of
// propagate() and installed around each call of the result. Arguments, result and exceptions pass
// through.

#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/invoke.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {

/// A callable with its context. As copyable and movable as the callable, with the same arguments.
/// As thread-safe as the callable.
template <class Callable>
class propagated {
public:
    explicit propagated(Callable callable) noexcept(std::is_nothrow_move_constructible_v<Callable>)
        : callable_(detail::moved(callable)) {}

    template <class... Arguments>
        requires std::is_invocable_v<Callable&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) & {
        const context_guard guard(context_);
        return detail::invoke(callable_, static_cast<Arguments&&>(arguments)...);
    }
    template <class... Arguments>
        requires std::is_invocable_v<const Callable&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) const& {
        const context_guard guard(context_);
        return detail::invoke(callable_, static_cast<Arguments&&>(arguments)...);
    }
    template <class... Arguments>
        requires std::is_invocable_v<Callable&&, Arguments...>
    decltype(auto) operator()(Arguments&&... arguments) && {
        const context_guard guard(context_);
        return detail::invoke(detail::moved(callable_), static_cast<Arguments&&>(arguments)...);
    }

private:
    Callable callable_;
    context context_ = coroscope::current_context();
};

/// Returns `callable` with the current context. Throws the exceptions of the callable's copy or
/// move.
template <class Callable>
propagated<std::decay_t<Callable>> propagate(Callable&& callable) {
    return propagated<std::decay_t<Callable>>(static_cast<Callable&&>(callable));
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
