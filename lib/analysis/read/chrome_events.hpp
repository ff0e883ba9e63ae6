// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the events of a Chrome trace become in an event_list: intervals become rows, "[memory]" marks become
// memory records, arrows become flows, and names of processes and threads are given to their lanes.
// Counters, other marks and samples have no place in a table of intervals.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/load_events.hpp>

#include "chrome_lanes.hpp"
#include "chrome_names.hpp"
#include "chrome_parser.hpp"
#include "open_events.hpp"

namespace coroscope::analysis::reading {

class chrome_events final : public chrome_sink {
public:
    /// `progress` says which share of the file was read, so that no row is moved twice.
    chrome_events(event_list& list, const load_options& options, std::function<double()> progress)
        : list_(list), names_(list, options.accept_nan), progress_(std::move(progress)) {}

    bool take(const chrome_fields& event) override;
    /// Why the last event was not taken; null where it is no event that JSON could spell.
    [[nodiscard]] const char* problem() const { return problem_; }
    [[nodiscard]] std::uint64_t taken() const { return taken_; }
    /// After the last event: ends what has no end, and names the lanes.
    void finish();

private:
    struct lane_name {
        std::uint32_t process = none;  // texts
        std::uint32_t thread = none;
        std::string name;
    };

    bool take_phase(const chrome_fields& event, char phase);
    bool take_complete(const chrome_fields& event);
    bool take_begin(const chrome_fields& event);
    bool take_end(const chrome_fields& event);
    bool take_async_begin(const chrome_fields& event);
    bool take_async_end(const chrome_fields& event);
    bool take_mark(const chrome_fields& event);
    bool take_flow(const chrome_fields& event, bool start);
    bool take_metadata(const chrome_fields& event);

    bool read_time(const chrome_fields& event, std::int64_t& into);
    /// A row for the event, with all but its end; null where the event is wrong.
    event_row* add_row(const chrome_fields& event);
    bool name_row(const chrome_fields& event, event_row& row);
    bool read_arguments(const chrome_fields& event, event_row& row);
    bool inputs_are_json(const chrome_arguments& arguments);
    bool read_inputs(const chrome_arguments& arguments, event_row& row);
    void read_links(const chrome_arguments& arguments, event_row& row);
    void read_device(const chrome_arguments& arguments, event_row& row);
    void read_stack(std::string_view token, event_row& row);
    void note_end(event_row& row, std::int64_t end_ns);
    event_extra& extra_of(event_row& row);
    async_key key_of(const chrome_fields& event);
    void end_unfinished(const std::vector<std::uint32_t>& rows);
    void name_lanes();

    bool wrong(const char* why) {
        problem_ = why;
        return false;
    }
    event_list& list_;
    chrome_names names_;
    chrome_lanes lanes_;
    open_events open_;
    std::function<double()> progress_;
    std::vector<lane_name> lane_names_;
    std::vector<std::uint32_t> without_duration_;
    const char* problem_ = nullptr;
    std::uint64_t taken_ = 0;
    std::uint64_t ends_without_beginning_ = 0;
    std::uint64_t negative_durations_ = 0;
    std::uint64_t other_phases_ = 0;
    std::int64_t first_ns_ = INT64_MAX;
    std::int64_t last_ns_ = INT64_MIN;
};

}  // namespace coroscope::analysis::reading
