// SPDX-License-Identifier: Apache-2.0
#pragma once

// The common parts of emit_nvtx's ranges: the domain "coroscope", a category (that of the site, or
// one of Coroscope's own), a colour, and the id of the task as payload. The colour depends on the
// category, or on the name if there is none, and is the same in every run. Any thread may use them.

#include <cstdint>
#include <string_view>

#include <nvtx3/nvToolsExt.h>

#include "push_stack.hpp"

namespace coroscope::nvtx {

nvtxDomainHandle_t domain() noexcept;

/// `text` must end with a NUL; `name` need not. The colour depends on `name` if `category` is
/// empty. `task`: 0 for none.
nvtxEventAttributes_t attributes_of(const char* text, std::string_view name, const char* category,
                                    std::uint64_t task);

struct range_stack {
    static void pop() noexcept { nvtxDomainRangePop(domain()); }
};
using pushed_ranges = push_stack<range_stack>;

}  // namespace coroscope::nvtx
