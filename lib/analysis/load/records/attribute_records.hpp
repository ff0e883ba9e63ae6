// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of attributes: their definitions, and the changes of the attribute that a context
// carries.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include "metadata.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::inline records {

/// An attribute record.
struct attribute_definition {
    std::uint32_t serial = 0;
    std::uint32_t parent = 0;  ///< serial
    std::uint32_t key = none;  ///< index into trace::strings
    std::uint32_t value = none;
    optional_ns set_ns;  ///< when it was set
};

/// A change of the attribute that a context carries. The changes of one thread are in order.
struct carry_op {
    enum class cause : std::uint8_t { change, installed, restored };
    std::int64_t time_ns = 0;
    std::uint32_t thread = none;
    std::uint32_t task = none;
    std::uint32_t serial = 0;
    std::uint32_t position = 0;  ///< in its stream
    cause why = cause::change;
};

struct attribute_records {
    std::vector<attribute_definition> definitions;
    std::vector<carry_op> ops;
};

/// Decodes an attribute record.
attribute_definition read_attribute(const coroscope::trace::record_view& record, metadata& names,
                                    clock_map& clock);

}  // namespace coroscope::analysis::inline records
