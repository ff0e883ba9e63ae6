// SPDX-License-Identifier: Apache-2.0
#pragma once

// Trace files of other profilers, as texts in the tests.

#include <coroscope/analysis/load_events.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace coroscope_tests {

namespace analysis = coroscope::analysis;

inline analysis::result<analysis::event_list>
read_events(std::string_view text, const analysis::load_options& options = {}) {
    return analysis::load_events(coroscope::trace::buffer::copy(text.data(), text.size()), options);
}

inline analysis::event_list events_of_text(std::string_view text,
                                           const analysis::load_options& options = {}) {
    auto loaded = read_events(text, options);
    INFO(text);
    INFO((loaded ? std::string() : loaded.error().message));
    REQUIRE(loaded.has_value());
    return std::move(*loaded);
}

/// An object with these events, each beginning on a line.
inline std::string trace_of(std::string_view events) {
    return "{\"schemaVersion\": 1, \"traceEvents\": [\n" + std::string(events) + "\n]}";
}

/// A complete event on lane 1|1, with times as the file spells them.
inline std::string complete(std::string_view name, std::string_view time, std::string_view duration,
                            std::string_view more = {}) {
    return std::string(R"({"ph": "X", "cat": "cpu_op", "name": ")")
        .append(name)
        .append(R"(", "pid": 1, "tid": 1, "ts": )")
        .append(time)
        .append(R"(, "dur": )")
        .append(duration)
        .append(more)
        .append("}");
}

/// "name [start, end]" of each row.
inline std::string rows_of(const analysis::event_list& list) {
    std::string text;
    for (const analysis::event_row& row : list.rows)
        text.append(text.empty() ? "" : " ")
            .append(list.text(row.name))
            .append("[")
            .append(std::to_string(row.start_ns))
            .append(",")
            .append(std::to_string(row.end_ns))
            .append("]");
    return text;
}

}  // namespace coroscope_tests
