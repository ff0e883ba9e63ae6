// SPDX-License-Identifier: Apache-2.0
#pragma once

// Boost.Fiber's futures: boost::fibers::future and shared_future end a range (future_adaptor.hpp)
// and can be awaited.
//
// They have no continuations, so a fiber of the calling thread waits for each future that is not
// ready; no thread blocks or polls. That fiber runs when the thread next runs fibers. It ends the
// range and completes the returned future, or resumes the coroutine. The program must link
// Boost.Fiber.

#include <chrono>
#include <type_traits>
#include <utility>

#include <boost/fiber/fiber.hpp>
#include <boost/fiber/future.hpp>

#include <coroscope/await_future.hpp>
#include <coroscope/future_adaptor.hpp>

namespace coroscope {
namespace detail {

template <class Future>
struct fiber_future_adaptor {
    static bool is_ready(const Future& future) {
        return !future.valid() ||
               future.wait_for(std::chrono::seconds(0)) == boost::fibers::future_status::ready;
    }
    template <class Done>
    static void deliver(Future&& future, Done done) {
        boost::fibers::fiber([future = std::move(future), done = std::move(done)]() mutable {
            future.wait();
            done(std::move(future));
        }).detach();
    }

protected:
    template <class T>
    static boost::fibers::future<T> wait_and_end(Future&& future, range_end end) {
        return boost::fibers::async(
            [future = std::move(future), end = std::move(end)]() mutable -> T {
                future.wait();
                end();
                return future.get();
            });
    }
};

}  // namespace detail

template <class T>
struct future_adaptor<boost::fibers::future<T>>
    : detail::fiber_future_adaptor<boost::fibers::future<T>> {
    static boost::fibers::future<T> attach(boost::fibers::future<T>&& future, range_end end) {
        if (!future_adaptor::is_ready(future))
            return future_adaptor::template wait_and_end<T>(std::move(future), std::move(end));
        end();
        return std::move(future);
    }
};

/// If the future is not ready, the returned one holds a copy of the value.
template <class T>
struct future_adaptor<boost::fibers::shared_future<T>>
    : detail::fiber_future_adaptor<boost::fibers::shared_future<T>> {
    static boost::fibers::shared_future<T> attach(boost::fibers::shared_future<T>&& future,
                                                  range_end end) {
        if (!future_adaptor::is_ready(future))
            return future_adaptor::template wait_and_end<T>(std::move(future), std::move(end))
                .share();
        end();
        return std::move(future);
    }
};

}  // namespace coroscope

namespace boost::fibers {

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

}  // namespace boost::fibers
