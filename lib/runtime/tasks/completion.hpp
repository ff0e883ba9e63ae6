// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace coroscope::runtime::inline tasks {

/// Will coroutines still be resumed by this thread's exit? Then it must go on recording.
bool resumes_at_exit() noexcept;

/// Returns whether this thread's exit has begun to resume coroutines.
bool resumed_at_exit() noexcept;

}  // namespace coroscope::runtime::inline tasks
