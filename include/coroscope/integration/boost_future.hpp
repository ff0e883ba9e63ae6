// SPDX-License-Identifier: Apache-2.0
#pragma once

// Boost.Thread's futures: boost::future and boost::shared_future end a range (future_adaptor.hpp) and are
// awaited by co_await. Needs continuations: define BOOST_THREAD_VERSION as 4 or 5 in the whole program (4 is
// taken where nobody has said so before this header), and link Boost.Thread.
//
//   boost::future<row> pending = call_end_callbacks_on_future(query, store.query(key));
//   row found = co_await std::move(pending);
//
// Continuations run on the completing thread. What comes back for a shared future holds a copy of the value,
// made by a continuation, since Boost has no other way to make one.

#include <concepts>
#include <type_traits>
#include <utility>

#if !defined(BOOST_THREAD_VERSION)
#define BOOST_THREAD_VERSION 4
#endif
#include <boost/make_shared.hpp>
#include <boost/thread/future.hpp>

#include <coroscope/await_future.hpp>
#include <coroscope/future_adaptor.hpp>

#if !defined(BOOST_THREAD_PROVIDES_FUTURE_CONTINUATION) || !defined(BOOST_THREAD_PROVIDES_FUTURE)
#error define BOOST_THREAD_VERSION as 4 or 5 in the whole program: a boost::future has no then() without it
#endif

namespace coroscope {

template <class T>
struct future_adaptor<boost::future<T>> {
    static boost::future<T> attach(boost::future<T>&& future, range_end end) {
        if constexpr (std::is_reference_v<T>) {
            return attach_reference(std::move(future), std::move(end));
        } else {
            return future.then(boost::launch::sync,
                               detail::then_continuation<boost::future<T>>(std::move(end)));
        }
    }
    static bool is_ready(const boost::future<T>& future) {
        return !future.valid() || future.is_ready();
    }
    template <class Done>
    static void deliver(boost::future<T>&& future, Done done) {
        future.then(boost::launch::sync,
                    [done](boost::future<T> complete) { done(std::move(complete)); });
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
struct future_adaptor<boost::shared_future<T>> {
    static_assert(!std::is_object_v<T> || std::copy_constructible<T>,
                  "a shared future that ends a range copies its value");
    static boost::shared_future<T> attach(boost::shared_future<T>&& future, range_end end) {
        return future
            .then(boost::launch::sync,
                  [end](boost::shared_future<T> complete) -> T {
                      end();
                      return complete.get();
                  })
            .share();
    }
    static bool is_ready(const boost::shared_future<T>& future) {
        return !future.valid() || future.is_ready();
    }
    template <class Done>
    static void deliver(boost::shared_future<T>&& future, Done done) {
        future.then(boost::launch::sync,
                    [done](boost::shared_future<T> complete) { done(std::move(complete)); });
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
