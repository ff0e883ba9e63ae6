// SPDX-License-Identifier: Apache-2.0

// What a thread keeps for Asio outside of handlers: made when first needed, and gone with the thread.

#include <pthread.h>

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

// How many of three moments a coroutine finds the attribute at under which it was spawned.
int count_tenants() {
    int seen = 0;
    const coroscope::attribute tenant("tenant", "late");
    net::io_context io;
    net::co_spawn(io, count_tenants(seen), net::detached);
    io.run();
    return seen;
}

// Called at the end of a thread, in rounds: in the last one here the runtime has left already. ThreadSanitizer leaves in
// the fourth, which is the last that there is.
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

}  // namespace

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

TEST_CASE("threads that come and go each start coroutines outside of handlers") {
    constexpr int count = 40;
    std::vector<int> seen(count);
    const auto loaded = record([&seen] {
        for (int& each : seen) std::thread([&each] { each = count_tenants(); }).join();
    });
    CHECK(std::count(seen.begin(), seen.end(), 3) == count);
    CHECK(count_tasks(loaded, "co_spawn") == count);
    check_all_add_up(loaded);
}

TEST_CASE("a co_spawn that nobody awaits does not bear the line of an await before it") {
    const auto loaded = record([] {
        net::io_context io;
        net::co_spawn(io, awaits_then_spawns(), net::detached);
        io.run();
    });
    CHECK(count_tasks(loaded, "co_spawn") == 2);
    for (const analysis::task_info& task : loaded.tasks)
        if (task.spawn_site != analysis::none) CHECK(loaded.sites[task.spawn_site].line == 0);
}
