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

using pairs = std::vector<burst_pair>;

// A barrier. Threads spin in it, so that all leave it together and none must be woken.
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

// All threads probe at the same time, as they run the bursts, to detect that their processors share
// a core.
double probe(start_line& line) {
    line.wait();
    return additions_per_tick();
}

double run_at_once(start_line& line, burst run, const row& what) {
    line.wait();
    return per_operation(run, what);
}

// Times in ticks.
burst_pair run_pair(const row& what, start_line& line, bool floor_first) {
    double rate = probe(line);
    const double first = run_at_once(line, floor_first ? what.floor : what.subject, what);
    rate = std::min(rate, probe(line));
    const double second = run_at_once(line, floor_first ? what.subject : what.floor, what);
    rate = std::min(rate, probe(line));
    return floor_first ? burst_pair{second, first, rate} : burst_pair{first, second, rate};
}

void run_bursts(const row& what, start_line& line, pairs& result) {
    what.subject(what.operations);
    std::this_thread::sleep_for(settling_time);
    for (int each = 0; each < bursts; ++each) {
        line.wait();
        what.floor(what.operations / 4);  // the pause has let the processor cool down
        result.push_back(run_pair(what, line, each % 2 == 0));
        if (what.settle) what.settle();
        std::this_thread::sleep_for(helper_pause);
    }
}

void run_threads(const row& what, std::vector<pairs>& results) {
    start_line line(what.threads);
    if (what.threads == 1) return run_bursts(what, line, results[0]);
    std::vector<std::thread> threads;
    for (unsigned each = 0; each < what.threads; ++each) {
        threads.emplace_back([&, each] {
            pin_to_processor(each);
            run_bursts(what, line, results[each]);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

// Records until the trace is full, that is until all records of a burst are lost. The pauses give
// the helper its turns.
void fill(const row& what, const coroscope::profile& session) {
    std::uint64_t lost = 0;
    std::uint64_t before = 0;
    do {
        before = lost;
        std::this_thread::sleep_for(settling_time);
        what.subject(what.operations);
        lost = session.status().lost_records;
    } while (lost - before < what.operations);
}

void start_session(const row& what, std::optional<coroscope::profile>& session) {
    constexpr std::uint64_t small_trace = std::uint64_t{1} << 20;
    if (what.session == session_trace::none) return;
    coroscope::profile_options options{.all_threads = true};
    if (what.session == session_trace::full) options.limit_bytes = small_trace;
    options.open_scopes = what.session == session_trace::naming;
    session.emplace(options);
    if (what.session == session_trace::full) fill(what, *session);
}

// The function whose instructions callgrind counts.
[[gnu::noinline]] void counted(burst run, std::uint64_t operations) {
    run(operations);
    clobber();
}

}  // namespace

figure measure(const row& what) {
    std::optional<coroscope::profile> session;
    start_session(what, session);
    const tick_rate clock;
    std::vector<pairs> results(what.threads);
    run_threads(what, results);
    const double ticks_per_ns = clock();

    figure result;
    for (std::size_t each = 0; each < bursts; ++each) {
        double rate = results[0][each].rate;
        for (const pairs& thread : results) rate = std::min(rate, thread[each].rate);
        for (const pairs& thread : results)
            result.pairs.push_back(
                {thread[each].value / ticks_per_ns, thread[each].floor / ticks_per_ns, rate});
    }
    if (session) {
        session->stop();
        if (what.session != session_trace::full)
            result.lost_records = session->status().lost_records;
    }
    return result;
}

void count_instructions(const row& what, bool plain, std::uint64_t operations) {
    std::optional<coroscope::profile> session;
    start_session(what, session);
    const burst run = plain ? what.plain : what.subject;
    run(operations / 8);  // registers sites and takes the first chunk
    std::this_thread::sleep_for(settling_time);
    counted(run, operations);
}

}  // namespace bench
