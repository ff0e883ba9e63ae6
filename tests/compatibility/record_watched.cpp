// SPDX-License-Identifier: Apache-2.0
#include "record_watched.hpp"

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include <coroscope/coroscope.hpp>
#include <coroscope/end_of_service.hpp>
#include <coroscope/executor_adaptor.hpp>
#include <coroscope/request.hpp>
#include <coroscope/traced_mutex.hpp>
#include <coroscope/value.hpp>

namespace coroscope::test {
namespace {

using namespace std::chrono_literals;

struct thread_per_job {
    template <class Job>
    void execute(Job job) {
        std::thread([job = std::move(job)]() mutable { job(); }).join();
    }
};
using hopping = executor_adaptor<thread_per_job>;

traced_mutex<> cache("cache");

task<int> row(int number) {
    COROSCOPE_REQUEST_TASK("row");
    const std::lock_guard held(cache);
    COROSCOPE_VALUE("number", number);
    co_return number;
}

task<> answer(hopping& workers, int number) {
    COROSCOPE_REQUEST("GET /item", 50ms);
    co_await workers.schedule();
    co_await row(number);
}

void hold() {
    COROSCOPE("holds the cache");
    const std::lock_guard held(cache);
    std::this_thread::sleep_for(25ms);
}

}  // namespace

void record_watched(const std::string& file) {
    profile_options options;
    options.output = file.c_str();
    options.all_threads = true;
    options.chunk_bytes = 4096;
    options.trace_id = []() noexcept -> const char* { return "FIXTURE"; };
    profile session(options);
    hopping workers(thread_per_job{}, "workers");
    for (int number = 0; number < 3; ++number) sync_wait(answer(workers, number));
    std::thread holder(hold);
    std::this_thread::sleep_for(5ms);
    sync_wait(row(3));
    holder.join();
    end_of_service();
    session.stop();
}

}  // namespace coroscope::test
