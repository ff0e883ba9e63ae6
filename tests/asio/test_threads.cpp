// SPDX-License-Identifier: Apache-2.0

// The state that a thread keeps for Asio outside of handlers: made at its first use, and destroyed
// with the thread.

#include <pthread.h>

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "asio_library.hpp"
#include "recording.hpp"

namespace {

net::awaitable<void> count_tenants(int& seen) {
    for (int each = 0; each < 3; ++each) {
        const coroscope::attribute_value tenant = coroscope::current_attribute("tenant");
        if (tenant && std::string(tenant.data(), tenant.size()) == "late") ++seen;
        co_await net::post(co_await net::this_coro::executor, net::use_awaitable);
    }
}

// Counts at how many of three moments a coroutine finds the attribute under which it was spawned.
int count_tenants() {
    int seen = 0;
    const coroscope::attribute tenant("tenant", "late");
    net::io_context io;
    net::co_spawn(io, count_tenants(seen), net::detached);
    io.run();
    return seen;
}

// Called at the end of a thread, in rounds. In the last of these rounds the runtime has left the
// thread already. ThreadSanitizer leaves in the fourth round, the last one of the system.
struct last_round {
    static constexpr int rounds = 3;
    pthread_key_t key{};
    int round = 0;
    int seen = 0;

    static void reached(void* data) {
        auto& self = *static_cast<last_round*>(data);
        if (++self.round < rounds)
            pthread_setspecific(self.key, data);
        else
            self.seen = count_tenants();
    }
};

net::awaitable<void> spawned() { co_return; }

net::awaitable<void> awaits_then_spawns() {
    const auto executor = co_await net::this_coro::executor;
    co_await net::post(executor, net::use_awaitable);
    net::co_spawn(executor, spawned(), net::detached);
}

/// A thread without handlers, like the own thread of a library that calls back from it.
class foreign_thread {
public:
    template <class Token>
    auto call(Token&& token) {
        return net::async_initiate<Token, void(int)>(
            [this](auto handler) {
                const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
                job_.set_value([kept] { std::move (*kept)(7); });
            },
            token);
    }
    void join() { thread_.join(); }

    std::function<void()> afterwards = [] {};

private:
    std::promise<std::function<void()>> job_;
    std::thread thread_{[this] {
        job_.get_future().get()();
        afterwards();
    }};
};

net::awaitable<void> called_back(foreign_thread& library) {
    COROSCOPE_FUNCTION();
    co_await library.call(net::use_awaitable);
}

net::awaitable<void> awaits_called_back(net::thread_pool& pool, foreign_thread& library) {
    COROSCOPE_FUNCTION();
    co_await net::co_spawn(pool, called_back(library), net::use_awaitable);
}

// Starts a coroutine whose result is unused, with an operation that completes at once.
net::awaitable<void> starts_called_back(net::thread_pool& pool, foreign_thread& library) {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    const auto start = [&](auto handler) {
        net::co_spawn(pool, called_back(library),
                      net::bind_executor(net::system_executor(), [](const std::exception_ptr&) {}));
        net::post(executor, std::move(handler));
    };
    co_await net::async_initiate<const net::use_awaitable_t<>, void()>(start, net::use_awaitable);
}

}  // namespace

TEST_CASE("a coroutine that ends on a thread which runs no handlers wakes its awaiter") {
    const auto loaded = record([] {
        net::io_context io;
        net::thread_pool pool(1);
        foreign_thread library;
        net::co_spawn(io, awaits_called_back(pool, library), net::detached);
        io.run();
        pool.join();
        library.join();
    });
    CHECK(loaded.tasks.size() == 2);
    const analysis::task_info& parent = task_named(loaded, "awaits_called_back");
    const analysis::task_info& child = task_named(loaded, "called_back");
    REQUIRE(parent.awaits.size() == 1);
    const analysis::await_info& await = loaded.awaits[parent.awaits.front()];
    CHECK(await.wake_ns == child.end_ns);
    REQUIRE(await.waker != analysis::none);
    CHECK(loaded.tasks[await.waker].id == child.id);
    CHECK(parent.time.waiting_ns == 0);
    check_all_add_up(loaded);
}

TEST_CASE("work that a thread without handlers starts after an unused result is a task without a "
          "parent") {
    const auto loaded = record([] {
        net::io_context io;
        net::thread_pool pool(1);
        foreign_thread library;
        library.afterwards = [&pool] { net::post(pool, [] { COROSCOPE("posted later"); }); };
        net::co_spawn(io, starts_called_back(pool, library), net::detached);
        io.run();
        library.join();
        pool.join();
    });
    CHECK(owner_of(loaded, "posted later").parent == analysis::none);
    check_all_add_up(loaded);
}

TEST_CASE("a coroutine runs, and keeps its attributes, in a thread that the runtime has left") {
    last_round end;
    REQUIRE(pthread_key_create(&end.key, last_round::reached) == 0);
    int before = 0;
    std::thread([&end, &before] {
        pthread_setspecific(end.key, &end);
        before = count_tenants();
    }).join();
    pthread_key_delete(end.key);
    CHECK(before == 3);
    CHECK(end.round == last_round::rounds);
    CHECK(end.seen == 3);
}

TEST_CASE("threads that start and end in turn each start coroutines outside of handlers") {
    constexpr int count = 40;
    std::vector<int> seen(count);
    const auto loaded = record([&seen] {
        for (int& each : seen) std::thread([&each] { each = count_tenants(); }).join();
    });
    CHECK(std::count(seen.begin(), seen.end(), 3) == count);
    CHECK(loaded.tasks.size() == count);
    check_all_add_up(loaded);
}

TEST_CASE("a co_spawn without an awaiter does not have the line of an earlier await") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, awaits_then_spawns(), net::detached);
        io.run();
    });
    const analysis::task_info& child =
        task_named(loaded, "co_spawn");  // this coroutine has no await
    CHECK(loaded.sites[child.spawn_site].line == 0);
}
