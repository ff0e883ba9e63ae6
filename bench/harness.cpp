// SPDX-License-Identifier: Apache-2.0
#include "harness.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include <pthread.h>
#include <sched.h>

#include <coroscope/profile.hpp>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr int bursts = 41;
constexpr auto helper_pause = 2ms;
constexpr auto settling_time = 20ms;

struct samples {
    std::vector<double> subject;
    std::vector<double> floor;
    std::vector<double> at_once;  ///< of the first thread
};

// Threads leave it together. Spins, so that none of them has to be woken.
class start_line {
public:
    explicit start_line(unsigned threads) : threads_(threads) {}

    void wait() {
        const unsigned round = round_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
            return;
        }
        while (round_.load(std::memory_order_acquire) == round) __builtin_ia32_pause();
    }

private:
    unsigned threads_;
    std::atomic<unsigned> arrived_{0};
    std::atomic<unsigned> round_{0};
};

// Ticks per nanosecond, over the time between construction and the call.
class tick_rate {
public:
    double operator()() const {
        const auto ticks = static_cast<double>(counter_ticks() - ticks_);
        const std::chrono::duration<double, std::nano> time =
            std::chrono::steady_clock::now() - time_;
        return ticks / time.count();
    }

private:
    std::uint64_t ticks_ = counter_ticks();
    std::chrono::steady_clock::time_point time_ = std::chrono::steady_clock::now();
};

// The ticks of additions in registers alone: they take longer beside others only where the processors share a core.
std::uint64_t additions() {
    std::uint64_t sums[4] = {};
    return repeat(5'000, [&] {
        __asm__ volatile("add $1, %0; add $1, %1; add $1, %2; add $1, %3"
                         : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
                         :
                         : "cc");
    });
}

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void pin_to_processor(unsigned wanted) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (!CPU_ISSET(processor, &allowed) || wanted-- != 0) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
        return;
    }
}

double per_operation(burst run, const row& what) {
    return static_cast<double>(run(what.operations)) / static_cast<double>(what.operations);
}

void add_at_once_and_alone(start_line& line, bool first, samples& result) {
    line.wait();
    const auto beside = static_cast<double>(additions());
    line.wait();
    if (first) result.at_once.push_back(static_cast<double>(additions()) / beside);
    line.wait();
}

void run_bursts(const row& what, start_line& line, bool first_thread, samples& result) {
    what.subject(what.operations);
    std::this_thread::sleep_for(settling_time);
    for (int each = 0; each < bursts; ++each) {
        line.wait();
        what.floor(what.operations / 4);  // the pause has let the processor cool down
        const bool floor_first = each % 2 == 0;
        line.wait();
        const double first = per_operation(floor_first ? what.floor : what.subject, what);
        line.wait();
        const double second = per_operation(floor_first ? what.subject : what.floor, what);
        result.floor.push_back(floor_first ? first : second);
        result.subject.push_back(floor_first ? second : first);
        if (what.threads > 1) add_at_once_and_alone(line, first_thread, result);
        if (what.settle) what.settle();
        std::this_thread::sleep_for(helper_pause);
    }
}

void run_threads(const row& what, std::vector<samples>& results) {
    start_line line(what.threads);
    if (what.threads == 1) return run_bursts(what, line, true, results[0]);
    std::vector<std::thread> threads;
    for (unsigned each = 0; each < what.threads; ++each) {
        threads.emplace_back([&, each] {
            pin_to_processor(each);
            run_bursts(what, line, each == 0, results[each]);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

// The function whose instructions callgrind counts.
[[gnu::noinline]] void counted(burst run, std::uint64_t operations) {
    run(operations);
    clobber();
}

}  // namespace

figure measure(const row& what) {
    std::optional<coroscope::profile> session;
    if (what.recording) session.emplace(coroscope::profile_options{.all_threads = true});
    const tick_rate rate;
    std::vector<samples> results(what.threads);
    run_threads(what, results);
    const double ticks_per_ns = rate();

    samples all;
    for (const samples& each : results) {
        all.subject.insert(all.subject.end(), each.subject.begin(), each.subject.end());
        all.floor.insert(all.floor.end(), each.floor.begin(), each.floor.end());
    }
    figure result;
    result.value_ns = median(all.subject) / ticks_per_ns;
    result.floor_ns = median(all.floor) / ticks_per_ns;
    if (what.threads > 1) result.at_once = median(results[0].at_once);
    if (session) {
        session->stop();
        result.lost_records = session->status().lost_records;
    }
    return result;
}

void count_instructions(const row& what, bool plain, std::uint64_t operations) {
    std::optional<coroscope::profile> session;
    if (what.recording) session.emplace(coroscope::profile_options{.all_threads = true});
    const burst run = plain ? what.plain : what.subject;
    run(operations / 8);  // sites are registered, the first chunk is taken
    std::this_thread::sleep_for(settling_time);
    counted(run, operations);
}

}  // namespace bench
