// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coroscope::runtime {

/// Will coroutines still be resumed by this thread's exit? Then it must go on recording.
bool resumes_at_exit() noexcept;

}  // namespace coroscope::runtime
