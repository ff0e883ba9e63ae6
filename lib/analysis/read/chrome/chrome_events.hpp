// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds the events of a Chrome trace to an event_list: intervals become rows, "[memory]" marks
// become memory records, arrows become flows, and names of processes and threads are given to their
// lanes. Counters, other marks and samples have no place in a table of intervals, and are counted.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/load_options.hpp>

#include "chrome_lanes.hpp"
#include "chrome_names.hpp"
#include "chrome_parser.hpp"
#include "odd_events.hpp"
#include "open_events.hpp"
#include "recorded_times.hpp"

namespace coroscope::analysis::inline chrome {

class chrome_events final : public chrome_sink {
public:
    using byte_finder = std::function<std::uint64_t(const char* event)>;

    /// `progress` returns the share of the file that was read, from which memory for all rows is
    /// reserved. `byte_of` returns an event's place in the file.
    chrome_events(event_list& list, const load_options& options, odd_events& odd,
                  std::function<double()> progress, byte_finder byte_of)
        : list_(list),
          names_(list, options.accept_nan),
          odd_(odd),
          keep_(options.keep_arguments),
          progress_(std::move(progress)),
          byte_of_(std::move(byte_of)) {}

    bool take(const chrome_fields& event) override;
    /// The reason for which the last event was not taken. Null if the event is not valid JSON.
    [[nodiscard]] const char* problem() const { return problem_; }
    [[nodiscard]] std::uint64_t taken() const { return taken_; }
    /// Must be called after the last event. Ends the events without an end, and names the lanes.
    /// `of_native` says that the file is an export of a native trace.
    void finish(bool of_native);

private:
    struct lane_name {
        std::uint32_t process = none;  // texts
        std::uint32_t thread = none;
        std::string name;
    };

    bool take_known(const chrome_fields& event);
    bool take_phase(const chrome_fields& event, char phase);
    bool take_complete(const chrome_fields& event);
    bool take_begin(const chrome_fields& event);
    bool take_end(const chrome_fields& event);
    bool take_async_begin(const chrome_fields& event);
    bool take_async_end(const chrome_fields& event);
    bool take_mark(const chrome_fields& event);
    bool take_flow(const chrome_fields& event, char phase);
    bool take_metadata(const chrome_fields& event);

    bool read_time(const chrome_fields& event, std::int64_t& into);
    /// Adds a row for the event, complete except for its end. Returns null if the event is odd.
    event_row* add_row(const chrome_fields& event);
    void note_device(const category_meaning& of);
    bool name_row(const chrome_fields& event, event_row& row);
    bool read_arguments(const chrome_fields& event, event_row& row);
    bool inputs_are_json(const chrome_arguments& arguments);
    bool read_inputs(const chrome_arguments& arguments, event_row& row);
    void read_links(const chrome_arguments& arguments, event_row& row);
    void read_device(const chrome_arguments& arguments, event_row& row);
    void read_stack(std::string_view token, event_row& row);
    void note_end(event_row& row, std::int64_t end_ns);
    event_extra& extra_of(event_row& row);
    void keep_rest(const chrome_fields& event, event_row& row);
    bool keep_metadata(const chrome_fields& event);
    async_key key_of(const chrome_fields& event);
    void end_unfinished(const std::vector<std::uint32_t>& rows);
    void name_lanes();
    void name_devices();

    bool wrong(const char* why) {
        problem_ = why;
        return false;
    }
    event_list& list_;
    chrome_names names_;
    odd_events& odd_;
    bool keep_;
    chrome_lanes lanes_;
    open_events open_;
    std::function<double()> progress_;
    byte_finder byte_of_;
    std::vector<lane_name> lane_names_;
    std::vector<std::uint32_t> without_duration_;
    recorded_times recorded_;
    const char* problem_ = nullptr;
    bool has_devices_ = false;
    std::string_view device_name_;    // from a category of the first device event with one
    std::string_view called_device_;  // from the first call
    std::uint64_t taken_ = 0;
    std::uint64_t ends_without_beginning_ = 0;
    std::uint64_t negative_durations_ = 0;
    std::uint64_t other_phases_ = 0;
    std::uint64_t without_interval_ = 0;
    std::int64_t first_ns_ = INT64_MAX;
    std::int64_t last_ns_ = INT64_MIN;
};

}  // namespace coroscope::analysis::inline chrome
