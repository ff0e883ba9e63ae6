// SPDX-License-Identifier: Apache-2.0

// The functions of CUPTI.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fake_cupti_state.hpp"

namespace coroscope::test::fake_cupti {
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
        case CUPTI_ACTIVITY_KIND_STREAM: return sizeof(CUpti_ActivityStream);
        case CUPTI_ACTIVITY_KIND_NAME: return sizeof(CUpti_ActivityName);
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

#define COROSCOPE_ENTRY COROSCOPE_FAKE_CUPTI_API CUptiResult CUPTIAPI

COROSCOPE_ENTRY cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                               void*) {
    const std::lock_guard lock(self().mutex);
    if (self().subscriber_answer != CUPTI_SUCCESS) return called(self().subscriber_answer);
    if (self().subscribed) return called(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    self().subscribed = true;
    self().callback = callback;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&self());
    return called();
}

COROSCOPE_ENTRY cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
    const std::lock_guard lock(self().mutex);
    if (!self().subscribed || subscriber != reinterpret_cast<CUpti_SubscriberHandle>(&self()))
        return called(CUPTI_ERROR_INVALID_PARAMETER);
    self().subscribed = false;
    self().called_back.clear();
    self().domains_called_back.clear();
    return called();
}

COROSCOPE_ENTRY cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                    CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
    const std::lock_guard lock(self().mutex);
    if (enable == 0)
        self().called_back.erase({domain, cbid});
    else if (self().callback_answer == CUPTI_SUCCESS)
        self().called_back.insert({domain, cbid});
    return called(self().callback_answer);
}

COROSCOPE_ENTRY cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle,
                                  CUpti_CallbackDomain domain) {
    const std::lock_guard lock(self().mutex);
    if (enable == 0)
        self().domains_called_back.erase(domain);
    else if (self().callback_answer == CUPTI_SUCCESS)
        self().domains_called_back.insert(domain);
    return called(self().callback_answer);
}

COROSCOPE_ENTRY cuptiActivityEnable(CUpti_ActivityKind kind) {
    const std::lock_guard lock(self().mutex);
    const auto refusal = self().refused.find(static_cast<std::uint32_t>(kind));
    if (refusal != self().refused.end() && refusal->second != CUPTI_SUCCESS)
        return called(refusal->second);
    self().enabled.insert(static_cast<std::uint32_t>(kind));
    return called();
}

COROSCOPE_ENTRY cuptiActivityDisable(CUpti_ActivityKind kind) {
    const std::lock_guard lock(self().mutex);
    // Records in flight are still delivered.
    if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || self().in_flight.empty())
        self().enabled.erase(static_cast<std::uint32_t>(kind));
    return called();
}

COROSCOPE_ENTRY cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                               CUpti_BuffersCallbackCompleteFunc complete) {
    const std::lock_guard lock(self().mutex);
    self().request = request;
    self().complete = complete;
    return called();
}

COROSCOPE_ENTRY cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                           CUpti_Activity** record) {
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

COROSCOPE_ENTRY cuptiActivityFlushAll(std::uint32_t flag) {
    flush((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0);
    return called();
}

COROSCOPE_ENTRY cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
    const std::lock_guard lock(self().mutex);
    *dropped = std::exchange(self().dropped, 0);
    return called();
}

COROSCOPE_ENTRY cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                       std::uint64_t id) {
    external_ids.push_back(id);
    const std::lock_guard lock(self().mutex);
    ++self().counts.pushes;
    self().counts.deepest = std::max(self().counts.deepest, external_ids.size());
    return called();
}

COROSCOPE_ENTRY cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                      std::uint64_t* last) {
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

COROSCOPE_ENTRY cuptiGetResultString(CUptiResult result, const char** text) {
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

COROSCOPE_ENTRY cuptiGetTimestamp(std::uint64_t* timestamp) {
    *timestamp = now_ns();
    return called();
}

COROSCOPE_ENTRY cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
    const std::lock_guard lock(self().mutex);
    if (self().clock_answer == CUPTI_SUCCESS) self().timestamp = clock;
    return called(self().clock_answer);
}

COROSCOPE_ENTRY cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
    self().system_threads = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    return called();
}

COROSCOPE_ENTRY cuptiActivityEnableLatencyTimestamps(std::uint8_t enable) {
    const std::lock_guard lock(self().mutex);
    const CUptiResult answer = self().latency_answer;
    if (answer == CUPTI_SUCCESS) self().latency = enable != 0;
    called();
    return answer;
}

COROSCOPE_ENTRY cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t cbid,
                                     const char** name) {
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == launch_kernel_cbid)
        *name = "cudaLaunchKernel_v7000";
    else if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == driver_launch_cbid)
        *name = "cuLaunchKernel";
    else
        return called(CUPTI_ERROR_INVALID_PARAMETER);
    return called();
}

COROSCOPE_ENTRY cuptiGetContextId(CUcontext context, std::uint32_t* id) {
    *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context));
    return called();
}

COROSCOPE_ENTRY cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t per_thread,
                                   std::uint32_t* id) {
    *id = stream != nullptr ? static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream))
          : per_thread != 0 ? 2
                            : 1;
    return called();
}

// For a program that is not linked with this library: a launch, and the end of CUDA at the exit of
// the process, which the real runtime registers at its first call. Nothing is delivered afterwards.
COROSCOPE_FAKE_CUPTI_API void fake_cupti_launch_and_end() {
    static const pid_t owner = ::getpid();
    std::atexit([] {
        if (owner != ::getpid()) return;
        const std::lock_guard lock(self().mutex);
        self().ended = true;
    });
    CUpti_ActivityDevice5 device{};
    device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
    device.name = "A device of the tests' own";
    append(device);
    call_launch({.kernel = "last"});
}

// A function of the driver: every stream belongs to context 9.
COROSCOPE_FAKE_CUPTI_API CUresult CUDAAPI cuStreamGetCtx(CUstream, CUcontext* context) {
    *context = reinterpret_cast<CUcontext>(std::uintptr_t{9});
    return CUDA_SUCCESS;
}

COROSCOPE_FAKE_CUPTI_API CUresult CUDAAPI cuStreamIsCapturing(CUstream stream,
                                                              CUstreamCaptureStatus* status) {
    const std::lock_guard lock(self().mutex);
    const auto number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
    *status = self().captured.count(number) != 0 ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                                 : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

COROSCOPE_FAKE_CUPTI_API CUresult CUDAAPI cuDeviceGetCount(int* count) {
    *count = self().driver_devices;
    return CUDA_SUCCESS;
}

COROSCOPE_FAKE_CUPTI_API CUresult CUDAAPI cuDeviceGet(CUdevice* device, int number) {
    *device = number;
    return CUDA_SUCCESS;
}

COROSCOPE_FAKE_CUPTI_API CUresult CUDAAPI cuDeviceGetName(char* name, int bytes, CUdevice device) {
    std::snprintf(name, static_cast<std::size_t>(bytes), "Device %d", device);
    return CUDA_SUCCESS;
}

}  // extern "C"
