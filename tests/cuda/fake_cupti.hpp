// SPDX-License-Identifier: Apache-2.0
#pragma once

// A fake CUPTI: the entry points that coroscope-cuda opens, over records of the real layout. It is
// a library that COROSCOPE_CUPTI names. A test is linked with the same library and controls the
// records. Like CUPTI, it delivers buffers on a thread of its own, keeps external ids per thread,
// and puts the id that a thread has pushed before the thread's call. Thread-safe.

#include <cstddef>
#include <cstdint>

#include <cupti.h>

#define COROSCOPE_FAKE_CUPTI_API __attribute__((visibility("default")))

namespace coroscope::test::fake_cupti {

/// The records of one launch. Without given times, the call takes place now, and the kernel after
/// it.
struct launch {
    const char* kernel = "_Z6kernelv";
    std::uint32_t device = 0;
    std::uint32_t context = 1;
    std::uint32_t stream = 7;
    std::uint32_t correlation = 0;  ///< 0: the next number
    bool with_driver_call =
        false;  ///< the runtime's call makes a call of the driver, with the same number
    bool kernel_first = false;    ///< the kernel's record comes before the call's
    bool without_kernel = false;  ///< only the call: the test appends the kernel itself
    bool unfinished =
        false;  ///< the kernel is still in flight, and its record comes only with a forced flush
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t queued_ns = 0;  ///< recorded only if the client has asked for it
};

/// Makes a call of cudaLaunchKernel by this thread, and its kernel. Returns the correlation number.
COROSCOPE_FAKE_CUPTI_API std::uint32_t call_launch(const launch& what);

/// The function that records, waits for or destroys an event. A function of the runtime calls the
/// driver's function, with its own number.
enum class through { runtime, driver, per_thread_runtime, per_thread_driver };

/// Calls of CUDA for events, by this thread, with CUPTI's callbacks and the record of the call. A
/// stream's handle is its number. They return the correlation number.
COROSCOPE_FAKE_CUPTI_API std::uint32_t call_event_record(const void* event, std::uint32_t stream,
                                                         through by = through::runtime,
                                                         bool external = false);
COROSCOPE_FAKE_CUPTI_API std::uint32_t call_stream_wait(std::uint32_t stream, const void* event,
                                                        through by = through::runtime);
COROSCOPE_FAKE_CUPTI_API void call_event_destroy(const void* event, through by = through::runtime);
/// Adds a node to a graph that records the event.
COROSCOPE_FAKE_CUPTI_API void add_to_graph(const void* event, through by = through::driver);

/// Lets the next call for an event fail, as the program sees it.
COROSCOPE_FAKE_CUPTI_API void fail_next_event_call();

/// Starts or ends the capture of this stream into a graph.
COROSCOPE_FAKE_CUPTI_API void capture(std::uint32_t stream, bool on);

/// Appends a record of CUPTI's layout, if its kind is enabled.
COROSCOPE_FAKE_CUPTI_API void append(const void* record, std::size_t bytes);
template <class Record>
void append(const Record& record) {
    append(&record, sizeof record);
}

/// CUPTI's time, by the client's clock if the client gave one.
COROSCOPE_FAKE_CUPTI_API std::uint64_t now_ns();

/// From here on CUPTI's own clock is ahead by this much. It is used if the client gave no clock.
COROSCOPE_FAKE_CUPTI_API void skew_clock(std::int64_t ahead_ns);

/// Destroys a context: its records are delivered at once, on this thread.
COROSCOPE_FAKE_CUPTI_API void destroy_context();

/// Delivers all records, and waits for the delivery.
COROSCOPE_FAKE_CUPTI_API void deliver();

/// If `hold`, buffers are held back from here on. Else they come back again, including the held
/// ones.
COROSCOPE_FAKE_CUPTI_API void hold_buffers(bool hold);

/// If `keep`, full buffers come back only when the client flushes, as they do if CUPTI records the
/// times at which kernels were queued. Else they come back at once again.
COROSCOPE_FAKE_CUPTI_API void keep_buffers(bool keep);

/// Leaves no room for a further record in the buffer that is being filled.
COROSCOPE_FAKE_CUPTI_API void fill_buffer();

/// The number of full buffers that wait for a flush.
COROSCOPE_FAKE_CUPTI_API std::size_t kept_buffers();

/// Lets CUPTI lose that many records.
COROSCOPE_FAKE_CUPTI_API void drop(std::size_t records);

/// The answers from here on. CUPTI_SUCCESS restores the usual behaviour.
COROSCOPE_FAKE_CUPTI_API void refuse_subscribers(CUptiResult answer);
COROSCOPE_FAKE_CUPTI_API void refuse_kind(CUpti_ActivityKind kind, CUptiResult answer);
COROSCOPE_FAKE_CUPTI_API void refuse_callbacks(CUptiResult answer);
COROSCOPE_FAKE_CUPTI_API void refuse_clock(CUptiResult answer);
COROSCOPE_FAKE_CUPTI_API void refuse_queue_times(CUptiResult answer);

/// The calls for external ids, on all threads.
struct id_counts {
    std::uint64_t pushes = 0;
    std::uint64_t pops = 0;
    std::uint64_t bad_pops = 0;  ///< pops of an empty stack
    std::size_t deepest = 0;     ///< the most ids on one thread's stack
};
COROSCOPE_FAKE_CUPTI_API id_counts ids();

/// The id on top of this thread's stack; 0: none.
COROSCOPE_FAKE_CUPTI_API std::uint64_t current_id();

/// The number of calls of CUPTI's functions.
COROSCOPE_FAKE_CUPTI_API std::uint64_t calls();

/// From here on the driver names that many devices, as "Device N". 0 at first.
COROSCOPE_FAKE_CUPTI_API void set_driver_devices(int count);

COROSCOPE_FAKE_CUPTI_API bool thread_ids_are_the_systems();
COROSCOPE_FAKE_CUPTI_API bool is_subscribed();

}  // namespace coroscope::test::fake_cupti
