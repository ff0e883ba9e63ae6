// SPDX-License-Identifier: Apache-2.0

// The executors of Asio's operations: contexts, pools and strands.

#include <algorithm>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/analysis/executor_statistics.hpp>

#include "asio_library.hpp"
#include "recording.hpp"

namespace {

using coroscope::trace::executor_kind;

// Those that got work, in the order in which they were first seen. The process may know others, of
// earlier tests.
std::vector<std::uint32_t> used_executors(const analysis::trace& loaded) {
    std::vector<std::uint32_t> found;
    for (const auto& each : analysis::statistics_of_executors(loaded))
        found.push_back(each.executor);
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<std::uint32_t> executors_of_kind(const analysis::trace& loaded, executor_kind kind) {
    std::vector<std::uint32_t> found = used_executors(loaded);
    std::erase_if(found, [&](std::uint32_t at) { return loaded.executors[at].kind != kind; });
    return found;
}

std::uint32_t only_of_kind(const analysis::trace& loaded, executor_kind kind) {
    const auto found = executors_of_kind(loaded, kind);
    REQUIRE(found.size() == 1);
    return found[0];
}

std::uint64_t jobs_of(const analysis::trace& loaded, std::uint32_t executor) {
    for (const auto& each : analysis::statistics_of_executors(loaded))
        if (each.executor == executor) return each.jobs;
    return 0;
}

#if defined(COROSCOPE_TEST_ASIO_HAS_BOUND_TOKENS)
net::awaitable<void> hop(net::thread_pool& pool) {
    co_await net::post(net::bind_executor(pool, net::use_awaitable));
    COROSCOPE("on the pool");
}
#endif

net::awaitable<void> sleep_once() {
    net::steady_timer timer(co_await net::this_coro::executor, 1ms);
    co_await timer.async_wait(net::use_awaitable);
}

// The awaits that ended on that executor.
std::ptrdiff_t awaits_on(const analysis::trace& loaded, std::uint32_t executor) {
    return std::count_if(loaded.awaits.begin(), loaded.awaits.end(),
                         [&](const auto& await) { return await.executor == executor; });
}

}  // namespace

TEST_SUITE("executors") {
    TEST_CASE("a handler that is posted to a pool is queued at that pool") {
        const auto loaded = record([] {
            net::thread_pool one(1);
            net::thread_pool other(1);
            for (int each = 0; each < 3; ++each) net::post(one, [] {});
            net::post(other, [] {});
            one.join();
            other.join();
        });
        const auto pools = executors_of_kind(loaded, executor_kind::thread_pool);
        REQUIRE(pools.size() == 2);
        CHECK(jobs_of(loaded, pools[0]) == 3);
        CHECK(jobs_of(loaded, pools[1]) == 1);
        for (const auto& task : loaded.tasks) CHECK(task.executor != analysis::none);
    }

    TEST_CASE("a strand knows the pool that it runs on") {
        const auto loaded = record([] {
            net::thread_pool pool(2);
            auto strand = net::make_strand(pool);
            for (int each = 0; each < 5; ++each) net::post(strand, [] { COROSCOPE("in turn"); });
            pool.join();
        });
        const std::uint32_t strand = only_of_kind(loaded, executor_kind::strand);
        CHECK(loaded.executors[strand].inner == only_of_kind(loaded, executor_kind::thread_pool));
        CHECK(jobs_of(loaded, strand) == 5);
        CHECK(owner_of(loaded, "in turn").executor == strand);
    }

#if defined(COROSCOPE_TEST_ASIO_HAS_BOUND_TOKENS)
    TEST_CASE("the awaits of a coroutine name the executor on which it goes on") {
        const auto loaded = record([] {
            net::io_context io;
            net::thread_pool pool(1);
            net::co_spawn(io, hop(pool), net::detached);
            net::co_spawn(io, sleep_once(), net::detached);
            io.run();
            pool.join();
        });
        const std::uint32_t io = only_of_kind(loaded, executor_kind::io_context);
        const std::uint32_t pool = only_of_kind(loaded, executor_kind::thread_pool);
        CHECK(owner_of(loaded, "on the pool").executor == io);
        CHECK(awaits_on(loaded, pool) >= 1);
        CHECK(awaits_on(loaded, io) >= 1);
        for (const auto& await : loaded.awaits)
            if (await.resume_ns && *await.resume_ns > await.suspend_ns)
                CHECK(await.executor != analysis::none);
    }
#endif

    TEST_CASE("the context of a timer is the one that its program posts to") {
        const auto loaded = record([] {
            net::io_context io;
            net::steady_timer timer(io, 1ms);
            timer.async_wait([](const auto&) {});
            net::post(io, [] {});
            io.run();
        });
        CHECK(used_executors(loaded).size() == 1);
        CHECK(jobs_of(loaded, only_of_kind(loaded, executor_kind::io_context)) == 2);
    }

    TEST_CASE("a context of which only a timer was seen has an unknown type") {
        const auto loaded = record([] {
            net::io_context io;
            net::steady_timer timer(io, 1ms);
            timer.async_wait([](const auto&) {});
            io.run();
        });
        CHECK(jobs_of(loaded, only_of_kind(loaded, executor_kind::context)) == 1);
    }

    TEST_CASE("the system executor is one") {
        const auto loaded = record([] {
            std::promise<void> done;
            net::post(net::system_executor(), [&done] { done.set_value(); });
            done.get_future().wait();
        });
        CHECK(jobs_of(loaded, only_of_kind(loaded, executor_kind::system_executor)) == 1);
    }

    TEST_CASE(
        "a context in the memory of another one is another executor, and so are its strands") {
        const auto loaded = record([] {
            std::optional<net::io_context> context;
            for (int each = 0; each < 3; ++each) {
                context.emplace();
                net::post(*context, [] {});
                net::post(net::make_strand(*context), [] {});
                context->run();
            }
        });
        CHECK(executors_of_kind(loaded, executor_kind::io_context).size() == 3);
        const auto strands = executors_of_kind(loaded, executor_kind::strand);
        CHECK(strands.size() == 3);
        for (std::size_t at = 1; at < strands.size(); ++at)
            CHECK(loaded.executors[strands[at]].inner != loaded.executors[strands[at - 1]].inner);
    }

    TEST_CASE("a later session describes the executors that an earlier one has seen") {
        net::thread_pool pool(1);
        for (int each = 0; each < 2; ++each) {
            const auto loaded = record([&pool] {
                std::promise<void> done;
                net::post(pool, [&done] { done.set_value(); });
                done.get_future().wait();
            });
            CHECK(loaded.health.warnings.empty());
            const auto pools = executors_of_kind(loaded, executor_kind::thread_pool);
            REQUIRE(pools.size() == 1);
            CHECK(jobs_of(loaded, pools[0]) == 1);
        }
        pool.join();
    }
}
