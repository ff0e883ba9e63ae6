// SPDX-License-Identifier: Apache-2.0

// A shop that answers 60 requests, one every 15 ms: the program of docs/start/tutorial.md. The
// prices come from another service, which a timer replaces here. The program asks that service for
// one price after another, which is the fault that the tutorial finds.

#include <chrono>
#include <cstdio>
#include <numeric>
#include <vector>

#include <boost/asio.hpp>
#include <coroscope/coroscope.hpp>

namespace shop {

namespace asio = boost::asio;
using asio::awaitable;
using namespace std::chrono_literals;

/// A call of another service: it takes that long, and occupies no thread.
awaitable<void> call_service(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await COROSCOPE_AWAIT("answer of the service", timer.async_wait(asio::use_awaitable));
}

awaitable<std::vector<int>> load_basket(int customer) {
    COROSCOPE("load basket");
    co_await call_service(5ms);
    std::vector<int> items(static_cast<std::size_t>(4 + customer % 5));
    std::iota(items.begin(), items.end(), customer);
    co_return items;
}

awaitable<int> price_of(int item) {
    COROSCOPE("price of an item");
    co_await call_service(10ms);
    co_return 100 + item;
}

awaitable<int> prices_of(const std::vector<int>& items) {
    COROSCOPE("prices of all items");
    co_await call_service(12ms);
    co_return std::accumulate(items.begin(), items.end(), 100 * static_cast<int>(items.size()));
}

/// Occupies the thread and a processor.
int render(int sum) {
    COROSCOPE("render");
    const auto end = std::chrono::steady_clock::now() + 200us;
    while (std::chrono::steady_clock::now() < end) {
    }
    return sum;
}

awaitable<void> answer(int customer) {
    COROSCOPE_REQUEST("GET /basket");
    const std::vector<int> items = co_await load_basket(customer);
    int sum = 0;
    for (const int item : items) sum += co_await price_of(item);
    render(sum);
}

awaitable<void> serve() {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer next(executor);
    for (int customer = 0; customer < 60; ++customer) {
        asio::co_spawn(executor, answer(customer), asio::detached);
        next.expires_after(15ms);
        co_await next.async_wait(asio::use_awaitable);
    }
}

}  // namespace shop

int main() {
    boost::asio::io_context context;
    boost::asio::co_spawn(context, shop::serve(), boost::asio::detached);
    context.run();
    std::puts("60 baskets");
}
