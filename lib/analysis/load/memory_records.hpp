// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes what allocators reported, and the modules that addresses lie in.

#include <cstdint>

#include "clock_map.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::loading {

/// The event of a memory record.
memory_event read_memory(const coroscope::trace::record_view& record, std::uint32_t thread,
                         clock_map& clock);

/// The module of a module record; without a path where the record is malformed.
code_module read_module(const coroscope::trace::record_view& record);

/// Brings both into the model's order, each module once.
void order_memory_and_modules(trace& loaded);

}  // namespace coroscope::analysis::loading
