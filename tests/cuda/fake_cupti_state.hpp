// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state of the fake CUPTI, shared by the functions of CUPTI (fake_cupti_entries.cpp) and the
// functions for tests (fake_cupti.cpp).

#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "fake_cupti.hpp"

namespace coroscope::test::fake_cupti {

inline constexpr std::uint32_t launch_kernel_cbid = 211;  // cudaLaunchKernel's
inline constexpr std::uint32_t driver_launch_cbid = 307;

/// A function with a callback: its domain and its number there.
using api_function = std::pair<CUpti_CallbackDomain, CUpti_CallbackId>;

struct filled_buffer {
    std::uint8_t* memory = nullptr;
    std::size_t bytes = 0;
    std::size_t used = 0;
};

inline std::atomic<std::uint64_t> call_count{0};

// One thread's stack of external ids. It has no destructor: fibers are switched while a thread's
// variables are destroyed.
class id_stack {
public:
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::uint64_t back() const { return ids_.at(size_ - 1); }
    void push_back(std::uint64_t id) { ids_.at(size_++) = id; }
    void pop_back() { --size_; }

private:
    std::array<std::uint64_t, 1024> ids_{};
    std::size_t size_ = 0;
};
inline constinit thread_local id_stack external_ids;

// Delivers filled buffers, in order, on a thread of its own, which runs until the process ends.
class courier {
public:
    void send(const filled_buffer& buffer, CUpti_BuffersCallbackCompleteFunc to) {
        const std::lock_guard lock(mutex_);
        if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
        queue_.push_back({buffer, to});
        changed_.notify_all();
    }
    void wait_until_idle() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
    }

private:
    struct parcel {
        filled_buffer buffer;
        CUpti_BuffersCallbackCompleteFunc to;
    };
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return !queue_.empty(); });
            const parcel next = queue_.front();
            queue_.pop_front();
            busy_ = true;
            lock.unlock();
            next.to(nullptr, 0, next.buffer.memory, next.buffer.bytes, next.buffer.used);
            lock.lock();
            busy_ = false;
            changed_.notify_all();
        }
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<parcel> queue_;
    bool busy_ = false;
    std::thread thread_;
};

class cupti {
public:
    std::mutex mutex;
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    std::atomic<CUpti_TimestampCallbackFunc> timestamp{nullptr};
    std::set<std::uint32_t> enabled;
    std::map<std::uint32_t, CUptiResult> refused;
    CUptiResult subscriber_answer = CUPTI_SUCCESS;
    CUptiResult clock_answer = CUPTI_SUCCESS;
    CUptiResult callback_answer = CUPTI_SUCCESS;
    CUpti_CallbackFunc callback = nullptr;
    std::set<api_function> called_back;
    std::set<CUpti_CallbackDomain> domains_called_back;
    std::atomic<std::int64_t> skew_ns{0};
    std::set<std::uint32_t> captured;  ///< streams
    bool fails_next = false;
    bool subscribed = false;
    bool holds = false;
    bool keeps = false;
    bool system_threads = false;
    bool latency = false;
    CUptiResult latency_answer = CUPTI_SUCCESS;
    bool ended = false;
    std::size_t dropped = 0;
    int driver_devices = 0;
    std::uint32_t last_correlation = 0;
    id_counts counts;
    std::vector<CUpti_ActivityKernel10> in_flight;

    void append(const void* record, std::size_t bytes) {
        CUpti_ActivityKind kind{};
        std::memcpy(&kind, record, sizeof kind);
        if (enabled.count(static_cast<std::uint32_t>(kind)) == 0) return;
        if (current_.memory == nullptr || current_.used + bytes > current_.bytes) exchange();
        if (current_.memory == nullptr) {
            ++dropped;
            return;
        }
        std::memcpy(current_.memory + current_.used, record, bytes);
        current_.used += bytes;
    }

    void finish_current() {
        if (current_.memory != nullptr) send(current_);
        current_ = {};
    }
    void send_kept() {
        for (const filled_buffer& each : std::exchange(kept_, {})) send(each);
    }
    std::size_t kept() const { return kept_.size(); }
    void hold(bool on) {
        holds = on;
        for (const filled_buffer& each :
             holds ? std::vector<filled_buffer>() : std::exchange(held_, {}))
            courier_.send(each, complete);
    }
    /// Behaves as if the current buffer had no room for the next record.
    void fill_current() {
        if (current_.memory != nullptr) exchange();
    }
    filled_buffer take_current() { return std::exchange(current_, {}); }
    void wait() { courier_.wait_until_idle(); }

private:
    void send(const filled_buffer& buffer) {
        if (holds)
            held_.push_back(buffer);
        else
            courier_.send(buffer, complete);
    }
    void exchange() {
        if (keeps && current_.memory != nullptr)
            kept_.push_back(std::exchange(current_, {}));
        else
            finish_current();
        std::size_t most = 0;
        request(&current_.memory, &current_.bytes, &most);
    }
    filled_buffer current_;
    std::vector<filled_buffer> held_;
    std::vector<filled_buffer> kept_;
    courier courier_;
};

/// The only object of the process. A forked child that comes here has called a function of CUPTI,
/// and ends.
inline cupti& self() {
    static const pid_t owner = ::getpid();
    if (::getpid() != owner) ::_exit(66);
    static cupti& one = *new cupti;  // it outlives all users at the end of the process
    return one;
}

/// Makes CUPTI's callback at a call, if the client has asked for it. The caller must not hold the
/// lock.
void tell(const api_function& of, CUpti_ApiCallbackSite site, std::uint32_t correlation,
          const void* parameters, const int& result);

/// Appends the record of a call by this thread, after the id that the thread has pushed. The caller
/// must hold the lock.
void append_call(CUpti_ActivityKind kind, std::uint32_t cbid, std::uint32_t correlation,
                 std::uint64_t start, std::uint64_t end);

/// Delivers all records. `forced`: including those in flight.
void flush(bool forced);

}  // namespace coroscope::test::fake_cupti
