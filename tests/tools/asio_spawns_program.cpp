// SPDX-License-Identifier: Apache-2.0
// Spawns tasks by Asio at several places. The comment behind a call has the name of its task, and
// the number of tasks if there are several. A post to a strand makes two: the handler, and the run
// of the strand on its context.

#include <utility>  // for awaitable.hpp of Boost 1.74, too

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <coroscope/coroscope.hpp>

namespace asio = boost::asio;

namespace {

int sum = 0;

asio::awaitable<void> leaf() {
    COROSCOPE("leaf");
    ++sum;
    co_return;
}

asio::awaitable<int> child() {
    COROSCOPE("child");
    co_await asio::post(asio::use_awaitable);
    co_return ++sum;
}

asio::awaitable<void> parent() {
    COROSCOPE("parent");
    const auto executor = co_await asio::this_coro::executor;
    asio::co_spawn(executor, leaf(), asio::detached);                        // spawns leaf
    sum += co_await asio::co_spawn(executor, child(), asio::use_awaitable);  // spawns child
    asio::post(executor, [] { COROSCOPE("in a coroutine"); });  // spawns in_a_coroutine
}

void post_all(const asio::any_io_executor& to, int depth) {
    for (int each = 0; each < 3; ++each)
        asio::post(to, [] { COROSCOPE("in a loop"); });  // spawns in_a_loop 9
    if (depth > 0) post_all(to, depth - 1);
    ++sum;
}

}  // namespace

int main(int, char** arguments) {
    const coroscope::profile session({.output = arguments[1], .all_threads = true});
    asio::io_context io(1);
    asio::co_spawn(io, parent(), asio::detached);  // spawns parent
    auto strand = asio::make_strand(io);
    asio::post(strand, [] { COROSCOPE("on a strand"); });  // spawns on_a_strand 2
    asio::post(io, [&io] {                                 // spawns outer
        COROSCOPE("outer");
        asio::post(io, [] { COROSCOPE("inner"); });  // spawns inner
    });
    post_all(io.get_executor(), 2);
    io.run();
    asio::thread_pool pool(1);
    asio::dispatch(pool, [] { COROSCOPE("on a pool"); });  // spawns on_a_pool
    pool.join();
    return sum == 0 ? 1 : 0;
}
