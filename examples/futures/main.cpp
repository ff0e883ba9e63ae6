// SPDX-License-Identifier: Apache-2.0

// Futures: a range that lasts until a future is ready, and a coroutine that awaits it. The
// producers coroscope::promise, packaged_task and async replace those of the standard library.

#include <coroscope/coroscope.hpp>
#include <coroscope/future.hpp>

#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

namespace {

using namespace std::chrono_literals;

// Answers on a thread of its own.
class database {
public:
    coroscope::future<int> count_rows() {
        coroscope::promise<int> answer;
        coroscope::future<int> counted = answer.get_future();
        thread_ = std::jthread([answer = std::move(answer)]() mutable {
            std::this_thread::sleep_for(2ms);
            answer.set_value(42);
        });
        return counted;
    }

private:
    std::jthread thread_;
};

coroscope::task<int> report(database& from) {
    COROSCOPE_FUNCTION();
    const coroscope::range query("db.count_rows");  // ends when the future is ready
    co_return co_await call_end_callbacks_on_future(query, from.count_rows());
}

}  // namespace

int main() {
    const coroscope::profile session({.output = "futures.cst", .all_threads = true});
    if (session.status().state == coroscope::session_state::refused)
        std::printf("nothing is recorded: %s\n", session.status().message);

    database rows;
    std::printf("%d rows\n", coroscope::sync_wait(report(rows)));
}
