// SPDX-License-Identifier: Apache-2.0
#include <coroscope/trace/jobs.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <initializer_list>
#include <mutex>
#include <sched.h>
#include <thread>
#include <vector>

namespace coroscope::trace {
namespace {

class parts_in_turn {
public:
    parts_in_turn(std::size_t parts, void (*call)(const void*, std::size_t), const void* work)
        : parts_(parts), call_(call), work_(work) {}

    void run() noexcept {
        for (std::size_t part = next_++; part < parts_; part = next_++) {
            try {
                call_(work_, part);
            } catch (...) {
                next_ = parts_;
                const std::lock_guard lock(mutex_);
                if (!thrown_) thrown_ = std::current_exception();
            }
        }
    }

    /// Must be called after all threads have ended.
    void rethrow() const {
        if (thrown_) std::rethrow_exception(thrown_);
    }

private:
    std::size_t parts_;
    void (*call_)(const void*, std::size_t);
    const void* work_;
    std::atomic<std::size_t> next_{0};
    std::mutex mutex_;
    std::exception_ptr thrown_;
};

// Blocks all signals except faults for the calling thread. The threads that it starts meanwhile
// inherit the mask, so that the program's handlers run on the program's threads only. A handler may
// need data that its author gave only to these, and ThreadSanitizer loses a signal that a thread
// receives shortly before its end.
class blocked_signals {
public:
    blocked_signals() noexcept {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigdelset(&all, fault);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;
    ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

class joined_threads {
public:
    joined_threads() = default;
    joined_threads(const joined_threads&) = delete;
    joined_threads& operator=(const joined_threads&) = delete;
    ~joined_threads() {
        for (std::thread& each : threads_) each.join();
    }

    /// Starts up to `count` threads, as many as the system allows.
    void start(std::size_t count, parts_in_turn& work) {
        const blocked_signals inherited;
        try {
            threads_.reserve(count);
            while (threads_.size() < count) threads_.emplace_back([&work] { work.run(); });
        } catch (const std::exception&) {
            return;  // no thread, or no memory for one: the others do its work
        }
    }

private:
    std::vector<std::thread> threads_;
};

}  // namespace

unsigned usable_processors() noexcept {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        return std::max(1U, static_cast<unsigned>(CPU_COUNT(&usable)));
    return std::max(1U, std::thread::hardware_concurrency());  // more processors than the set holds
}

void run_parts(unsigned jobs, std::size_t parts, void (*call)(const void*, std::size_t),
               const void* work) {
    if (parts == 0) return;
    if (jobs == 0) jobs = usable_processors();
    parts_in_turn in_turn(parts, call, work);
    {
        joined_threads threads;
        threads.start(std::min<std::size_t>(jobs, parts) - 1, in_turn);
        in_turn.run();
    }
    in_turn.rethrow();
}

}  // namespace coroscope::trace
