// SPDX-License-Identifier: Apache-2.0
#pragma once

// A CUPTI of the tests' own: the entry points that coroscope-cuda opens, over records of the real layout. It lives in
// a library that COROSCOPE_CUPTI names; a test is linked with the same one and tells it what to replay. As CUPTI
// does, it hands buffers over on a thread of its own, keeps external ids per thread, and puts what a thread
// has pushed before the call that the thread makes. Thread-safe.

#include <cstddef>
#include <cstdint>

#include <cupti.h>

#define COROSCOPE_FAKE_CUPTI_API __attribute__((visibility("default")))

namespace coroscope::test::fake_cupti {

/// What CUPTI would tell of one launch. Its times are those of the call, and then of the kernel, if not given.
struct launch {
    const char* kernel = "_Z6kernelv";
    std::uint32_t device = 0;
    std::uint32_t context = 1;
    std::uint32_t stream = 7;
    std::uint32_t correlation = 0;  ///< 0: the next one
    bool with_driver_call =
        false;  ///< the runtime's call makes one of the driver, with the same number
    bool kernel_first = false;    ///< the kernel's record comes before the call's
    bool without_kernel = false;  ///< only the call: the test tells of the kernel itself
    bool unfinished =
        false;  ///< the kernel is still in flight when it is flushed by force, and not told before
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t queued_ns = 0;  ///< told only where the client has asked for it
};

/// A call of cudaLaunchKernel by this thread, and its kernel. Returns the correlation number.
COROSCOPE_FAKE_CUPTI_API std::uint32_t call_launch(const launch& what);

/// By whose function an event is recorded, waited for or destroyed. The runtime's calls the driver's, with its number.
enum class through { runtime, driver, per_thread_runtime, per_thread_driver };

/// Calls of CUDA's that are about events, by this thread, with CUPTI's callbacks and the record of the call. A stream's
/// handle is its number. They return the correlation number.
COROSCOPE_FAKE_CUPTI_API std::uint32_t call_event_record(const void* event, std::uint32_t stream,
                                                         through by = through::runtime,
                                                         bool external = false);
COROSCOPE_FAKE_CUPTI_API std::uint32_t call_stream_wait(std::uint32_t stream, const void* event,
                                                        through by = through::runtime);
COROSCOPE_FAKE_CUPTI_API void call_event_destroy(const void* event, through by = through::runtime);
/// A graph gets a node that records the event.
COROSCOPE_FAKE_CUPTI_API void add_to_graph(const void* event, through by = through::driver);

/// The next call about an event fails, as the program sees it.
COROSCOPE_FAKE_CUPTI_API void fail_next_event_call();

/// What is done in this stream becomes a graph, or does not any more.
COROSCOPE_FAKE_CUPTI_API void capture(std::uint32_t stream, bool on);

/// Puts a record of CUPTI's layout behind the others, if its kind is enabled.
COROSCOPE_FAKE_CUPTI_API void append(const void* record, std::size_t bytes);
template <class Record>
void append(const Record& record) {
    append(&record, sizeof record);
}

/// CUPTI's time: the client's, where it gave a clock.
COROSCOPE_FAKE_CUPTI_API std::uint64_t now_ns();

/// CUPTI's own clock, where it was given none, is ahead by this much from here on.
COROSCOPE_FAKE_CUPTI_API void skew_clock(std::int64_t ahead_ns);

/// A context goes: what it has recorded is handed over at once, on this thread.
COROSCOPE_FAKE_CUPTI_API void destroy_context();

/// Hands over what there is, and waits for that.
COROSCOPE_FAKE_CUPTI_API void deliver();

/// From here on buffers do not come back, or do again: those that were held, too.
COROSCOPE_FAKE_CUPTI_API void hold_buffers(bool hold);

/// CUPTI loses that many records for reasons of its own.
COROSCOPE_FAKE_CUPTI_API void drop(std::size_t records);

/// What is answered from here on; CUPTI_SUCCESS: all is well.
COROSCOPE_FAKE_CUPTI_API void refuse_subscribers(CUptiResult answer);
COROSCOPE_FAKE_CUPTI_API void refuse_kind(CUpti_ActivityKind kind, CUptiResult answer);
COROSCOPE_FAKE_CUPTI_API void refuse_callbacks(CUptiResult answer);
COROSCOPE_FAKE_CUPTI_API void refuse_clock(CUptiResult answer);
COROSCOPE_FAKE_CUPTI_API void refuse_queue_times(CUptiResult answer);

/// What was done with external ids, on all threads.
struct id_counts {
    std::uint64_t pushes = 0;
    std::uint64_t pops = 0;
    std::uint64_t bad_pops = 0;  ///< of an empty stack
    std::size_t deepest = 0;     ///< ids on one thread's stack at once
};
COROSCOPE_FAKE_CUPTI_API id_counts ids();

/// The id on top of this thread's stack; 0: none.
COROSCOPE_FAKE_CUPTI_API std::uint64_t current_id();

/// How often any of CUPTI's functions was called.
COROSCOPE_FAKE_CUPTI_API std::uint64_t calls();

COROSCOPE_FAKE_CUPTI_API bool thread_ids_are_the_systems();
COROSCOPE_FAKE_CUPTI_API bool is_subscribed();

}  // namespace coroscope::test::fake_cupti
