// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every range of emit_nvtx has: the domain "coroscope", a category (a site's, or one of ours), a colour that is
// the same for the same category, or for the same name where there is none, in every run, and a task's id as payload. Any thread.

#include <cstdint>
#include <string_view>

#include <nvtx3/nvToolsExt.h>

#include "push_stack.hpp"

namespace coroscope::nvtx {

nvtxDomainHandle_t domain() noexcept;

/// `text` ends with a NUL, as `name` need not: what the colour follows where `category` is empty. `task`: 0 for none.
nvtxEventAttributes_t attributes_of(const char* text, std::string_view name, const char* category,
                                    std::uint64_t task);

struct range_stack {
    static void pop() noexcept { nvtxDomainRangePop(domain()); }
};
using pushed_ranges = push_stack<range_stack>;

}  // namespace coroscope::nvtx
