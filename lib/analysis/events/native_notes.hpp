// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts the facts of a native trace's events to torch's form: shapes, stacks, sequence numbers,
// modules and memory, but not the times.

#include <cstdint>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/analysis/symbolizer.hpp>

#include "../model/attribute_values.hpp"

namespace coroscope::analysis::inline events {

class native_notes {
public:
    /// `lanes` has the lane of each of the trace's threads. All arguments must outlive the object.
    native_notes(const trace& from, event_list& to, const std::vector<std::uint32_t>& lanes);

    /// Must be called once for each event of the trace, in order, after its row was filled in.
    void add(const event& each, event_row& row);

    /// Adds the trace's memory events to the list.
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
    attribute_values values_;  // values of the attribute "module"
    // By index of the trace's stacks and attributes: the text's index in the list. `not_looked_up`
    // before the first use.
    std::vector<std::uint32_t> stacks_;
    std::vector<std::uint32_t> modules_;
};

}  // namespace coroscope::analysis::inline events
