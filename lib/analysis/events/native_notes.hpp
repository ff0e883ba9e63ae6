// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a native trace knows of its events beside their times, in torch's words: shapes, stacks, sequence
// numbers, modules, memory.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/symbolizer.hpp>

#include "attribute_values.hpp"

namespace coroscope::analysis::events {

class native_notes {
public:
    /// `lanes`: of the trace's threads.
    native_notes(const trace& from, event_list& to, const std::vector<std::uint32_t>& lanes);

    /// To be called for the trace's events in their order, when the row has been filled in.
    void add(const event& each, event_row& row);

    /// What stands in the list beside its events.
    void add_memory();

private:
    void name_step(const event& each, event_row& row);
    void add_note(const event_note& note, event_row& row);
    std::uint32_t text_of(std::uint32_t string);
    std::uint32_t stack_of(std::uint32_t stack);
    std::uint32_t modules_of(std::uint32_t attribute);

    const trace& from_;
    event_list& to_;
    const std::vector<std::uint32_t>& lanes_;
    symbolizer symbols_;
    std::uint32_t next_event_ = 0;
    std::vector<event_note>::const_iterator next_note_;
    bool has_modules_;
    attribute_values values_;             // of "module"
    std::vector<std::uint32_t> stacks_;   // of the trace's stacks: texts of the list
    std::vector<std::uint32_t> modules_;  // of the trace's attributes: texts; `unknown` before
};

}  // namespace coroscope::analysis::events
