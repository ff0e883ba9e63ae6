// SPDX-License-Identifier: Apache-2.0
#pragma once

// call_end_callbacks_on_future: a range that ends when a future completes.
//
//   coroscope::range query("db.query");
//   // A future of the same type:
//   auto rows = call_end_callbacks_on_future(query, store.query(key));
//
// The returned future completes with the same value, exception or cancellation as the given one,
// after the range has ended and its end callbacks have run. Callbacks run on the completing thread,
// in the context of the attachment; if the future is complete already, they run inside the call.
// Other waiters of the same shared state, such as copies of a shared future, may see it complete
// earlier.
//
// future_adaptor<Future> adapts a type of future. There are adaptors for coroscope::future
// (future.hpp), for types with folly-style thenTry(f), and for types whose then(f) passes the
// completed future. integration/ specialises it for some libraries. Another type needs a
// specialisation:
//
//   template <class T>
//   struct coroscope::future_adaptor<their::future<T>> {
//       /// Returns a future of the same type. Calls `end()` just before that completes.
//       static their::future<T> attach(their::future<T>&& future, coroscope::range_end end);
//   };

#include <concepts>
#include <type_traits>

#include <coroscope/config.hpp>
#include <coroscope/detail/attachment.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/range.hpp>
#include <coroscope/record_function.hpp>

namespace coroscope {
namespace detail {

/// Ends the range, then returns the completed future's value or rethrows its exception.
template <class Future>
class then_continuation {
public:
    explicit then_continuation(range_end end) noexcept : end_(detail::moved(end)) {}
    auto operator()(Future done) const -> decltype(done.get()) {
        end_();
        return done.get();
    }

private:
    range_end end_;
};

/// As above, for a completed Try. Moves the value out, except from a future of references.
template <bool Refers>
class try_continuation {
public:
    explicit try_continuation(range_end end) noexcept : end_(detail::moved(end)) {}
    template <class Try>
        requires(!Refers)
    auto operator()(Try&& done) const {
        end_();
        return static_cast<Try&&>(done).value();
    }
    template <class Try>
        requires Refers
    decltype(auto) operator()(Try&& done) const {
        end_();
        return static_cast<Try&&>(done).value();
    }

private:
    range_end end_;
};

template <class Future, bool Refers>
concept takes_then_try = requires(Future&& future, try_continuation<Refers> continuation) {
    { static_cast<Future&&>(future).thenTry(continuation) } -> std::same_as<Future>;
};

template <class Future>
concept has_then_try = takes_then_try<Future, false> || takes_then_try<Future, true>;

template <class Future>
concept has_then = requires(Future&& future, then_continuation<Future> continuation) {
    { static_cast<Future&&>(future).then(continuation) } -> std::same_as<Future>;
};

}  // namespace detail

/// The adaptor of a type of future; see above. Undefined for a type that fits none of the forms.
template <class Future>
struct future_adaptor;

template <class Future>
    requires detail::has_then_try<Future>
struct future_adaptor<Future> {
    static Future attach(Future&& future, range_end end) {
        constexpr bool refers = !detail::takes_then_try<Future, false>;
        return detail::moved(future).thenTry(detail::try_continuation<refers>(detail::moved(end)));
    }
};

template <class Future>
    requires(detail::has_then<Future> && !detail::has_then_try<Future>)
struct future_adaptor<Future> {
    static Future attach(Future&& future, range_end end) {
        return detail::moved(future).then(detail::then_continuation<Future>(detail::moved(end)));
    }
};

/// Whether this type of future has an adaptor.
template <class Future>
concept adaptable_future = requires(Future&& future, range_end end) {
    {
        future_adaptor<Future>::attach(detail::moved(future), detail::moved(end))
    } -> std::same_as<Future>;
};

namespace detail {

template <class Future>
std::remove_cvref_t<Future> attach_future(range_state* state, Future&& future) {
    using adapted = std::remove_cvref_t<Future>;
    static_assert(adaptable_future<adapted>,
                  "this future cannot tell when it completes: take it from coroscope::promise, "
                  "packaged_task or "
                  "async (future.hpp), include its header of coroscope/integration/, or specialise "
                  "coroscope::future_adaptor");
    adapted taken(static_cast<Future&&>(future));
    if (state == nullptr || !detail::attach(*state)) return taken;
    return future_adaptor<adapted>::attach(detail::moved(taken), range_end(state));
}

}  // namespace detail

/// Ends `ends` when `future` completes: see above. A range takes one future. A second one is
/// refused: it is returned unchanged, current_range_faults() counts it, and the first refusal
/// writes one line to stderr. Throws the exceptions of the future's library.
template <class Future>
auto call_end_callbacks_on_future(const range& ends, Future&& future) {
    return detail::attach_future(ends.coroscope_state().get(), static_cast<Future&&>(future));
}

/// As above, for a range that the caller keeps. If it is destroyed before the future completes, it
/// ends then. current_range_faults() counts this, and the first case writes one line to stderr.
template <class Future>
auto call_end_callbacks_on_future(record_function& ends, Future&& future) {
    return detail::attach_future(ends.coroscope_state(), static_cast<Future&&>(future));
}

/// As above, for a future that needs an executor first: returns the type of `future.via(executor)`.
template <class Future, class Executor>
auto call_end_callbacks_on_future(const range& ends, Future&& future, Executor&& executor) {
    return coroscope::call_end_callbacks_on_future(
        ends, static_cast<Future&&>(future).via(static_cast<Executor&&>(executor)));
}

}  // namespace coroscope
