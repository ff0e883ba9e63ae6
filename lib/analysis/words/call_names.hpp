// SPDX-License-Identifier: Apache-2.0
#pragma once

// The names of system calls that block. A trace has their numbers, which depend on the processor's
// architecture.

#include <cstdint>
#include <string>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline words {

class call_names {
public:
    explicit call_names(const trace& loaded);

    /// Returns the name of the look's call, such as "futex". Returns "system call 77" if the number
    /// has no name here, and "an unknown call" if the number is unknown.
    [[nodiscard]] std::string of(const blocked_look& look) const;

    /// Whether the call may have waited for a lock: it waited for a futex, or is unknown.
    [[nodiscard]] bool may_wait_for_lock(const blocked_look& look) const;

private:
    enum class architecture : std::uint8_t { unknown, x86_64, aarch64 };
    architecture recorded_on_ = architecture::unknown;
};

}  // namespace coroscope::analysis::inline words
