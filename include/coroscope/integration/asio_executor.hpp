// SPDX-License-Identifier: Apache-2.0
#pragma once

// asio_executor: an executor_adaptor for a Boost.Asio executor or execution context. Use it in
// programs without Asio's handler tracking: handler tracking records posts as tasks by itself.
//
//   boost::asio::thread_pool pool(4);
//   coroscope::asio_executor tasks(pool);
//   tasks.execute([] { COROSCOPE("job"); });  // a task: queued until the pool runs it
//   co_await tasks.schedule();                // goes on in the pool
//
// execute() always posts the work and never runs it. The object refers to the pool: the pool must
// outlive the object.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/thread_pool.hpp>

#include <coroscope/config.hpp>
#include <coroscope/executor_adaptor.hpp>

namespace coroscope {
namespace detail {

template <class Executor>
class asio_poster {
public:
    asio_poster(const Executor& executor, const executor_place& place)
        : executor_(executor), place_(place) {}

    template <class Job>
    void post(Job&& job) const {
        boost::asio::post(executor_, static_cast<Job&&>(job));
    }
    [[nodiscard]] executor_place place() const noexcept { return place_; }

private:
    Executor executor_;
    executor_place place_;
};

template <class Context>
concept asio_context = requires(Context& context) {
    typename Context::executor_type;
    context.get_executor();
};

template <class Context>
inline constexpr executor_kind kind_of_context = executor_kind::context;
template <>
inline constexpr executor_kind kind_of_context<boost::asio::io_context> = executor_kind::io_context;
template <>
inline constexpr executor_kind kind_of_context<boost::asio::thread_pool> =
    executor_kind::thread_pool;

/// All executors of a context count as one, strands included.
template <class Executor>
executor_place place_of(const Executor& executor, const char* name) noexcept {
    if constexpr (requires { executor.context(); }) {
        return {__builtin_addressof(executor.context()), name, executor_kind::context};
    } else if constexpr (requires {
                             boost::asio::query(executor, boost::asio::execution::context);
                         }) {
        return {__builtin_addressof(boost::asio::query(executor, boost::asio::execution::context)),
                name, executor_kind::context};
    } else {
        return {name != nullptr ? name : &executor_type_place<Executor>, name,
                executor_kind::other};
    }
}

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// Holds a copy of the executor. Thread-safe if the executor is.
template <class Executor = boost::asio::any_io_executor>
class asio_executor : public executor_adaptor<detail::asio_poster<Executor>> {
public:
    /// `name`: as for executor_adaptor.
    explicit asio_executor(const Executor& executor, const char* name = nullptr)
        : asio_executor(executor, detail::place_of(executor, name)) {}

    template <detail::asio_context Context>
    explicit asio_executor(Context& context, const char* name = nullptr)
        : asio_executor(Executor(context.get_executor()),
                        detail::executor_place{__builtin_addressof(context), name,
                                               detail::kind_of_context<Context>}) {}

private:
    asio_executor(const Executor& executor, const detail::executor_place& place)
        : executor_adaptor<detail::asio_poster<Executor>>(
              detail::asio_poster<Executor>(executor, place)) {}
};

template <detail::asio_context Context>
asio_executor(Context&) -> asio_executor<typename Context::executor_type>;
template <detail::asio_context Context>
asio_executor(Context&, const char*) -> asio_executor<typename Context::executor_type>;

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
