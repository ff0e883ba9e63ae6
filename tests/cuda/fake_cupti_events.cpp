// SPDX-License-Identifier: Apache-2.0

// Calls of CUDA for events, with CUPTI's callbacks.

#include "fake_cupti_state.hpp"

namespace coroscope::test::fake_cupti {
namespace {

struct number_and_result {
    std::uint32_t correlation;
    int result;
};

number_and_result begin_call() {
    const std::lock_guard lock(self().mutex);
    return {++self().last_correlation, std::exchange(self().fails_next, false) ? 1 : 0};
}

void keep(const api_function& of, std::uint32_t correlation, std::uint64_t start) {
    std::uint64_t end = now_ns();
    while (end <= start) end = now_ns();
    const std::lock_guard lock(self().mutex);
    const bool runtime = of.first == CUPTI_CB_DOMAIN_RUNTIME_API;
    append_call(runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER, of.second,
                correlation, start, end);
}

template <class Parameters>
std::uint32_t call_driver(CUpti_CallbackId cbid, const Parameters& parameters,
                          const number_and_result& as) {
    const api_function driver{CUPTI_CB_DOMAIN_DRIVER_API, cbid};
    const std::uint64_t start = now_ns();
    tell(driver, CUPTI_API_ENTER, as.correlation, &parameters, as.result);
    tell(driver, CUPTI_API_EXIT, as.correlation, &parameters, as.result);
    keep(driver, as.correlation, start);
    return as.correlation;
}

template <class Outer, class Inner>
std::uint32_t call_runtime(CUpti_CallbackId outer_cbid, const Outer& outer,
                           CUpti_CallbackId inner_cbid, const Inner& inner) {
    const number_and_result as = begin_call();
    const api_function runtime{CUPTI_CB_DOMAIN_RUNTIME_API, outer_cbid};
    const std::uint64_t start = now_ns();
    tell(runtime, CUPTI_API_ENTER, as.correlation, &outer, as.result);
    call_driver(inner_cbid, inner, as);
    tell(runtime, CUPTI_API_EXIT, as.correlation, &outer, as.result);
    keep(runtime, as.correlation, start);
    return as.correlation;
}

CUevent event_of(const void* event) { return static_cast<CUevent>(const_cast<void*>(event)); }
CUstream stream_of(std::uint32_t stream) {
    return reinterpret_cast<CUstream>(std::uintptr_t{stream});
}

}  // namespace

void tell(const api_function& of, CUpti_ApiCallbackSite site, std::uint32_t correlation,
          const void* parameters, const int& result) {
    CUpti_CallbackFunc callback = nullptr;
    {
        const std::lock_guard lock(self().mutex);
        if (self().called_back.count(of) != 0 || self().domains_called_back.count(of.first) != 0)
            callback = self().callback;
    }
    if (callback == nullptr) return;
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.functionParams = parameters;
    data.functionReturnValue = site == CUPTI_API_EXIT ? const_cast<int*>(&result) : nullptr;
    data.correlationId = correlation;
    callback(nullptr, of.first, of.second, &data);
}

std::uint32_t call_event_record(const void* event, std::uint32_t stream, through by,
                                bool external) {
    const CUevent of = event_of(event);
    const CUstream in = stream_of(stream);
    const cuEventRecord_params driver{of, in};
    const cuEventRecord_ptsz_params per_thread{of, in};
    if (external) {
        const cudaEventRecordWithFlags_v11010_params outer{of, in, CU_EVENT_RECORD_EXTERNAL};
        const cuEventRecordWithFlags_params inner{of, in, CU_EVENT_RECORD_EXTERNAL};
        return call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010, outer,
                            CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, inner);
    }
    switch (by) {
        case through::runtime:
            return call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020,
                                cudaEventRecord_v3020_params{of, in},
                                CUPTI_DRIVER_TRACE_CBID_cuEventRecord, driver);
        case through::per_thread_runtime:
            return call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000,
                                cudaEventRecord_ptsz_v7000_params{of, in},
                                CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, per_thread);
        case through::driver:
            return call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecord, driver, begin_call());
        case through::per_thread_driver: break;
    }
    return call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz, per_thread, begin_call());
}

std::uint32_t call_stream_wait(std::uint32_t stream, const void* event, through by) {
    const CUevent of = event_of(event);
    const CUstream in = stream_of(stream);
    const cuStreamWaitEvent_params driver{in, of, 0};
    if (by == through::driver)
        return call_driver(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, driver, begin_call());
    return call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020,
                        cudaStreamWaitEvent_v3020_params{in, of, 0},
                        CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, driver);
}

void call_event_destroy(const void* event, through by) {
    const cuEventDestroy_v2_params driver{event_of(event)};
    if (by == through::driver)
        call_driver(CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2, driver, begin_call());
    else
        call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020,
                     cudaEventDestroy_v3020_params{event_of(event)},
                     CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2, driver);
}

void add_to_graph(const void* event, through by) {
    const CUevent of = event_of(event);
    const cuGraphAddEventRecordNode_params node{nullptr, nullptr, nullptr, 0, of};
    if (by == through::driver)
        call_driver(CUPTI_DRIVER_TRACE_CBID_cuGraphAddEventRecordNode, node, begin_call());
    else
        call_runtime(CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddEventRecordNode_v11010,
                     cudaGraphAddEventRecordNode_v11010_params{nullptr, nullptr, nullptr, 0, of},
                     CUPTI_DRIVER_TRACE_CBID_cuGraphAddEventRecordNode, node);
}

void fail_next_event_call() {
    const std::lock_guard lock(self().mutex);
    self().fails_next = true;
}

void capture(std::uint32_t stream, bool on) {
    const std::lock_guard lock(self().mutex);
    if (on)
        self().captured.insert(stream);
    else
        self().captured.erase(stream);
}

}  // namespace coroscope::test::fake_cupti
