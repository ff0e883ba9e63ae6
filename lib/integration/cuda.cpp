// SPDX-License-Identifier: Apache-2.0
#include <coroscope/integration/cuda.hpp>

#include "../runtime/devices.hpp"

namespace coroscope::detail {

void note_stream_wait(void* stream, std::uint64_t task, bool per_thread) noexcept {
    runtime::record_stream_wait(stream, task, per_thread);
}

}  // namespace coroscope::detail
