// SPDX-License-Identifier: Apache-2.0

// Writes the trace of a busy service, with 96 records per request, for the benchmarks of the
// commands that explain requests.
//
//     bench_busy_service FILE REQUESTS
//
// Eight requests at a time run on an executor of four threads. In each of ten rounds a request runs
// two scopes and awaits a query. The query is a task on one of the two threads of another executor.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <random>
#include <tuple>
#include <vector>

#include <coroscope/trace/executor_format.hpp>
#include <trace_builder.hpp>

namespace {

using namespace coroscope;

constexpr std::uint32_t workers = 4;
constexpr std::uint32_t databases = 2;
constexpr std::uint32_t poster = workers + databases + 1;
constexpr int rounds = 10;
constexpr std::uint32_t http = 1;      // an executor's number
constexpr std::uint32_t database = 2;  // an executor's number
constexpr std::uint32_t in_frame = trace::scope_in_frame | trace::scope_exact;

struct request {
    std::uint64_t task = 0;
    std::int64_t first_run = 0;
    int round = 0;
};

// The next step of a request: it runs, or its query runs.
struct act {
    std::int64_t time;
    std::size_t request;  // in the batch
    bool is_query;
    bool operator>(const act& other) const {
        return std::tie(time, request) > std::tie(other.time, other.request);
    }
};

class busy_service {
public:
    busy_service() : built_(std::size_t{1} << 16) {
        built_.executor(http, trace::executor_kind::thread_pool, "http")
            .executor(database, trace::executor_kind::thread_pool, "database");
    }

    void serve(std::uint64_t requests) {
        for (std::uint64_t done = 0; done < requests; done += batch_.size()) serve_batch();
        built_.lasts(*std::ranges::max_element(free_) + 1000);
    }

    [[nodiscard]] std::vector<unsigned char> bytes() const { return built_.bytes(); }

private:
    void serve_batch() {
        const std::int64_t start = *std::ranges::max_element(free_) + 1000;
        for (std::size_t at = 0; at < batch_.size(); ++at) {
            batch_[at] = {next_task_++, 0, 0};
            built_.on(poster).spawn(start, batch_[at].task, answer_, ready_on(http));
            acts_.push({start, at, false});
        }
        while (!acts_.empty()) {
            const act next = acts_.top();
            acts_.pop();
            if (next.is_query)
                search(next);
            else
                run(next);
        }
    }

    static constexpr std::uint32_t ready_on(std::uint32_t executor) {
        return trace::spawn_ready | trace::spawn_on(executor);
    }

    // Returns the thread that is free first, of `count` threads from `first` on.
    std::uint32_t first_free(std::uint32_t first, std::uint32_t count) const {
        const auto begin = free_.begin() + first;
        return static_cast<std::uint32_t>(std::min_element(begin, begin + count) - free_.begin());
    }

    // Writes the next run of a request, up to its next query or to its end.
    void run(const act& next) {
        request& of = batch_[next.request];
        const std::uint32_t worker = first_free(1, workers);
        std::int64_t& now = free_[worker];
        now = std::max(now, next.time) + 10;
        test::thread_writer on = built_.on(worker);
        on.resume(now, of.task, 0, 0, http);
        if (of.round == 0) of.first_run = now;
        for (const std::uint32_t site : {parse_, render_}) {
            const std::int64_t length = length_of(200, 2000);
            on.scope(site, now + 10, now + length);
            now += length;
        }
        if (of.round++ == rounds) {
            on.long_scope(request_, of.first_run + 1, now, in_frame, of.task, worker);
            on.finish(++now, of.task);
            return;
        }
        on.spawn(++now, next_task_, query_, ready_on(database));
        on.suspend(++now, of.task, await_);
        queries_[next.request] = next_task_++;
        acts_.push({now - 1, next.request, true});
    }

    // Writes the run of a query, which wakes its request.
    void search(const act& next) {
        const std::uint64_t query = queries_[next.request];
        const std::uint32_t thread = first_free(workers + 1, databases);
        std::int64_t& now = free_[thread];
        now = std::max(now, next.time + 1) + 10;
        const std::int64_t length = length_of(500, query % 1000 == 0 ? 200'000 : 2500);
        test::thread_writer on = built_.on(thread);
        on.resume(now, query, 0, 0, database);
        on.scope(search_, now + 10, now + length - 10);
        now += length;
        on.wake(now, batch_[next.request].task, query, thread, http);
        acts_.push({now, next.request, false});
        on.finish(++now, query);
    }

    std::int64_t length_of(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }

    test::trace_builder built_;
    std::uint32_t answer_ = built_.site("answer", "http.cpp", 10, trace::site_kind::coroutine);
    std::uint32_t query_ = built_.site("query", "store.cpp", 20, trace::site_kind::coroutine);
    std::uint32_t request_ = built_.site("GET /item", "http.cpp", 12, trace::site_kind::request);
    std::uint32_t await_ = built_.site("db.get", "http.cpp", 30, trace::site_kind::await);
    std::uint32_t parse_ = built_.site("parse", "http.cpp", 40);
    std::uint32_t render_ = built_.site("render", "http.cpp", 50);
    std::uint32_t search_ = built_.site("search", "store.cpp", 60);
    std::mt19937 random_{7};
    std::array<std::int64_t, poster + 1> free_{};  // by thread: the end of its last work
    std::array<request, 2 * workers> batch_{};
    std::array<std::uint64_t, 2 * workers> queries_{};                 // their tasks
    std::priority_queue<act, std::vector<act>, std::greater<>> acts_;  // the first on top
    std::uint64_t next_task_ = 1;
};

}  // namespace

int main(int count, char** words) {
    if (count != 3) {
        std::fputs("usage: bench_busy_service FILE REQUESTS\n", stderr);
        return 2;
    }
    busy_service service;
    service.serve(std::strtoull(words[2], nullptr, 10));
    const std::vector<unsigned char> bytes = service.bytes();
    std::FILE* const file = std::fopen(words[1], "wb");
    if (file == nullptr) {
        std::perror(words[1]);
        return 1;
    }
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && written ? 0 : 1;
}
