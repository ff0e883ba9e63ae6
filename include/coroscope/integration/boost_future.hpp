// SPDX-License-Identifier: Apache-2.0
#pragma once

// Boost.Thread's futures: boost::future and boost::shared_future end a range (future_adaptor.hpp)
// and can be awaited. They need continuations: the whole program must define BOOST_THREAD_VERSION
// as 4 or 5 (this header defines 4 if it is undefined), and must link Boost.Thread.
//
//   boost::future<row> pending = call_end_callbacks_on_future(query, store.query(key));
//   row found = co_await std::move(pending);
//
// Continuations run on the completing thread. For a shared future, the returned future holds a copy
// of the value, made by a continuation, because Boost has no other means. A deferred function has
// no completing thread. It runs, and its range ends, when a thread waits for the returned future;
// an await calls it in place.

#include <concepts>
#include <type_traits>
#include <utility>

#if !defined(BOOST_THREAD_VERSION)
#define BOOST_THREAD_VERSION 4
#endif
#include <boost/make_shared.hpp>
#include <boost/thread/future.hpp>
#if defined(BOOST_THREAD_USES_CHRONO)
#include <boost/chrono/system_clocks.hpp>
#endif

#include <coroscope/await_future.hpp>
#include <coroscope/future_adaptor.hpp>

#if !defined(BOOST_THREAD_PROVIDES_FUTURE_CONTINUATION) || !defined(BOOST_THREAD_PROVIDES_FUTURE)
#error define BOOST_THREAD_VERSION as 4 or 5 in the whole program: a boost::future has no then() without it
#endif

namespace coroscope {
namespace detail {

/// The common part of the adaptors of Boost's two futures. Continuations of a deferred function
/// never run by themselves.
template <class Future>
struct boost_future_adaptor {
    static bool is_ready(const Future& future) {
        return !future.valid() || future.is_ready() || is_deferred(future);
    }
    template <class Done>
    static void deliver(Future&& future, Done done) {
        future.then(boost::launch::sync, [done](Future complete) { done(std::move(complete)); });
    }

protected:
    // Uses a time in the past, because wait_for() would need Boost.Chrono's library.
    static bool is_deferred([[maybe_unused]] const Future& future) {
#if defined(BOOST_THREAD_USES_CHRONO)
        return future.wait_until(boost::chrono::steady_clock::time_point()) ==
               boost::future_status::deferred;
#else
        return false;  // without Boost.Chrono the state is unknown
#endif
    }
    /// Returns a deferred function that calls the function of `future`, and ends the range after
    /// it.
    template <class T>
    static boost::future<T> end_deferred(Future&& future, range_end end) {
        return boost::async(boost::launch::deferred,
                            [future = std::move(future), end = std::move(end)]() mutable -> T {
                                future.wait();
                                end();
                                return future.get();
                            });
    }
};

}  // namespace detail

template <class T>
struct future_adaptor<boost::future<T>> : detail::boost_future_adaptor<boost::future<T>> {
    static boost::future<T> attach(boost::future<T>&& future, range_end end) {
        if (!future.valid()) {
            end();
            return std::move(future);
        }
        if (future_adaptor::is_deferred(future))
            return future_adaptor::template end_deferred<T>(std::move(future), std::move(end));
        if constexpr (std::is_reference_v<T>) {
            return attach_reference(std::move(future), std::move(end));
        } else {
            return future.then(boost::launch::sync,
                               detail::then_continuation<boost::future<T>>(std::move(end)));
        }
    }

private:
    // Boost's continuations cannot return references.
    static boost::future<T> attach_reference(boost::future<T>&& future, range_end end) {
        auto answer = boost::make_shared<boost::promise<T>>();
        boost::future<T> attached = answer->get_future();
        future.then(boost::launch::sync, [answer, end](boost::future<T> complete) {
            end();
            if (complete.has_exception()) {
                answer->set_exception(complete.get_exception_ptr());
            } else {
                answer->set_value(complete.get());
            }
        });
        return attached;
    }
};

template <class T>
struct future_adaptor<boost::shared_future<T>>
    : detail::boost_future_adaptor<boost::shared_future<T>> {
    static_assert(!std::is_object_v<T> || std::copy_constructible<T>,
                  "a shared future that ends a range copies its value");
    static boost::shared_future<T> attach(boost::shared_future<T>&& future, range_end end) {
        if (!future.valid()) {
            end();
            return std::move(future);
        }
        if (future_adaptor::is_deferred(future))
            return future_adaptor::template end_deferred<T>(std::move(future), std::move(end))
                .share();
        return future
            .then(boost::launch::sync,
                  [end](boost::shared_future<T> complete) -> T {
                      end();
                      return complete.get();
                  })
            .share();
    }
};

}  // namespace coroscope

namespace boost {

template <class T>
auto operator co_await(future<T>&& awaited) {
    return coroscope::await_future(std::move(awaited));
}
template <class T>
auto operator co_await(future<T>& awaited) {
    return coroscope::await_future(std::move(awaited));
}
template <class T>
auto operator co_await(const shared_future<T>& awaited) {
    return coroscope::await_future(shared_future<T>(awaited));
}

}  // namespace boost
