// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sessions under test: the sequences of session_steps.hpp in a loaded trace.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <coroscope/analysis/load.hpp>
#include <coroscope/trace/buffer.hpp>
#include <doctest/doctest.h>

#include "session_steps.hpp"

namespace coroscope::test {

inline bool is_step(std::string_view label) { return label.starts_with("step "); }

inline analysis::trace load(const trace::buffer& bytes) {
    REQUIRE_FALSE(bytes.empty());
    auto loaded = analysis::load(bytes);
    REQUIRE(loaded);
    for (const std::string& warning : loaded->health.warnings) FAIL_CHECK(warning);
    CHECK(loaded->health.damaged_chunks == 0);
    return std::move(*loaded);
}

inline analysis::trace load(const std::string& path) {
    auto loaded = analysis::load(path);
    REQUIRE_MESSAGE(loaded, path);
    for (const std::string& warning : loaded->health.warnings) FAIL_CHECK(warning);
    CHECK(loaded->health.damaged_chunks == 0);
    return std::move(*loaded);
}

inline const std::string& label_of(const analysis::trace& trace, const analysis::event& event) {
    static const std::string unknown = "(unknown)";
    return event.name < trace.strings.size() ? trace.strings[event.name] : unknown;
}

inline std::size_t count(const analysis::trace& trace, std::string_view label) {
    std::size_t found = 0;
    for (const analysis::event& event : trace.events)
        found += label_of(trace, event) == label ? 1U : 0U;
    return found;
}

inline const analysis::event* find(const analysis::trace& trace, std::string_view label) {
    for (const analysis::event& event : trace.events)
        if (label_of(trace, event) == label) return &event;
    return nullptr;
}

/// The steps of each thread, as the digits of their labels, in the order of their starts.
inline std::vector<std::string> steps_by_thread(const analysis::trace& trace) {
    std::vector<std::string> found(trace.threads.size());
    for (const analysis::event& event : trace.events) {
        const std::string& label = label_of(trace, event);
        if (is_step(label) && event.thread < found.size()) found[event.thread] += label.back();
    }
    return found;
}

inline std::uint64_t count_steps(const analysis::trace& trace) {
    std::uint64_t all = 0;
    for (const analysis::event& event : trace.events)
        all += is_step(label_of(trace, event)) ? 1U : 0U;
    return all;
}

/// Returns whether it is a stretch of the sequence without a gap.
inline bool is_sequence(std::string_view digits) {
    for (std::size_t at = 1; at < digits.size(); ++at)
        if (digits[at] != (digits[at - 1] == '4' ? '0' : digits[at - 1] + 1)) return false;
    return true;
}

/// Returns whether it is the sequence from its beginning.
inline bool is_whole_sequence(std::string_view digits) {
    return digits.empty() || (digits.front() == '0' && is_sequence(digits));
}

}  // namespace coroscope::test
