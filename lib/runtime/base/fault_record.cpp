// SPDX-License-Identifier: Apache-2.0
#include "fault_record.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "kept_errno.hpp"
#include "uncancelled.hpp"

namespace coroscope::runtime::inline base {

void fault_record::note(const char* text) noexcept {
    if (count.fetch_add(1, std::memory_order_relaxed) != 0 || line == nullptr) return;
    const kept_errno programs;
    const uncancelled meanwhile;
    char written[512];
    const int length = std::snprintf(written, sizeof written, "%s%.256s\n", line, text);
    const auto size = std::min(static_cast<std::size_t>(std::max(length, 0)), sizeof written - 1);
    if (::write(STDERR_FILENO, written, size) < 0)
        return;  // there is no reader: the fault is only counted
}

}  // namespace coroscope::runtime::inline base
