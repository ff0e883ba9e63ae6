// SPDX-License-Identifier: Apache-2.0
#include "event_calls.hpp"

#include <iterator>

namespace coroscope::cuda {
namespace {

template <class Parameters>
const Parameters& as(const void* parameters) noexcept {
    return *static_cast<const Parameters*>(parameters);
}

using reading = event_call (*)(const void* parameters) noexcept;

template <class Parameters, bool PerThread>
event_call record(const void* parameters) noexcept {
    const auto& of = as<Parameters>(parameters);
    event_call call{event_act::record, nullptr, nullptr, PerThread, false};
    if constexpr (requires { of.hEvent; }) {
        call.event = of.hEvent;
        call.stream = of.hStream;
    } else {
        call.event = of.event;
        call.stream = of.stream;
    }
    if constexpr (requires { of.flags; })
        call.external = (of.flags & CU_EVENT_RECORD_EXTERNAL) != 0;
    return call;
}

template <class Parameters, bool PerThread>
event_call wait(const void* parameters) noexcept {
    event_call call = record<Parameters, PerThread>(parameters);
    call.act = event_act::wait;
    return call;
}

template <class Parameters>
event_call destroy(const void* parameters) noexcept {
    const auto& of = as<Parameters>(parameters);
    if constexpr (requires { of.hEvent; })
        return {event_act::destroy, of.hEvent};
    else
        return {event_act::destroy, of.event};
}

template <class Parameters>
event_call elsewhere(const void* parameters) noexcept {
    return {event_act::elsewhere, as<Parameters>(parameters).event};
}

event_call opened(const void* parameters) noexcept {
    const auto& of = as<cuIpcOpenEventHandle_params>(parameters);
    return {event_act::elsewhere, of.phEvent == nullptr ? nullptr : *of.phEvent};
}

#if CUDA_VERSION >= 12030
template <class Parameters>
event_call node(const void* parameters) noexcept {
    const CUgraphNodeParams* of = as<Parameters>(parameters).nodeParams;
    if (of == nullptr || of->type != CU_GRAPH_NODE_TYPE_EVENT_RECORD) return {};
    return {event_act::elsewhere, of->eventRecord.event};
}
#endif

struct followed {
    followed_call call;
    reading read;
};

constexpr followed_call runtime(CUpti_CallbackId cbid) {
    return {CUPTI_CB_DOMAIN_RUNTIME_API, cbid, true};
}
constexpr followed_call driver(CUpti_CallbackId cbid) {
    return {CUPTI_CB_DOMAIN_DRIVER_API, cbid, true};
}
// Functions that an older driver may lack. No program can then call them.
constexpr followed_call newer(CUpti_CallbackId cbid) {
    return {CUPTI_CB_DOMAIN_DRIVER_API, cbid, false};
}

constexpr followed all[] = {
    {runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020),
     record<cudaEventRecord_v3020_params, false>},
    {runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000),
     record<cudaEventRecord_ptsz_v7000_params, true>},
    {runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010),
     record<cudaEventRecordWithFlags_v11010_params, false>},
    {runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_ptsz_v11010),
     record<cudaEventRecordWithFlags_ptsz_v11010_params, true>},
    {runtime(CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020),
     wait<cudaStreamWaitEvent_v3020_params, false>},
    {runtime(CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_ptsz_v7000),
     wait<cudaStreamWaitEvent_ptsz_v7000_params, true>},
    {runtime(CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020),
     destroy<cudaEventDestroy_v3020_params>},
    {driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecord), record<cuEventRecord_params, false>},
    {driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz), record<cuEventRecord_ptsz_params, true>},
    {driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags),
     record<cuEventRecordWithFlags_params, false>},
    {driver(CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz),
     record<cuEventRecordWithFlags_ptsz_params, true>},
    {driver(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent), wait<cuStreamWaitEvent_params, false>},
    {driver(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz),
     wait<cuStreamWaitEvent_ptsz_params, true>},
    {driver(CUPTI_DRIVER_TRACE_CBID_cuEventDestroy), destroy<cuEventDestroy_params>},
    {driver(CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2), destroy<cuEventDestroy_v2_params>},
    {newer(CUPTI_DRIVER_TRACE_CBID_cuGraphAddEventRecordNode),
     elsewhere<cuGraphAddEventRecordNode_params>},
    {newer(CUPTI_DRIVER_TRACE_CBID_cuGraphEventRecordNodeSetEvent),
     elsewhere<cuGraphEventRecordNodeSetEvent_params>},
    {newer(CUPTI_DRIVER_TRACE_CBID_cuGraphExecEventRecordNodeSetEvent),
     elsewhere<cuGraphExecEventRecordNodeSetEvent_params>},
    {newer(CUPTI_DRIVER_TRACE_CBID_cuIpcGetEventHandle), elsewhere<cuIpcGetEventHandle_params>},
    {newer(CUPTI_DRIVER_TRACE_CBID_cuIpcOpenEventHandle), opened},
#if CUDA_VERSION >= 12030
    {newer(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode), node<cuGraphAddNode_params>},
    {newer(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2), node<cuGraphAddNode_v2_params>},
    {newer(CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams), node<cuGraphNodeSetParams_params>},
    {newer(CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams),
     node<cuGraphExecNodeSetParams_params>},
#endif
};

struct call_list {
    followed_call calls[std::size(all)];
};
constexpr call_list list_calls() {
    call_list list{};
    for (std::size_t at = 0; at < std::size(all); ++at) list.calls[at] = all[at].call;
    return list;
}
constexpr call_list calls = list_calls();

}  // namespace

std::span<const followed_call> followed_calls() noexcept { return calls.calls; }

event_call read_event_call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                           const void* parameters) noexcept {
    for (const followed& each : all)
        if (each.call.domain == domain && each.call.cbid == cbid && parameters != nullptr)
            return each.read(parameters);
    return {};
}

}  // namespace coroscope::cuda
