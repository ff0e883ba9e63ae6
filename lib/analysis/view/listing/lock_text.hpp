// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two sides of a wait for a lock, as texts.

#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline listings {

/// "thread worker (2) in scope audit.flush (task 17)"; "unknown" without a thread.
[[nodiscard]] std::string thread_work_text(const trace& loaded, const thread_work& work);

/// The same for the thread that held the lock at the start or, if that is unknown, for the thread
/// that released it. "the thread of system id 4250" if the holder is not in the trace; "unknown" if
/// both are unknown.
[[nodiscard]] std::string holder_text(const trace& loaded, const lock_wait& wait);

/// "mutex 0x7f10".
[[nodiscard]] std::string lock_text(const lock_wait& wait);

/// "30.1 ms: thread … waited for thread …, released after 29.9 ms", or "…, and gave up".
[[nodiscard]] std::string both_sides_text(const trace& loaded, const lock_wait& wait);

}  // namespace coroscope::analysis::inline listings
