// SPDX-License-Identifier: Apache-2.0

// What the header offers: is CUPTI there, and which stream a suspension waits for.

#include <coroscope/integration/cuda.hpp>

#include <coroscope/detail/device_recorder.hpp>

#include "cupti_library.hpp"

namespace coroscope::cuda {

const char* why_unavailable() noexcept {
    open_cupti();
    return why_no_cupti();
}

namespace {

std::uint32_t context_of(const cupti_functions& cupti, CUstream stream) noexcept {
    const auto stream_context = find_stream_context(cupti);
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

// A session that records devices has opened CUPTI.
void detail::note_stream_wait(void* stream, std::uint64_t task, bool per_thread) noexcept {
    if (!coroscope::detail::records_devices_here()) return;
    const cupti_functions* cupti = open_cupti();
    if (cupti == nullptr) return;
    auto* const handle = static_cast<CUstream>(stream);
    coroscope::detail::record_device_wait(task, id_of(*cupti, handle, per_thread),
                                          context_of(*cupti, handle));
}

}  // namespace coroscope::cuda
