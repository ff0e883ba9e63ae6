// SPDX-License-Identifier: Apache-2.0

// Attributes follow work through Asio, with and without a session.

#include <atomic>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "asio_library.hpp"
#include "recording.hpp"

namespace {

std::string tenant() {
    const coroscope::attribute_value found = coroscope::current_attribute("tenant");
    return found ? std::string(found.data(), found.size()) : std::string();
}

struct tally {
    std::atomic<int> right{0};
    std::atomic<int> wrong{0};
    void expect(std::string_view name) { ++(tenant() == name ? right : wrong); }
};

net::awaitable<void> child(std::string name, tally& seen) {
    seen.expect(name);
    net::steady_timer timer(co_await net::this_coro::executor, 1ms);
    co_await timer.async_wait(net::use_awaitable);
    seen.expect(name);
}

// Carries its tenant at six moments. Other requests run on the same threads in between.
net::awaitable<void> request(std::string name, net::thread_pool& pool, tally& seen) {
    const auto executor = co_await net::this_coro::executor;
    {
        const coroscope::attribute mine("tenant", name);
        co_await net::post(executor, net::use_awaitable);
        seen.expect(name);
        co_await net::co_spawn(pool, child(name, seen), net::use_awaitable);
        seen.expect(name);
        net::post(pool, [name, &seen] { seen.expect(name); });
        co_await child(name, seen);
    }
    seen.expect("");
    co_await net::post(executor, net::use_awaitable);
    seen.expect("");
}

void serve(tally& seen, int requests) {
    net::io_context io;
    net::thread_pool pool(2);
    for (int each = 0; each < requests; ++each)
        net::co_spawn(net::make_strand(io), request(std::to_string(each) + "t", pool, seen),
                      net::detached);
    std::thread other([&io] { io.run(); });
    io.run();
    other.join();
    pool.join();
    seen.expect("");
}

/// The attribute of a scope in the trace; "" if it has none.
std::string tenant_of(const analysis::trace& loaded, const std::string& scope) {
    const std::uint32_t value =
        analysis::attribute_value(loaded, scope_named(loaded, scope).attribute, "tenant");
    return value == analysis::none ? "" : loaded.strings[value];
}

// A composed operation of one step, which waits for a timer.
struct rests {
    net::steady_timer* timer;
    bool rested = false;

    template <class Self>
    void operator()(Self& self, net_error::error_code error = {}) {
        if (rested) {
            COROSCOPE("step");
            return self.complete(error);
        }
        rested = true;
        timer->expires_after(1ms);
        timer->async_wait(std::move(self));
    }
};

net::awaitable<void> rest() {
    net::steady_timer timer(co_await net::this_coro::executor);
    co_await net::async_compose<const net::use_awaitable_t<>, void(net_error::error_code)>(
        rests{&timer}, net::use_awaitable, timer);
    COROSCOPE("rested");
}

void spawn_resting(net::io_context& io) {
    const coroscope::attribute mine("tenant", "guest");
    net::co_spawn(io, rest(), [](const std::exception_ptr&) { COROSCOPE("completed"); });
    net::post(io, [] { COROSCOPE("posted"); });
}

net::awaitable<void> at_once() { co_return; }

// Counts how often the result of a coroutine that never suspends is delivered under its tenant.
void hand_over(tally& seen) {
    net::io_context io;
    net::thread_pool pool(1);
    const auto completed = [&seen](const std::exception_ptr&) {
        COROSCOPE("completed");
        seen.expect("guest");
    };
    {
        const coroscope::attribute mine("tenant", "guest");
        net::co_spawn(io, at_once(), completed);
        net::co_spawn(io, at_once(), net::bind_executor(pool, completed));
    }
    io.run();
    pool.join();
    seen.expect("");
}

constexpr int requests = 50;
constexpr int checks = requests * 9 + 1;

}  // namespace

TEST_CASE("attributes follow coroutines and handlers without a session") {
    tally seen;
    serve(seen, requests);
    CHECK(seen.right.load() == checks);
    CHECK(seen.wrong.load() == 0);
}

TEST_CASE("attributes follow coroutines and handlers during a session") {
    tally seen;
    const auto loaded = record([&seen] { serve(seen, requests); });
    CHECK(seen.right.load() == checks);
    CHECK(seen.wrong.load() == 0);
    check_all_add_up(loaded);
}

TEST_CASE("attributes stay carried while sessions start and stop") {
    tally seen;
    std::atomic<bool> done{false};
    std::thread recorder([&done] {
        while (!done) {
            coroscope::profile session({.all_threads = true});
            std::this_thread::sleep_for(2ms);
        }
    });
    for (int round = 0; round < 5; ++round) serve(seen, requests);
    done = true;
    recorder.join();
    CHECK(seen.right.load() == 5 * checks);
    CHECK(seen.wrong.load() == 0);
}

TEST_CASE("scopes between a coroutine's awaits are recorded under the coroutine's attributes") {
    const auto loaded = record([] {
        net::io_context io;
        spawn_resting(io);
        io.run();
        COROSCOPE("afterwards");
    });
    CHECK(tenant_of(loaded, "step") == "guest");
    CHECK(tenant_of(loaded, "rested") == "guest");
    CHECK(tenant_of(loaded, "completed") == "guest");
    CHECK(tenant_of(loaded, "posted") == "guest");
    CHECK(tenant_of(loaded, "afterwards").empty());
    CHECK(scope_named(loaded, "step").task == analysis::none);
    check_all_add_up(loaded);
}

TEST_CASE("a loop that runs under other attributes has them back between a coroutine's awaits") {
    const auto loaded = record([] {
        net::io_context io;
        spawn_resting(io);
        const coroscope::attribute other("tenant", "host");
        io.run_one();  // the coroutine's first turn
        COROSCOPE("host's");
        io.run();
        COROSCOPE("host's again");
    });
    CHECK(tenant_of(loaded, "step") == "guest");
    CHECK(tenant_of(loaded, "completed") == "guest");
    CHECK(tenant_of(loaded, "host's") == "host");
    CHECK(tenant_of(loaded, "host's again") == "host");
    check_all_add_up(loaded);
}

TEST_CASE("the result of a coroutine that never suspends is delivered under its attributes") {
    tally seen;
    hand_over(seen);
    CHECK(seen.right.load() == 3);
    const auto loaded = record([&seen] { hand_over(seen); });
    CHECK(seen.right.load() == 6);
    CHECK(seen.wrong.load() == 0);
    CHECK(tenant_of(loaded, "completed") == "guest");
    check_all_add_up(loaded);
}
