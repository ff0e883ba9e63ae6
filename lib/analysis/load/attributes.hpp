// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which attribute each event and task carried. A task's own changes make its history; a context that was
// installed by hand carries what it was captured with, on its thread until its end. A job that is folded away
// has a history, too: its scopes carry what it carries.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include "symbols.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>

namespace coroscope::analysis::loading {

/// An attribute record.
struct attribute_definition {
    std::uint32_t serial = 0;
    std::uint32_t parent = 0;  ///< serial
    std::uint32_t key = none;  ///< index into trace::strings
    std::uint32_t value = none;
    optional_ns set_ns;  ///< when it was set
};

/// From this moment on a context carries something else. Of one thread they stand in order.
struct carry_op {
    enum class cause : std::uint8_t { change, installed, restored };
    std::int64_t time_ns = 0;
    std::uint32_t thread = none;
    std::uint32_t task = none;
    std::uint32_t serial = 0;
    std::uint32_t position = 0;  ///< in its stream
    cause why = cause::change;
};

struct task_records;

struct attribute_records {
    std::vector<attribute_definition> definitions;
    std::vector<carry_op> ops;
};

/// Decodes an attribute record.
attribute_definition read_attribute(const coroscope::trace::record_view& record, symbols& names,
                                    clock_map& clock);

/// Fills in trace::attributes, event::attribute and task_info::attribute.
void attach_attributes(const task_records& records, trace& loaded);

}  // namespace coroscope::analysis::loading
