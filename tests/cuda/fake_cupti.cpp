// SPDX-License-Identifier: Apache-2.0
#include "fake_cupti.hpp"

#include <algorithm>
#include <ctime>

#include "fake_cupti_state.hpp"

namespace coroscope::test::fake_cupti {
namespace {

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

std::uint32_t number_of(const launch& what) {
    const std::lock_guard lock(self().mutex);
    return what.correlation != 0 ? what.correlation : ++self().last_correlation;
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

}  // namespace

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

void flush(bool forced) {
    std::unique_lock lock(self().mutex);
    if (self().ended) return;
    if (forced) {
        for (CUpti_ActivityKernel10& kernel : self().in_flight)
            self().append(&kernel, sizeof kernel);
        self().in_flight.clear();
    }
    self().send_kept();
    self().finish_current();
    lock.unlock();
    self().wait();
}

std::uint64_t now_ns() {
    const CUpti_TimestampCallbackFunc clock = self().timestamp.load();
    if (clock != nullptr) return clock();
    return realtime_ns() + static_cast<std::uint64_t>(self().skew_ns.load());
}
void skew_clock(std::int64_t ahead_ns) { self().skew_ns = ahead_ns; }

std::uint32_t call_launch(const launch& what) {
    const std::uint32_t correlation = number_of(what);
    const api_function runtime{CUPTI_CB_DOMAIN_RUNTIME_API, launch_kernel_cbid};
    const api_function driver{CUPTI_CB_DOMAIN_DRIVER_API, driver_launch_cbid};
    const int result = 0;
    const std::uint64_t begin = now_ns();
    tell(runtime, CUPTI_API_ENTER, correlation, nullptr, result);
    if (what.with_driver_call) {
        tell(driver, CUPTI_API_ENTER, correlation, nullptr, result);
        tell(driver, CUPTI_API_EXIT, correlation, nullptr, result);
    }
    tell(runtime, CUPTI_API_EXIT, correlation, nullptr, result);
    std::uint64_t end = now_ns();
    while (end <= begin) end = now_ns();
    const std::lock_guard lock(self().mutex);
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
    else if (!what.kernel_first && !what.without_kernel)
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
void keep_buffers(bool keep) {
    const std::lock_guard lock(self().mutex);
    self().keeps = keep;
}
void fill_buffer() {
    const std::lock_guard lock(self().mutex);
    self().fill_current();
}
std::size_t kept_buffers() {
    const std::lock_guard lock(self().mutex);
    return self().kept();
}
void drop(std::size_t records) {
    const std::lock_guard lock(self().mutex);
    self().dropped += records;
}
void set_driver_devices(int count) { self().driver_devices = count; }
void refuse_subscribers(CUptiResult answer) {
    const std::lock_guard lock(self().mutex);
    self().subscriber_answer = answer;
}
void refuse_kind(CUpti_ActivityKind kind, CUptiResult answer) {
    const std::lock_guard lock(self().mutex);
    self().refused[static_cast<std::uint32_t>(kind)] = answer;
}
void refuse_callbacks(CUptiResult answer) {
    const std::lock_guard lock(self().mutex);
    self().callback_answer = answer;
}
void refuse_clock(CUptiResult answer) {
    const std::lock_guard lock(self().mutex);
    self().clock_answer = answer;
    if (answer != CUPTI_SUCCESS) self().timestamp = nullptr;
}

void refuse_queue_times(CUptiResult answer) {
    const std::lock_guard lock(self().mutex);
    self().latency_answer = answer;
    if (answer != CUPTI_SUCCESS) self().latency = false;
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

}  // namespace coroscope::test::fake_cupti
