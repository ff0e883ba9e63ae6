// SPDX-License-Identifier: Apache-2.0
#pragma once

// propagate(callable): the context follows a callable to wherever it runs, a thread pool, a
// std::thread, a callback (torch: wrapPropagateTLSState). The context is captured when it is wrapped
// and installed around each call; arguments, result and exceptions pass through.

#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/invoke.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {

/// A callable and the context under which it runs. As copyable and movable as the callable, and called with what that
/// can be called with.
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
    context context_ = current_context();
};

template <class Callable>
propagated<std::decay_t<Callable>> propagate(Callable&& callable) {
    return propagated<std::decay_t<Callable>>(static_cast<Callable&&>(callable));
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
