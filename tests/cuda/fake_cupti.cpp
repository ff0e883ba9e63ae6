// SPDX-License-Identifier: Apache-2.0
#include "fake_cupti.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace coroscope::test::fake_cupti {
namespace {

constexpr std::uint32_t launch_kernel_cbid = 211;  // cudaLaunchKernel's
constexpr std::uint32_t driver_launch_cbid = 307;

struct filled_buffer {
    std::uint8_t* memory = nullptr;
    std::size_t bytes = 0;
    std::size_t used = 0;
};

std::atomic<std::uint64_t> call_count{0};
thread_local std::vector<std::uint64_t> external_ids;

// Hands filled buffers over, in order, on a thread of its own.
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
    ~courier() {
        {
            const std::lock_guard lock(mutex_);
            ends_ = true;
            changed_.notify_all();
        }
        if (thread_.joinable()) thread_.join();
    }

private:
    struct parcel {
        filled_buffer buffer;
        CUpti_BuffersCallbackCompleteFunc to;
    };
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return ends_ || !queue_.empty(); });
            if (queue_.empty()) return;
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
    bool ends_ = false;
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
    bool subscribed = false;
    bool holds = false;
    bool system_threads = false;
    bool latency = false;
    bool ended = false;
    std::size_t dropped = 0;
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
    void hold(bool on) {
        holds = on;
        for (const filled_buffer& each :
             holds ? std::vector<filled_buffer>() : std::exchange(held_, {}))
            courier_.send(each, complete);
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
        finish_current();
        std::size_t most = 0;
        request(&current_.memory, &current_.bytes, &most);
    }
    filled_buffer current_;
    std::vector<filled_buffer> held_;
    courier courier_;
};

cupti& self() {
    static cupti one;
    return one;
}

std::uint64_t realtime_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(now.tv_nsec);
}

void append_id(std::uint32_t correlation) {
    if (external_ids.empty()) return;
    CUpti_ActivityExternalCorrelation told{};
    told.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    told.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    told.externalId = external_ids.back();
    told.correlationId = correlation;
    self().append(&told, sizeof told);
}

void append_call(CUpti_ActivityKind kind, std::uint32_t cbid, std::uint32_t correlation,
                 std::uint64_t start, std::uint64_t end) {
    append_id(correlation);
    CUpti_ActivityAPI call{};
    call.kind = kind;
    call.cbid = cbid;
    call.start = start;
    call.end = end;
    call.processId = static_cast<std::uint32_t>(::getpid());
    call.threadId = static_cast<std::uint32_t>(::gettid());
    call.correlationId = correlation;
    self().append(&call, sizeof call);
}

CUpti_ActivityKernel10 kernel_of(const launch& what, std::uint32_t correlation, std::uint64_t start,
                                 std::uint64_t end) {
    CUpti_ActivityKernel10 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = start;
    kernel.end = end;
    kernel.deviceId = what.device;
    kernel.contextId = what.context;
    kernel.streamId = what.stream;
    kernel.correlationId = correlation;
    kernel.queued = self().latency ? what.queued_ns : CUPTI_TIMESTAMP_UNKNOWN;
    kernel.name = what.kernel;
    return kernel;
}

void flush(bool forced) {
    std::unique_lock lock(self().mutex);
    if (self().ended) return;
    if (forced) {
        for (CUpti_ActivityKernel10& kernel : self().in_flight)
            self().append(&kernel, sizeof kernel);
        self().in_flight.clear();
    }
    self().finish_current();
    lock.unlock();
    self().wait();
}

}  // namespace

std::uint64_t now_ns() {
    const CUpti_TimestampCallbackFunc clock = self().timestamp.load();
    return clock != nullptr ? clock() : realtime_ns();
}

std::uint32_t call_launch(const launch& what) {
    const std::uint64_t begin = now_ns();
    std::uint64_t end = now_ns();
    while (end <= begin) end = now_ns();
    const std::lock_guard lock(self().mutex);
    const std::uint32_t correlation =
        what.correlation != 0 ? what.correlation : ++self().last_correlation;
    const std::uint64_t start_ns = what.start_ns != 0 ? what.start_ns : end;
    const CUpti_ActivityKernel10 kernel =
        what.unfinished
            ? kernel_of(what, correlation, 0, 0)
            : kernel_of(what, correlation, start_ns, what.end_ns != 0 ? what.end_ns : end + 1000);
    if (what.kernel_first) self().append(&kernel, sizeof kernel);
    if (what.with_driver_call)
        append_call(CUPTI_ACTIVITY_KIND_DRIVER, driver_launch_cbid, correlation, begin, end);
    append_call(CUPTI_ACTIVITY_KIND_RUNTIME, launch_kernel_cbid, correlation, begin, end);
    if (what.unfinished)
        self().in_flight.push_back(kernel);
    else if (!what.kernel_first)
        self().append(&kernel, sizeof kernel);
    return correlation;
}

void append(const void* record, std::size_t bytes) {
    const std::lock_guard lock(self().mutex);
    self().append(record, bytes);
}

void destroy_context() {
    filled_buffer last;
    {
        const std::lock_guard lock(self().mutex);
        last = self().take_current();
    }
    if (last.memory != nullptr) self().complete(nullptr, 0, last.memory, last.bytes, last.used);
}

void deliver() { flush(false); }

void hold_buffers(bool hold) {
    const std::lock_guard lock(self().mutex);
    self().hold(hold);
}
void drop(std::size_t records) {
    const std::lock_guard lock(self().mutex);
    self().dropped += records;
}
void refuse_subscribers(CUptiResult answer) {
    const std::lock_guard lock(self().mutex);
    self().subscriber_answer = answer;
}
void refuse_kind(CUpti_ActivityKind kind, CUptiResult answer) {
    const std::lock_guard lock(self().mutex);
    self().refused[static_cast<std::uint32_t>(kind)] = answer;
}
void refuse_clock(CUptiResult answer) {
    const std::lock_guard lock(self().mutex);
    self().clock_answer = answer;
    if (answer != CUPTI_SUCCESS) self().timestamp = nullptr;
}

id_counts ids() {
    const std::lock_guard lock(self().mutex);
    return self().counts;
}
std::uint64_t current_id() { return external_ids.empty() ? 0 : external_ids.back(); }
std::uint64_t calls() { return call_count.load(); }
bool thread_ids_are_the_systems() { return self().system_threads; }
bool is_subscribed() {
    const std::lock_guard lock(self().mutex);
    return self().subscribed;
}

namespace {

std::size_t bytes_of(const std::uint8_t* record) {
    CUpti_ActivityKind kind{};
    std::memcpy(&kind, record, sizeof kind);
    switch (kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return sizeof(CUpti_ActivityKernel10);
        case CUPTI_ACTIVITY_KIND_MEMCPY: return sizeof(CUpti_ActivityMemcpy6);
        case CUPTI_ACTIVITY_KIND_MEMCPY2: return sizeof(CUpti_ActivityMemcpyPtoP4);
        case CUPTI_ACTIVITY_KIND_MEMSET: return sizeof(CUpti_ActivityMemset4);
        case CUPTI_ACTIVITY_KIND_MEMORY2: return sizeof(CUpti_ActivityMemory4);
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DRIVER: return sizeof(CUpti_ActivityAPI);
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return sizeof(CUpti_ActivitySynchronization2);
        case CUPTI_ACTIVITY_KIND_OVERHEAD: return sizeof(CUpti_ActivityOverhead3);
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
            return sizeof(CUpti_ActivityExternalCorrelation);
        case CUPTI_ACTIVITY_KIND_DEVICE: return sizeof(CUpti_ActivityDevice5);
        case CUPTI_ACTIVITY_KIND_CONTEXT: return sizeof(CUpti_ActivityContext3);
        default: return 0;
    }
}

CUptiResult called(CUptiResult answer = CUPTI_SUCCESS) {
    call_count.fetch_add(1);
    return answer;
}

}  // namespace
}  // namespace coroscope::test::fake_cupti

using namespace coroscope::test::fake_cupti;

extern "C" {

#define ENTRY FAKE_CUPTI_API CUptiResult CUPTIAPI

ENTRY cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*) {
    const std::lock_guard lock(self().mutex);
    if (self().subscriber_answer != CUPTI_SUCCESS) return called(self().subscriber_answer);
    if (self().subscribed) return called(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    self().subscribed = true;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&self());
    return called();
}

ENTRY cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
    const std::lock_guard lock(self().mutex);
    if (!self().subscribed || subscriber != reinterpret_cast<CUpti_SubscriberHandle>(&self()))
        return called(CUPTI_ERROR_INVALID_PARAMETER);
    self().subscribed = false;
    return called();
}

ENTRY cuptiActivityEnable(CUpti_ActivityKind kind) {
    const std::lock_guard lock(self().mutex);
    const auto refusal = self().refused.find(static_cast<std::uint32_t>(kind));
    if (refusal != self().refused.end() && refusal->second != CUPTI_SUCCESS)
        return called(refusal->second);
    self().enabled.insert(static_cast<std::uint32_t>(kind));
    return called();
}

ENTRY cuptiActivityDisable(CUpti_ActivityKind kind) {
    const std::lock_guard lock(self().mutex);
    // What is in flight is still told.
    if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || self().in_flight.empty())
        self().enabled.erase(static_cast<std::uint32_t>(kind));
    return called();
}

ENTRY cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                     CUpti_BuffersCallbackCompleteFunc complete) {
    const std::lock_guard lock(self().mutex);
    self().request = request;
    self().complete = complete;
    return called();
}

ENTRY cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
    std::uint8_t* at = buffer;
    if (*record != nullptr) {
        at = reinterpret_cast<std::uint8_t*>(*record);
        at += bytes_of(at);
    }
    const auto used = static_cast<std::size_t>(at - buffer);
    if (used >= valid) return called(CUPTI_ERROR_MAX_LIMIT_REACHED);
    if (valid - used < sizeof(CUpti_ActivityKind) || bytes_of(at) == 0 ||
        valid - used < bytes_of(at))
        return called(CUPTI_ERROR_INVALID_KIND);
    *record = reinterpret_cast<CUpti_Activity*>(at);
    return called();
}

ENTRY cuptiActivityFlushAll(std::uint32_t flag) {
    flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
    return called();
}

ENTRY cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
    const std::lock_guard lock(self().mutex);
    *dropped = std::exchange(self().dropped, 0);
    return called();
}

ENTRY cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t id) {
    external_ids.push_back(id);
    const std::lock_guard lock(self().mutex);
    ++self().counts.pushes;
    self().counts.deepest = std::max(self().counts.deepest, external_ids.size());
    return called();
}

ENTRY cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t* last) {
    const std::lock_guard lock(self().mutex);
    if (external_ids.empty()) {
        ++self().counts.bad_pops;
        return called(CUPTI_ERROR_QUEUE_EMPTY);
    }
    if (last != nullptr) *last = external_ids.back();
    external_ids.pop_back();
    ++self().counts.pops;
    return called();
}

ENTRY cuptiGetResultString(CUptiResult result, const char** text) {
    switch (result) {
        case CUPTI_SUCCESS: *text = "CUPTI_SUCCESS"; break;
        case CUPTI_ERROR_NOT_INITIALIZED: *text = "CUPTI_ERROR_NOT_INITIALIZED"; break;
        case CUPTI_ERROR_NOT_SUPPORTED: *text = "CUPTI_ERROR_NOT_SUPPORTED"; break;
        case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
            *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
            break;
        case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
            *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
            break;
        default: return called(CUPTI_ERROR_INVALID_PARAMETER);
    }
    return called();
}

ENTRY cuptiGetTimestamp(std::uint64_t* timestamp) {
    *timestamp = now_ns();
    return called();
}

ENTRY cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
    const std::lock_guard lock(self().mutex);
    if (self().clock_answer == CUPTI_SUCCESS) self().timestamp = clock;
    return called(self().clock_answer);
}

ENTRY cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
    self().system_threads = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    return called();
}

ENTRY cuptiActivityEnableLatencyTimestamps(std::uint8_t enable) {
    const std::lock_guard lock(self().mutex);
    self().latency = enable != 0;
    return called();
}

ENTRY cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t cbid, const char** name) {
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == launch_kernel_cbid)
        *name = "cudaLaunchKernel_v7000";
    else if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == driver_launch_cbid)
        *name = "cuLaunchKernel";
    else
        return called(CUPTI_ERROR_INVALID_PARAMETER);
    return called();
}

ENTRY cuptiGetContextId(CUcontext context, std::uint32_t* id) {
    *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context));
    return called();
}

ENTRY cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t per_thread, std::uint32_t* id) {
    *id = stream != nullptr ? static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream))
          : per_thread != 0 ? 2
                            : 1;
    return called();
}

// For a program that is not linked with this: a launch, and the end of CUDA when the process exits, as its runtime has
// that registered when it is first called. Nothing is delivered afterwards.
FAKE_CUPTI_API void fake_cupti_launch_and_end() {
    std::atexit([] {
        const std::lock_guard lock(self().mutex);
        self().ended = true;
    });
    CUpti_ActivityDevice5 device{};
    device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    device.name = "A device of the tests' own";
    append(device);
    call_launch({.kernel = "last"});
}

// The driver's: every stream is of context 9.
FAKE_CUPTI_API CUresult CUDAAPI cuStreamGetCtx(CUstream, CUcontext* context) {
    *context = reinterpret_cast<CUcontext>(std::uintptr_t{9});
    return CUDA_SUCCESS;
}

}  // extern "C"
