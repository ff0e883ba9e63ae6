// SPDX-License-Identifier: Apache-2.0

// A service whose requests do the same work in each run, for comparisons of runs:
//
//     compared_service TRACE REQUESTS [SCOPE=PERCENT]…
//
// answers that many requests and records them into TRACE. SCOPE=PERCENT adds that share to the
// work of a scope; "back-end=PERCENT" adds it to the time after which the back-end answers.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include <boost/asio.hpp>
#include <coroscope/coroscope.hpp>

namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

std::map<std::string, int, std::less<>> planted;

/// Returns `amount` with the planted share of that scope.
std::int64_t with_planted(std::string_view scope, std::int64_t amount) {
    const auto found = planted.find(scope);
    return found == planted.end() ? amount : amount * (100 + found->second) / 100;
}

volatile std::uint64_t result = 0;

void compute(std::int64_t rounds) {
    std::uint64_t state = result | 1U;
    for (std::int64_t round = 0; round < rounds; ++round)
        state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    result = state;
}

void parse_header() {
    COROSCOPE("parse");
    compute(with_planted("parse", 4'000));
}

void check_signature(int number) {
    COROSCOPE("signature");  // its work depends on the request
    compute(with_planted("signature", 20'000 + 4'000 * (number % 7)));
}

void sort_rows() {
    COROSCOPE("sort");
    const std::int64_t times = with_planted("sort", 20);
    for (std::int64_t time = 0; time < times; ++time) {
        std::minstd_rand random(1);
        std::vector<std::uint32_t> rows(200);
        std::ranges::generate(rows, random);
        std::ranges::sort(rows);
        result = rows[7];
    }
}

class row_cache {
public:
    row_cache() {
        std::minstd_rand random(1);
        for (std::uint32_t row = 0; row < 100'000; ++row)
            rows_[static_cast<std::uint32_t>(random())] = row;
    }

    void look_up() const {
        COROSCOPE("look up");
        std::minstd_rand random(1);
        std::uint64_t sum = 0;
        const std::int64_t keys = with_planted("look up", 500);
        for (std::int64_t key = 0; key < keys; ++key) {
            const auto found = rows_.find(static_cast<std::uint32_t>(random()));
            if (found != rows_.end()) sum += found->second;
        }
        result = sum;
    }

private:
    std::unordered_map<std::uint32_t, std::uint32_t> rows_;
};

void render() {
    COROSCOPE("render");
    std::string page;
    const std::int64_t rows = with_planted("render", 300);
    for (std::int64_t row = 0; row < rows; ++row) {
        char text[64];
        page.append(text, static_cast<std::size_t>(std::snprintf(
                              text, sizeof text, "<tr><td>%d</td></tr>", static_cast<int>(row))));
    }
    result = page.size();
}

void compress() {
    COROSCOPE("compress");
    for (int block = 0; block < 8; ++block) {
        COROSCOPE("block");
        compute(with_planted("block", 3'000));
    }
    compute(with_planted("compress", 60'000));
}

/// Answers on a thread of its own, after a time.
class back_end {
public:
    back_end() : thread_([this] { io_.run(); }) {}

    awaitable<void> query(std::chrono::microseconds time) {
        const std::chrono::microseconds planted_time(with_planted("back-end", time.count()));
        co_await asio::co_spawn(io_, answer(planted_time), use_awaitable);
    }

private:
    static awaitable<void> answer(std::chrono::microseconds time) {
        asio::steady_timer timer(co_await asio::this_coro::executor, time);
        co_await timer.async_wait(use_awaitable);
    }

    asio::io_context io_;
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    std::jthread thread_;

public:
    ~back_end() { io_.stop(); }
};

awaitable<void> answer(int number, back_end& database, const row_cache& cache) {
    COROSCOPE_REQUEST("GET /page");
    parse_header();
    check_signature(number);
    co_await COROSCOPE_AWAIT("db.query", database.query(std::chrono::microseconds(2'000)));
    cache.look_up();
    sort_rows();
    render();
    compress();
}

awaitable<void> send_requests(int requests, back_end& database, const row_cache& cache) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    for (int number = 0; number < requests; ++number) {
        asio::co_spawn(executor, answer(number, database, cache), asio::detached);
        timer.expires_after(std::chrono::milliseconds(2));
        co_await timer.async_wait(use_awaitable);
    }
}

void record_requests(const char* trace, int number) {
    const row_cache cache;
    back_end database;
    const coroscope::profile session({.output = trace, .all_threads = true});
    asio::io_context io;
    asio::co_spawn(io, send_requests(number, database, cache), asio::detached);
    std::jthread other([&io] { io.run(); });
    io.run();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    for (int at = 3; at < argc; ++at) {
        const std::string_view text = argv[at];
        const std::size_t sign = text.find('=');
        if (sign == text.npos) return 2;
        planted.emplace(text.substr(0, sign), std::atoi(argv[at] + sign + 1));
    }
    record_requests(argv[1], std::atoi(argv[2]));
    return 0;
}
