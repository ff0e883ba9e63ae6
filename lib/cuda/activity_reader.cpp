// SPDX-License-Identifier: Apache-2.0
#include "activity_reader.hpp"

#include <cstddef>

namespace coroscope::cuda {
namespace {

using detail::device_delivery;
using trace::device_activity;
using trace::device_unknown;

// CUPTI only appends to its structures. These versions exist in CUDA 12 and 13, and the members
// that we read have the same offsets in the newer versions.
using kernel_record = CUpti_ActivityKernel9;
using copy_record = CUpti_ActivityMemcpy5;
using peer_copy_record = CUpti_ActivityMemcpyPtoP4;
using set_record = CUpti_ActivityMemset4;
using memory_record = CUpti_ActivityMemory3;
using synchronization_record = CUpti_ActivitySynchronization;
using overhead_record = CUpti_ActivityOverhead;
using context_record = CUpti_ActivityContext;
using device_record = CUpti_ActivityDevice4;

#if CUPTI_API_VERSION >= 130000
static_assert(offsetof(kernel_record, queued) == offsetof(CUpti_ActivityKernel10, queued));
static_assert(offsetof(kernel_record, name) == offsetof(CUpti_ActivityKernel10, name));
static_assert(offsetof(copy_record, correlationId) ==
              offsetof(CUpti_ActivityMemcpy6, correlationId));
static_assert(offsetof(memory_record, streamId) == offsetof(CUpti_ActivityMemory4, streamId));
static_assert(offsetof(synchronization_record, streamId) ==
              offsetof(CUpti_ActivitySynchronization2, streamId));
static_assert(offsetof(overhead_record, end) == offsetof(CUpti_ActivityOverhead3, end));
static_assert(offsetof(context_record, deviceId) == offsetof(CUpti_ActivityContext3, deviceId));
static_assert(offsetof(device_record, name) == offsetof(CUpti_ActivityDevice5, name));
#endif

template <class Record>
const Record& as(const CUpti_Activity& record) noexcept {
    return reinterpret_cast<const Record&>(record);
}

static_assert(CUPTI_SYNCHRONIZATION_INVALID_VALUE == device_unknown);

bool is_on_device(CUpti_ActivityMemoryKind kind) noexcept {
    return kind != CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN &&
           kind != CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE && kind != CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

}  // namespace

/// One activity in CUPTI's terms, without its ticks and its task.
struct activity_reader::activity {
    std::uint64_t start_ns;
    std::uint64_t end_ns;
    std::uint32_t site;
    std::uint32_t correlation;
    trace::device_body body{};

    activity(device_activity what, std::uint64_t start, std::uint64_t end, std::uint32_t name,
             std::uint32_t number) noexcept
        : start_ns(start), end_ns(end), site(name), correlation(number) {
        body.what = what;
        body.correlation = number;
        body.device = body.context = body.stream = device_unknown;
    }
    activity& on(std::uint32_t device, std::uint32_t context, std::uint32_t stream) noexcept {
        body.device = device;
        body.context = context;
        body.stream = stream;
        return *this;
    }
    bool is_work() const noexcept {
        return body.what == device_activity::kernel || body.what == device_activity::copy ||
               body.what == device_activity::set;
    }
    bool is_call() const noexcept {
        return body.what == device_activity::runtime_call ||
               body.what == device_activity::driver_call;
    }
};

void activity_reader::begin(const cupti_functions& cupti, const clock_line& clock,
                            const call_moments* moments, std::uint32_t period,
                            std::uint64_t start_ticks) noexcept {
    cupti_ = &cupti;
    clock_ = clock;
    moments_ = moments;
    collected_.begin(period);
    names_.begin();
    start_ticks_ = start_ticks;
    work_ = {};
    tasks_.forget();
    devices_.begin();
}

std::uint64_t activity_reader::read(std::uint8_t* buffer, std::size_t bytes,
                                    device_delivery& to) noexcept {
    lost_ = 0;
    devices_.tell_names(to);
    CUpti_Activity* record = nullptr;
    while (bytes != 0 && cupti_->next_record(buffer, bytes, &record) == CUPTI_SUCCESS)
        read_one(*record, to);
    return lost_;
}

void activity_reader::read_one(const CUpti_Activity& record, device_delivery& to) noexcept {
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
            const auto& told = as<CUpti_ActivityExternalCorrelation>(record);
            if (told.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
                tasks_.announce(told.correlationId, task_of_external(told.externalId),
                                period_of_external(told.externalId));
            return;
        }
        case CUPTI_ACTIVITY_KIND_RUNTIME:
        case CUPTI_ACTIVITY_KIND_DRIVER: return write_call(record, to);
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return write_kernel(record, to);
        case CUPTI_ACTIVITY_KIND_MEMCPY: return write_copy(as<copy_record>(record), to);
        case CUPTI_ACTIVITY_KIND_MEMCPY2: return write_copy(as<peer_copy_record>(record), to);
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            const auto& set = as<set_record>(record);
            return write_moved(device_activity::set, set, activity_names::of_set(set.memoryKind),
                               to);
        }
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: return write_synchronization(record, to);
        case CUPTI_ACTIVITY_KIND_OVERHEAD: return write_overhead(record, to);
        case CUPTI_ACTIVITY_KIND_MEMORY2: return write_memory(record, to);
        case CUPTI_ACTIVITY_KIND_DEVICE: {
            const auto& device = as<device_record>(record);
            return devices_.name(device.id, device.name, to);
        }
        case CUPTI_ACTIVITY_KIND_CONTEXT: {
            const auto& context = as<context_record>(record);
            return devices_.place_context(context.contextId, context.deviceId);
        }
        case CUPTI_ACTIVITY_KIND_STREAM: {
            const auto& stream = as<CUpti_ActivityStream>(record);
            if (stream.flag == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL)
                devices_.name_stream(stream.contextId, stream.streamId, "default", to);
            return;
        }
        case CUPTI_ACTIVITY_KIND_NAME: return read_name(record, to);
        default: return;
    }
}

// Reads names that the program gave through NVTX. Threads have names already, and contexts are not
// lanes.
void activity_reader::read_name(const CUpti_Activity& record, device_delivery& to) noexcept {
    const auto& told = as<CUpti_ActivityName>(record);
    const auto& of = told.objectId.dcs;
    if (told.objectKind == CUPTI_ACTIVITY_OBJECT_STREAM)
        devices_.name_stream(of.contextId, of.streamId, told.name, to);
    if (told.objectKind == CUPTI_ACTIVITY_OBJECT_DEVICE) devices_.name(of.deviceId, told.name, to);
}

std::uint64_t activity_reader::task_of(const activity& what, std::uint64_t start,
                                       std::uint64_t end) noexcept {
    if (what.correlation == 0) return 0;
    return what.is_call() ? tasks_.of_call(what.correlation, start, end, collected_)
                          : tasks_.of_activity(what.correlation, start, collected_);
}

void activity_reader::write(const activity& what, device_delivery& to) noexcept {
    if (what.start_ns == 0 || what.end_ns < what.start_ns) {
        ++lost_;
        return;
    }
    const std::uint64_t start = clock_.ticks_at(what.start_ns);
    trace::device_body body = what.body;
    body.end_ticks = clock_.ticks_at(what.end_ns);
    body.task = task_of(what, start, body.end_ticks);
    if (body.end_ticks < start_ticks_ || !collected_.includes(start)) return;
    if (collected_.is_paused()) {
        ++lost_;
        return;
    }
    if (what.is_work()) {
        ++work_.activities;
        work_.device_time_ns += what.end_ns - what.start_ns;
    }
    to.write(start, what.site, body);
}

void activity_reader::write_call(const CUpti_Activity& record, device_delivery& to) noexcept {
    const auto& call = as<CUpti_ActivityAPI>(record);
    const bool runtime = call.kind == CUPTI_ACTIVITY_KIND_RUNTIME;
    activity what(runtime ? device_activity::runtime_call : device_activity::driver_call,
                  call.start, call.end,
                  names_.of_call(*cupti_,
                                 runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
                                 call.cbid),
                  call.correlationId);
    what.body.os_thread_id = call.threadId;
    mend_clock(call.correlationId, call.start);
    write(what, to);
}

// Moves the line so that it goes through the start of the call. The call and its requested work
// then have correct ticks.
void activity_reader::mend_clock(std::uint32_t correlation, std::uint64_t start_ns) noexcept {
    const std::uint64_t ticks = moments_ == nullptr ? 0 : moments_->find(correlation);
    if (ticks == 0 || start_ns == 0) return;
    clock_.base_ticks = ticks;
    clock_.base_ns = start_ns;
}

void activity_reader::write_kernel(const CUpti_Activity& record, device_delivery& to) noexcept {
    const auto& kernel = as<kernel_record>(record);
    const activity_names::name name = names_.of_kernel(kernel.name);
    if (name.cut) to.count_cut_text();
    activity what(device_activity::kernel, kernel.start, kernel.end, name.site,
                  kernel.correlationId);
    what.on(kernel.deviceId, kernel.contextId, kernel.streamId);
    if (kernel.queued != CUPTI_TIMESTAMP_UNKNOWN)
        what.body.queued_ticks = clock_.ticks_at(kernel.queued);
    write(what, to);
}

template <class Record>
void activity_reader::write_moved(device_activity what, const Record& moved, std::uint32_t name,
                                  device_delivery& to) noexcept {
    activity done(what, moved.start, moved.end, name, moved.correlationId);
    done.on(moved.deviceId, moved.contextId, moved.streamId);
    done.body.bytes = moved.bytes;
    write(done, to);
}

template <class Record>
void activity_reader::write_copy(const Record& copy, device_delivery& to) noexcept {
    write_moved(device_activity::copy, copy,
                activity_names::of_copy(copy.copyKind, copy.srcKind, copy.dstKind), to);
}

void activity_reader::write_synchronization(const CUpti_Activity& record,
                                            device_delivery& to) noexcept {
    const auto& waited = as<synchronization_record>(record);
    activity what(device_activity::synchronization, waited.start, waited.end,
                  activity_names::of_synchronization(waited.type), waited.correlationId);
    what.on(devices_.of_context(waited.contextId), waited.contextId, waited.streamId);
    write(what, to);
}

void activity_reader::write_overhead(const CUpti_Activity& record, device_delivery& to) noexcept {
    const auto& overhead = as<overhead_record>(record);
    activity what(device_activity::overhead, overhead.start, overhead.end,
                  activity_names::of_overhead(overhead.overheadKind), 0);
    const CUpti_ActivityObjectKindId& of = overhead.objectId;
    if (overhead.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
        what.body.os_thread_id = of.pt.threadId;
    else if (overhead.objectKind >= CUPTI_ACTIVITY_OBJECT_DEVICE)
        what.body.device = of.dcs.deviceId;
    write(what, to);
}

void activity_reader::write_memory(const CUpti_Activity& record, device_delivery& to) noexcept {
    const auto& memory = as<memory_record>(record);
    if (!is_on_device(memory.memoryKind)) return;
    const bool released =
        memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    activity what(released ? device_activity::released : device_activity::allocated,
                  memory.timestamp, memory.timestamp, activity_names::of_memory(),
                  memory.correlationId);
    what.on(memory.deviceId, memory.contextId, memory.streamId);
    what.body.bytes = memory.bytes;
    what.body.address = memory.address;
    write(what, to);
}

}  // namespace coroscope::cuda
