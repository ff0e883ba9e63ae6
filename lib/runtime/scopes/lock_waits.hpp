// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records the waits for the C library's locks. The preloaded library coroscope-interpose reports
// them.

namespace coroscope::runtime::inline scopes {

/// Connects the recorder with the preloaded library. From then on each wait for a lock leaves a
/// record in a session that was asked for feature_locks. Returns false if the library is not
/// loaded. Must be called once, before the first session starts.
bool watch_lock_waits() noexcept;

}  // namespace coroscope::runtime::inline scopes
