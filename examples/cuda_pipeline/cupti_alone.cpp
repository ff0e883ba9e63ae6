// SPDX-License-Identifier: Apache-2.0
#include "cupti_alone.hpp"

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <cupti.h>
#include <dlfcn.h>

#include "cupti_search.hpp"

namespace cuda_pipeline {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t buffer_alignment = 8;
constexpr CUpti_ActivityKind kinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
    CUPTI_ACTIVITY_KIND_OVERHEAD,
    CUPTI_ACTIVITY_KIND_MEMORY2,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    CUPTI_ACTIVITY_KIND_DEVICE,
    CUPTI_ACTIVITY_KIND_CONTEXT,
    CUPTI_ACTIVITY_KIND_STREAM,
    CUPTI_ACTIVITY_KIND_NAME,
};

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
    *bytes = *buffer == nullptr ? 0 : buffer_bytes;
    *records = 0;
}
void CUPTIAPI discard(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
    std::free(buffer);
}

}  // namespace

cupti_alone::cupti_alone() : library_(open_cupti()) {
    const auto callbacks = find_in<decltype(cuptiActivityRegisterCallbacks)>(
        library_, "cuptiActivityRegisterCallbacks");
    const auto enable = find_in<decltype(cuptiActivityEnable)>(library_, "cuptiActivityEnable");
    const auto times = find_in<decltype(cuptiActivityEnableLatencyTimestamps)>(
        library_, "cuptiActivityEnableLatencyTimestamps");
    times(1);  // when kernels were queued, as Coroscope asks for
    if (callbacks(give_buffer, discard) != CUPTI_SUCCESS)
        throw std::runtime_error("cuptiActivityRegisterCallbacks is refused");
    for (const CUpti_ActivityKind kind : kinds)
        if (enable(kind) != CUPTI_SUCCESS)
            throw std::runtime_error("cuptiActivityEnable refuses kind " + std::to_string(kind));
}

// CUPTI stays: its threads may call back until the end of the process.
cupti_alone::~cupti_alone() {
    if (void* flush = ::dlsym(library_, "cuptiActivityFlushAll"))
        reinterpret_cast<decltype(cuptiActivityFlushAll)*>(flush)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

}  // namespace cuda_pipeline
