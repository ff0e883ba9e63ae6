// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decodes the facts about requests and the values of the program.

#include <cstdint>
#include <vector>

#include "clock_map.hpp"
#include "metadata.hpp"
#include <coroscope/analysis/model.hpp>
#include <coroscope/trace/reader.hpp>
#include <coroscope/trace/request_format.hpp>

namespace coroscope::analysis::inline records {

/// One fact about a request.
struct request_fact {
    std::int64_t start_ns = 0;      ///< of a whole task: the moment of the fact
    std::uint64_t task_id = 0;      ///< 0: outside tasks
    std::uint32_t thread = none;    ///< of the start
    std::uint32_t site = none;      ///< index into trace::sites
    std::uint32_t serial = 0;       ///< of a range's label
    std::uint32_t label = none;     ///< of a whole task: index into trace::strings
    std::uint64_t deadline_ns = 0;  ///< 0: none
    coroscope::trace::request_form form = coroscope::trace::request_form::scope;
    bool failed = false;
    bool left_out = false;
};

/// The task and the scopes of a value, before the model has tasks and scopes.
struct value_links {
    std::uint64_t task_id = 0;
    /// Number of scopes that ended at the value's moment, and whose records come before the
    /// value's.
    std::uint32_t ended_scopes = 0;
};

struct request_records {
    std::vector<request_fact> facts;
    std::vector<value_links> values;  ///< by index into trace::values before it is sorted
    std::uint64_t malformed_requests = 0;
    std::uint64_t malformed_values = 0;
};

class request_reader {
public:
    [[nodiscard]] static bool reads(const coroscope::trace::record_view& fact);

    [[nodiscard]] static bool is_value(const coroscope::trace::record_view& fact);

    /// Keeps the fact, or appends the value to trace::values. Returns the moment of a value, else
    /// 0. `ended_scopes`: see value_links; 0 for a request.
    std::int64_t read(const coroscope::trace::record_view& fact, std::uint32_t thread,
                      std::uint32_t ended_scopes, metadata& names, clock_map& clock, trace& loaded);

    request_records take() { return std::move(found_); }

private:
    std::int64_t read_request(const coroscope::trace::record_view& fact, std::uint32_t thread,
                              metadata& names, clock_map& clock);
    std::int64_t read_value(const coroscope::trace::record_view& fact, std::uint32_t thread,
                            std::uint32_t ended_scopes, metadata& names, clock_map& clock,
                            trace& loaded);

    request_records found_;
};

}  // namespace coroscope::analysis::inline records
