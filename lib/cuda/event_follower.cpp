// SPDX-License-Identifier: Apache-2.0
#include "event_follower.hpp"

#include <cstring>

#include "cupti_streams.hpp"

namespace coroscope::cuda {
namespace {

using detail::device_delivery;
using detail::device_event;
using detail::device_stream;

// Calls on a captured stream take effect when its graph is launched.
bool is_captured(const event_call& call) noexcept {
    CUstream stream = call.stream;
    if (stream == nullptr && call.per_thread) stream = CU_STREAM_PER_THREAD;
    if (stream == nullptr || stream == CU_STREAM_LEGACY) return false;
    const auto is_capturing = find_driver_functions().is_capturing;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    return is_capturing != nullptr && is_capturing(stream, &status) == CUDA_SUCCESS &&
           status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// cudaSuccess and CUDA_SUCCESS are the same number.
bool succeeded(const CUpti_CallbackData& data) noexcept {
    int answer = -1;
    if (data.functionReturnValue != nullptr)
        std::memcpy(&answer, data.functionReturnValue, sizeof answer);
    return answer == 0;
}

}  // namespace

CUptiResult event_follower::begin(const cupti_functions& cupti,
                                  CUpti_SubscriberHandle subscriber) noexcept {
    events_.forget_all();
    CUptiResult failed = CUPTI_SUCCESS;
    for (const followed_call& each : followed_calls()) {
        const CUptiResult result = cupti.enable_callback(1, subscriber, each.domain, each.cbid);
        if (result != CUPTI_SUCCESS && each.needed) failed = result;
    }
    if (failed != CUPTI_SUCCESS)
        for (const followed_call& each : followed_calls())
            cupti.enable_callback(0, subscriber, each.domain, each.cbid);
    return failed;
}

void event_follower::called(CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                            const CUpti_CallbackData& data, bool inner) noexcept {
    const bool begins = data.callbackSite == CUPTI_API_ENTER;
    const event_call call = read_event_call(domain, cbid, data.functionParams);
    // A driver call inside a runtime call is ignored here, unless its facts cannot be read from the
    // runtime call.
    if (inner && call.act != event_act::elsewhere) return;
    // After the destruction, another thread may get the same handle for an event of its own.
    if (begins && call.act == event_act::destroy) events_.forget(call.event);
    if (begins || call.event == nullptr || !succeeded(data)) return;
    if (call.act == event_act::record) recorded(call, data.correlationId);
    if (call.act == event_act::wait) made_to_wait(call, data.correlationId);
    if (call.act == event_act::elsewhere) events_.leave(call.event);
}

void event_follower::recorded(const event_call& call, std::uint32_t correlation) noexcept {
    if (!is_captured(call)) {
        const device_stream in = identify_stream(call.stream, call.per_thread);
        events_.record(call.event, {in.context, in.stream, correlation});
    } else if (call.external) {
        events_.leave(call.event);
    } else {
        events_.record(call.event, {});
    }
}

void event_follower::made_to_wait(const event_call& call, std::uint32_t correlation) noexcept {
    if (is_captured(call)) return;
    const device_stream waits = identify_stream(call.stream, call.per_thread);
    const device_event awaited = events_.find(call.event);
    const bool is_own = waits.context == awaited.context && waits.stream == awaited.stream;
    if (waits.stream == trace::device_unknown || is_own) return;  // a stream is ordered by itself
    trace::device_body body{};
    const std::uint64_t ticks = detail::session_ticks();
    body.what = trace::device_activity::dependency;
    body.end_ticks = ticks;
    body.device = trace::device_unknown;
    body.context = waits.context;
    body.stream = waits.stream;
    body.correlation = correlation;
    body.awaited_context = awaited.context;
    body.awaited_stream = awaited.stream;
    body.awaited_correlation = awaited.correlation;
    device_delivery to;
    to.write(ticks, 0, body);
}

}  // namespace coroscope::cuda
