// SPDX-License-Identifier: Apache-2.0

#include "cupti_streams.hpp"

#include <coroscope/integration/cuda.hpp>

namespace coroscope::cuda {
namespace {

std::uint32_t context_of(const cupti_functions& cupti, CUstream stream) noexcept {
    const auto stream_context = find_driver_functions().stream_context;
    CUcontext context = nullptr;
    std::uint32_t id = trace::device_unknown;
    if (stream_context == nullptr || cupti.context_id == nullptr ||
        stream_context(stream, &context) != CUDA_SUCCESS ||
        cupti.context_id(context, &id) != CUPTI_SUCCESS)
        return trace::device_unknown;
    return id;
}

std::uint32_t id_of(const cupti_functions& cupti, CUstream stream, bool per_thread) noexcept {
    std::uint32_t id = trace::device_unknown;
    if (cupti.stream_id == nullptr ||
        cupti.stream_id(nullptr, stream, per_thread ? 1 : 0, &id) != CUPTI_SUCCESS)
        return trace::device_unknown;
    return id;
}

}  // namespace

// A session that records devices has opened CUPTI already.
coroscope::detail::device_stream identify_stream(void* stream, bool per_thread) noexcept {
    const cupti_functions* cupti = open_cupti();
    if (cupti == nullptr) return {trace::device_unknown, trace::device_unknown};
    auto* const handle = static_cast<CUstream>(stream);
    return {context_of(*cupti, handle), id_of(*cupti, handle, per_thread)};
}

const char* why_unavailable() noexcept {
    open_cupti();
    return why_no_cupti();
}

}  // namespace coroscope::cuda
