// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUPTI's numbers for CUDA's handles.

#include <coroscope/detail/device_recorder.hpp>

#include "cupti_library.hpp"

namespace coroscope::cuda {

/// See coroscope::detail::device_recorder::identify. A null stream belongs to the calling thread's
/// current context.
coroscope::detail::device_stream identify_stream(void* stream, bool per_thread) noexcept;

}  // namespace coroscope::cuda
