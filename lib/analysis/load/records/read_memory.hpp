// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the reports of allocators, and the modules of addresses.

#include <cstdint>

#include "clock_map.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// The event of a memory record.
memory_event read_memory(const coroscope::trace::record_view& record, std::uint32_t thread,
                         clock_map& clock);

/// The module of a module record. It has no path if the record is malformed.
code_module read_module(const coroscope::trace::record_view& record);

/// Sorts memory events and modules into the model's order, and removes repeated modules.
void order_memory_and_modules(trace& loaded);

}  // namespace coroscope::analysis::inline records
