// SPDX-License-Identifier: Apache-2.0
#include "waking_thread.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <mutex>
#include <new>
#include <utility>

#include <pthread.h>

#include <coroscope/detail/device_wait.hpp>

#include "../base/blocked_signals.hpp"
#include "../base/forks.hpp"
#include "../base/uncancelled.hpp"

namespace coroscope::detail {
namespace {

constexpr std::int64_t shortest_ns = 20'000;
constexpr std::int64_t longest_ns = 1'000'000;
constexpr std::int64_t seldom_ns = 50'000'000;
constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();
constexpr std::time_t longest_exit_seconds = 1;

std::int64_t monotonic_now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

class waking_thread {
public:
    bool start() noexcept;
    void watch(device_wait_ptr watched, look_again again) noexcept;
    void run(callback& job) noexcept;
    void end_with_process() noexcept;

    std::mutex& mutex() noexcept { return mutex_; }

private:
    static void* serve(void* self) noexcept;
    void serve_jobs(std::unique_lock<std::mutex>& lock) noexcept;
    void sleep(std::unique_lock<std::mutex>& lock, std::int64_t due_ns);
    void take_in(device_wait* added, std::int64_t now_ns) noexcept;
    std::int64_t look_at_all(std::int64_t now_ns) noexcept;
    void let_go(device_wait& wait) noexcept;
    static bool is_over(device_wait& wait, std::int64_t now_ns) noexcept;
    static std::int64_t period(const device_wait& wait, std::int64_t now_ns) noexcept;

    std::mutex mutex_;
    std::condition_variable changed_;
    bool running_ = false;
    bool stopping_ = false;
    bool sleeps_for_good_ = false;
    callback* first_job_ = nullptr;
    callback* last_job_ = nullptr;
    device_wait* added_ = nullptr;
    pthread_t thread_{};

    device_wait* watched_ = nullptr;  // only the waking thread uses it
    device_wait* kept_ = nullptr;     // the same
};

namespace {

// The object is never destroyed, because the device may call back until the process ends.
alignas(waking_thread) unsigned char place[sizeof(waking_thread)];

waking_thread& current() noexcept { return *std::launder(reinterpret_cast<waking_thread*>(place)); }

// Also called in a forked child, which has no waking thread. The waits that the parent's thread
// watched are not released.
void begin_anew() noexcept { new (place) waking_thread; }

constinit runtime::fork_guest around_forks{
    runtime::fork_rank::waking, [](runtime::fork_guest&) noexcept { current().mutex().lock(); },
    [](runtime::fork_guest&) noexcept { current().mutex().unlock(); }, begin_anew};

bool make() noexcept {
    begin_anew();
    runtime::join_forks(around_forks);
    return std::atexit([] { current().end_with_process(); }) == 0;
}

}  // namespace

bool waking_thread::start() noexcept {
    const std::lock_guard lock(mutex_);
    if (running_ || stopping_) return running_;
    const runtime::blocked_signals inherited;
    running_ = ::pthread_create(&thread_, nullptr, serve, this) == 0;
    return running_;
}

void waking_thread::watch(device_wait_ptr watched, look_again again) noexcept {
    device_wait* added = watched.detach();
    added->again_ = again;
    added->since_ns_ = monotonic_now();
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    added->next_ = added_;
    added_ = added;
    // A wait that is checked seldom wakes the thread only if the thread sleeps without a limit.
    if (again == look_again::often || sleeps_for_good_) changed_.notify_one();
}

void waking_thread::run(callback& job) noexcept {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    job.next = nullptr;
    (last_job_ == nullptr ? first_job_ : last_job_->next) = &job;
    last_job_ = &job;
    changed_.notify_one();
}

// Waits up to a second for the running job. It does not wait longer, because the job may wait for
// the exiting thread.
void waking_thread::end_with_process() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        if (!running_) return;
        changed_.notify_one();
    }
    if (::pthread_equal(::pthread_self(), thread_) != 0) return;
    const runtime::uncancelled meanwhile;
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += longest_exit_seconds;
    ::pthread_timedjoin_np(thread_, nullptr, &until);
}

void* waking_thread::serve(void* self) noexcept {
    ::pthread_setname_np(::pthread_self(), "coroscope-wake");
    auto& mine = *static_cast<waking_thread*>(self);
    std::unique_lock lock(mine.mutex_);
    while (!mine.stopping_) {
        if (mine.first_job_ != nullptr) {
            mine.serve_jobs(lock);
            continue;
        }
        device_wait* const added = std::exchange(mine.added_, nullptr);
        lock.unlock();
        mine.take_in(added, monotonic_now());
        const std::int64_t due_ns = mine.look_at_all(monotonic_now());
        lock.lock();
        if (!mine.stopping_ && mine.first_job_ == nullptr && mine.added_ == nullptr)
            mine.sleep(lock, due_ns);
    }
    return nullptr;
}

void waking_thread::serve_jobs(std::unique_lock<std::mutex>& lock) noexcept {
    callback* job = std::exchange(first_job_, nullptr);
    last_job_ = nullptr;
    lock.unlock();
    while (job != nullptr) {
        callback* const next = job->next;
        job->run(*job);
        job = next;
    }
    lock.lock();
}

void waking_thread::sleep(std::unique_lock<std::mutex>& lock, std::int64_t due_ns) {
    sleeps_for_good_ = due_ns == never_ns;
    if (sleeps_for_good_)
        changed_.wait(lock);
    else
        changed_.wait_until(
            lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(due_ns)));
    sleeps_for_good_ = false;
}

void waking_thread::take_in(device_wait* added, std::int64_t now_ns) noexcept {
    while (added != nullptr) {
        device_wait* const next = std::exchange(added->next_, watched_);
        added->due_ns_ = added->since_ns_ + period(*added, now_ns);
        watched_ = added;
        added = next;
    }
}

std::int64_t waking_thread::period(const device_wait& wait, std::int64_t now_ns) noexcept {
    if (wait.again_ == look_again::seldom) return seldom_ns;
    return std::clamp((now_ns - wait.since_ns_) / 8, shortest_ns, longest_ns);
}

// Checks the waits that are due, and removes those that are over. Returns the time at which the
// next wait is due.
std::int64_t waking_thread::look_at_all(std::int64_t now_ns) noexcept {
    std::int64_t next_ns = never_ns;
    for (device_wait** at = &watched_; *at != nullptr;) {
        device_wait& wait = **at;
        if (is_over(wait, now_ns)) {
            *at = wait.next_;
            let_go(wait);
            continue;
        }
        next_ns = std::min(next_ns, wait.due_ns_);
        at = &wait.next_;
    }
    return next_ns;
}

// Releases the wait. If the device may still call back, keeps its memory until the process ends.
void waking_thread::let_go(device_wait& wait) noexcept {
    if (!wait.is_expected()) return wait.release();
    wait.next_ = kept_;
    kept_ = &wait;
}

bool waking_thread::is_over(device_wait& wait, std::int64_t now_ns) noexcept {
    if (wait.is_over() && !wait.is_expected()) return true;
    if (wait.due_ns_ > now_ns) return false;
    wait.due_ns_ = now_ns + period(wait, now_ns);
    return wait.look_now();
}

bool start_waking_thread() noexcept {
    static const bool made = make();
    return made && current().start();
}
void watch(device_wait_ptr watched, look_again again) noexcept {
    current().watch(std::move(watched), again);
}
void run_on_waking_thread(callback& job) noexcept { current().run(job); }

}  // namespace coroscope::detail
