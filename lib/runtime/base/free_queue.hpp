// SPDX-License-Identifier: Apache-2.0
#pragma once

// The queue of free chunks, in no order. One thread at a time fills it through a token, because a
// producer per thread would cost each thread an allocation.
//
// put() and put_if_room() belong to one thread at a time; put() allocates if the queue grows.
// take() is lock-free, allocates nothing and may be called by any thread.

#include <cstddef>
#include <cstdint>

// Systems spell the header differently: Debian, upstream's installation, Meson's wrap.
#if __has_include(<concurrentqueue/concurrentqueue.h>)
#include <concurrentqueue/concurrentqueue.h>
#elif __has_include(<concurrentqueue/moodycamel/concurrentqueue.h>)
#include <concurrentqueue/moodycamel/concurrentqueue.h>
#else
#include <concurrentqueue.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define COROSCOPE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COROSCOPE_THREAD_SANITIZER 1
#endif
#endif

#ifdef COROSCOPE_THREAD_SANITIZER
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace coroscope::runtime::inline base {

/// ThreadSanitizer does not see the fences that order the queue's internals, and would report races
/// in every program that records. The chunks in the queue are ordered by their own first word.
struct unseen_fences {
#ifdef COROSCOPE_THREAD_SANITIZER
    unseen_fences() noexcept {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
    ~unseen_fences() {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
#else
    unseen_fences() noexcept {}
    ~unseen_fences() {}
#endif
    unseen_fences(const unseen_fences&) = delete;
    unseen_fences& operator=(const unseen_fences&) = delete;
};

class free_queue {
public:
    explicit free_queue(std::uint32_t room) noexcept : queue_(room), producer_(queue_) {}

    /// Returns false if the queue got no memory.
    bool usable() const noexcept { return producer_.valid(); }

    bool put(std::uint32_t index) noexcept {
        const unseen_fences guard;
        return queue_.enqueue(producer_, index);
    }
    /// The same without an allocation. Returns false if the queue would have to grow.
    bool put_if_room(std::uint32_t index) noexcept {
        const unseen_fences guard;
        return queue_.try_enqueue(producer_, index);
    }
    bool take(std::uint32_t& index) noexcept {
        const unseen_fences guard;
        return queue_.try_dequeue_from_producer(producer_, index);
    }
    std::size_t size() const noexcept { return queue_.size_approx(); }

private:
    moodycamel::ConcurrentQueue<std::uint32_t> queue_;
    moodycamel::ProducerToken producer_;
};

}  // namespace coroscope::runtime::inline base
