// SPDX-License-Identifier: Apache-2.0
#include "store_growth.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "../base/blocked_signals.hpp"
#include "../base/bounded_wait.hpp"
#include "../base/clock.hpp"
#include "../base/own_threads.hpp"
#include "chunk_sealer.hpp"
#include "store_base.hpp"

namespace coroscope::runtime::inline store {
namespace {

constexpr std::uint64_t growth_step_bytes = std::uint64_t{4} << 20;  // published in one step
constexpr std::uint64_t least_growth_bytes = std::uint64_t{1} << 20;
constexpr std::int64_t retry_after_ns = 1'000'000'000;  // the disk may have space again by then

// The kernel raises SIGXFSZ in a thread that grows a file beyond RLIMIT_FSIZE. Takes the signal
// away while it is blocked, so that the program never sees a signal that we caused.
class discarded_size_signal {
public:
    discarded_size_signal() noexcept : was_pending_(is_pending()) {}
    discarded_size_signal(const discarded_size_signal&) = delete;
    discarded_size_signal& operator=(const discarded_size_signal&) = delete;
    ~discarded_size_signal() {
        if (was_pending_ || !is_pending()) return;
        sigset_t only;
        ::sigemptyset(&only);
        ::sigaddset(&only, SIGXFSZ);
        constexpr timespec at_once{0, 0};
        ::sigtimedwait(&only, nullptr, &at_once);
    }

private:
    static bool is_pending() noexcept {
        sigset_t pending;
        return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
    }

    bool was_pending_;
};

}  // namespace

void store_growth::lock() noexcept {
    const sigset_t before = block_signals();
    int cancellation = PTHREAD_CANCEL_ENABLE;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    mutex_.lock();
    signals_before_ = before;
    cancellation_before_ = cancellation;
}

// Waits for the lock for a bounded time: a disk that does not answer must not stop every recording
// thread.
bool store_growth::lock_soon() noexcept {
    const sigset_t before = block_signals();
    int cancellation = PTHREAD_CANCEL_ENABLE;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    bool locked = false;
    const bool met = wait_bounded([this, &locked] {
        locked = mutex_.try_lock();
        return locked || is_over() || parts_.pool.free_chunks() != 0;
    });
    if (locked) {
        signals_before_ = before;
        cancellation_before_ = cancellation;
        return true;
    }
    if (!met) is_stuck_.store(true, std::memory_order_relaxed);
    ::pthread_setcancelstate(cancellation, nullptr);
    restore_signals(before);
    return false;
}

void store_growth::unlock() noexcept {
    is_stuck_.store(false, std::memory_order_relaxed);
    const sigset_t before = signals_before_;
    const int cancellation = cancellation_before_;
    mutex_.unlock();
    ::pthread_setcancelstate(cancellation, nullptr);
    restore_signals(before);
}

bool store_growth::is_over() const noexcept {
    return parts_.closing.load(std::memory_order_relaxed) ||
           parts_.cut.load(std::memory_order_relaxed);
}

bool store_growth::may_grow() const noexcept {
    if (parts_.cut.load(std::memory_order_relaxed) ||
        parts_.pool.published() >= parts_.pool.capacity())
        return false;
    const std::int64_t retry_ns = retry_ns_.load(std::memory_order_relaxed);
    return retry_ns == 0 || monotonic_now() >= retry_ns;
}

std::uint32_t store_growth::least_growth() const noexcept {
    return std::max(static_cast<std::uint32_t>(least_growth_bytes / parts_.pool.chunk_bytes()), 1U);
}

std::uint32_t store_growth::take() noexcept {
    for (;;) {
        const std::uint32_t index = parts_.pool.take_free();
        if (index != chunk_pool::none) return index;
        if (!make_room()) break;
    }
    const std::uint32_t index = parts_.pool.take();
    if (index != chunk_pool::none) return index;
    await_recycled();
    return parts_.pool.take();
}

// Waits while the helper empties a chunk, which may be the only one that no thread holds.
void store_growth::await_recycled() noexcept {
    if (!parts_.pool.is_recycling() || is_stuck_.load(std::memory_order_relaxed) || is_real_time())
        return;
    if (lock_soon()) unlock();
}

// Returns true if there are free chunks, or were until other threads took them. After a failure
// only the helper tries again.
bool store_growth::make_room() noexcept {
    if (has_failed() || !may_grow() || is_stuck_.load(std::memory_order_relaxed) || is_real_time())
        return false;
    if (!lock_soon()) return !is_over() && parts_.pool.free_chunks() != 0;
    bool made = parts_.pool.free_chunks() != 0;  // by the thread that had the lock
    if (!made && !is_over() && !has_failed() && may_grow()) {
        const discarded_size_signal ours;
        made = grow(least_growth(), false) == 0;
        if (!made) retry_ns_.store(retry_at_next_turn, std::memory_order_relaxed);
        // Release: pairs with is_full(), which is asked for each further record.
        if (!made) parts_.exhausted.store(true, std::memory_order_release);
    }
    unlock();
    if (made) sealer_.help();
    return made;
}

int store_growth::grow_ahead(std::uint32_t free_chunks) noexcept {
    const std::lock_guard guard(*this);
    const auto free = static_cast<std::uint32_t>(parts_.pool.free_chunks());
    if (free >= free_chunks) return 0;  // a recording thread has made them meanwhile
    const int error = grow(std::max(free_chunks - free, least_growth()), true);
    if (error != 0) retry_ns_.store(monotonic_now() + retry_after_ns, std::memory_order_relaxed);
    return error;
}

// The caller must hold the lock.
int store_growth::grow(std::uint32_t chunks, bool may_allocate) noexcept {
    chunk_pool& pool = parts_.pool;
    const std::uint32_t published = pool.published();
    const auto step = static_cast<std::uint32_t>(growth_step_bytes / pool.chunk_bytes());
    int error = 0;
    for (chunks = std::min({chunks, std::max(step, 1U), pool.capacity() - published}); chunks != 0;
         chunks /= 2) {
        error = parts_.map.grow(trace::file_header_bytes +
                                (std::uint64_t{published} + chunks) * pool.chunk_bytes());
        if (error == ESTALE) break;
        if (error != 0) continue;
        // The count comes first: a trace may count more chunks than are in use, but not fewer.
        publish_word(&parts_.header().chunk_count, std::uint64_t{published} + chunks);
        if (pool.publish(chunks, may_allocate) == 0) {
            error = ENOMEM;
            break;
        }
        retry_ns_.store(0, std::memory_order_relaxed);
        return 0;
    }
    // The header of a file that was cut must not be touched; the helper finds that out itself.
    if (error != ESTALE) parts_.note_error(error);
    return error;
}

}  // namespace coroscope::runtime::inline store
