// SPDX-License-Identifier: Apache-2.0

// Types of a hostile library for the integration headers: senders and receivers, handlers,
// executors, jobs, results. Code for a library that is not installed is left out.
#include <utility>

#include <coroscope/coroscope.hpp>
#include <coroscope/integration/senders.hpp>

#if __has_include(<boost/asio.hpp>)
#define HOSTILE_ASIO
#include <boost/asio.hpp>
#include <coroscope/integration/asio.hpp>
#include <coroscope/integration/asio_token.hpp>
#endif
#if __has_include(<boost/thread/future.hpp>)
#define HOSTILE_FUTURE
#define BOOST_THREAD_VERSION 4
#include <coroscope/integration/boost_future.hpp>
#endif
#if __has_include(<boost/fiber/all.hpp>)
#define HOSTILE_FIBER
#include <boost/fiber/all.hpp>
#include <coroscope/integration/boost_context.hpp>
#include <coroscope/integration/boost_fiber.hpp>
#include <coroscope/integration/boost_fiber_future.hpp>
#endif
#if __has_include(<oneapi/tbb/task_group.h>)
#define HOSTILE_TBB
#include <coroscope/integration/tbb.hpp>
#endif
#if __has_include(<cuda_runtime_api.h>)
#define HOSTILE_CUDA
#include <coroscope/integration/cuda_completion.hpp>
#if defined(HOSTILE_ASIO)
#include <coroscope/integration/cuda_asio.hpp>
#endif
#endif

#define HOSTILE_FUNCTIONS_ONLY  // Boost and oneTBB use operators of their users' types
#include "hostile.hpp"

namespace hostile {

struct action : value {
    template <class... Arguments>
    void operator()(Arguments&&...) const {}
};
struct callable : value {
    template <class... Arguments>
    value operator()(Arguments&&...) const {
        return {};
    }
};

struct receiver : value {
    using receiver_concept = value;
    template <class... Values>
    void set_value(Values&&...) && noexcept {}
    template <class Error>
    void set_error(Error&&) && noexcept {}
    void set_stopped() && noexcept {}
    value get_env() const noexcept { return {}; }
};
template <class Receiver>
struct operation : value {
    explicit operation(Receiver given) : completed(std::move(given)) {}
    void start() noexcept {
        std::move(completed).set_value(value{}, 1);
        std::move(completed).set_error(value{});
        std::move(completed).set_stopped();
    }
    Receiver completed;
};
struct sender : value {
    using sender_concept = value;
    template <class Receiver>
    operation<Receiver> connect(Receiver given) const {
        return operation<Receiver>(std::move(given));
    }
    value get_env() const noexcept { return {}; }
};
void senders() {
    const auto traced = coroscope::traced(sender{}, "label");
    auto started = traced.connect(receiver{});
    started.start();
    static_cast<void>(traced.get_env());
    auto moved_from = coroscope::traced(sender{}, "label").connect(receiver{});
    moved_from.start();
}

#if defined(HOSTILE_ASIO)
boost::asio::awaitable<value> awaits(boost::asio::any_io_executor executor) {
    boost::asio::steady_timer timer(executor);
    co_await timer.async_wait(coroscope::traced(boost::asio::use_awaitable, "label"));
    co_await COROSCOPE_AWAIT("label", timer.async_wait(boost::asio::use_awaitable));
    co_return value{};
}
boost::asio::awaitable<void> nests(boost::asio::any_io_executor executor) {
    const value given = co_await COROSCOPE_AWAIT("label", awaits(executor));
    COROSCOPE_ARGS("arguments", given);
}
void runs(boost::asio::io_context& context) {
    boost::asio::steady_timer timer(context);
    timer.async_wait(coroscope::traced(action{}, "label"));
    timer.async_wait(action{});
    boost::asio::post(context, action{});
    boost::asio::co_spawn(context, awaits(context.get_executor()), action{});
    boost::asio::co_spawn(context, nests(context.get_executor()), boost::asio::detached);
}
#endif

#if defined(HOSTILE_FUTURE)
coroscope::task<value> continues(boost::future<value> pending) {
    const coroscope::range ends("label");
    auto shared = coroscope::call_end_callbacks_on_future(ends, pending.share());
    static_cast<void>(co_await shared);
    co_return co_await coroscope::call_end_callbacks_on_future(ends, boost::future<value>());
}
#endif

#if defined(HOSTILE_FIBER)
coroscope::task<value> continues(boost::fibers::future<value> pending) {
    const coroscope::range ends("label");
    auto shared = coroscope::call_end_callbacks_on_future(ends, pending.share());
    static_cast<void>(co_await shared);
    co_return co_await coroscope::call_end_callbacks_on_future(ends,
                                                               boost::fibers::future<value>());
}
struct algorithm : boost::fibers::algo::round_robin, value {};
void schedules() {
    boost::fibers::use_scheduling_algorithm<coroscope::fibers::tracked<algorithm>>();
    coroscope::fiber fiber(action{});
}
#endif

#if defined(HOSTILE_TBB)
void groups() {
    coroscope::task_group group;
    group.run(action{});
    group.run_and_wait(action{});
    coroscope::task_arena arena;
    static_cast<void>(arena.execute(callable{}));
    arena.enqueue(action{});
    coroscope::tbb_suspend(action{});
}
#endif

#if defined(HOSTILE_CUDA)
template <class Parameter>
struct executor : value {
    template <class Function>
    void execute(Function&& function) {
        static_cast<Function&&>(function)();
    }
};
coroscope::task<> device(cudaStream_t stream, cudaEvent_t event, executor<value>& kept) {
    static_cast<void>(co_await coroscope::cuda::completion(stream, kept));
    static_cast<void>(co_await coroscope::cuda::completion(stream, executor<value>()));
    static_cast<void>(co_await coroscope::cuda::completion(event, kept));
    static_cast<void>(co_await coroscope::cuda::polling(stream, kept));
    coroscope::executor_adaptor adaptor(kept);
    static_cast<void>(co_await coroscope::cuda::polling(event, adaptor));
}
#if defined(HOSTILE_ASIO)
void device(boost::asio::io_context& context, cudaStream_t stream) {
    coroscope::cuda::async_completion(stream, boost::asio::bind_executor(context, action{}));
}
#endif
#endif

}  // namespace hostile

int main() {}
