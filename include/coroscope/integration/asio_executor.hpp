// SPDX-License-Identifier: Apache-2.0
#pragma once

// asio_executor: an executor_adaptor of a Boost.Asio executor or execution context, for programs whose
// translation units are not built with Asio's handler tracking (which makes tasks of posts by itself).
//
//   boost::asio::thread_pool pool(4);
//   coroscope::asio_executor tasks(pool);
//   tasks.execute([] { COROSCOPE("job"); });     // a task: queued until the pool runs it
//   co_await tasks.schedule();                   // goes on in the pool
//
// Work is always posted, never run inside execute(). It refers to the pool, which must outlive it.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <coroscope/config.hpp>
#include <coroscope/executor_adaptor.hpp>

namespace coroscope {
namespace detail {

template <class Executor>
class asio_poster {
public:
    explicit asio_poster(const Executor& executor) : executor_(executor) {}

    template <class Job>
    void post(Job&& job) const {
        boost::asio::post(executor_, static_cast<Job&&>(job));
    }

private:
    Executor executor_;
};

template <class Context>
concept asio_context = requires(Context& context) {
    typename Context::executor_type;
    context.get_executor();
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// As thread-safe as the executor, which it copies.
template <class Executor = boost::asio::any_io_executor>
class asio_executor : public executor_adaptor<detail::asio_poster<Executor>> {
public:
    explicit asio_executor(const Executor& executor)
        : executor_adaptor<detail::asio_poster<Executor>>(detail::asio_poster<Executor>(executor)) {
    }

    template <detail::asio_context Context>
    explicit asio_executor(Context& context) : asio_executor(Executor(context.get_executor())) {}
};

template <detail::asio_context Context>
asio_executor(Context&) -> asio_executor<typename Context::executor_type>;

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
