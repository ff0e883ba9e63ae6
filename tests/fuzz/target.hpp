// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the fuzzers feed. A target reads whatever it is given as a user's command would, to the end: it
// loads, and where that succeeds asks every question and writes every export.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/result.hpp>

namespace coroscope_fuzz {

/// Each target defines it.
void feed(std::string_view bytes);

/// Takes what is written, and keeps nothing but its length.
struct nowhere {
    bool operator()(std::string_view text) const { return text.size() < std::string_view::npos; }
};

/// A failure is one line that says something; anything else is a defect.
void check_failure(const std::string& message);

/// Averages, tables and exports of a list that was loaded.
void ask_all(const coroscope::analysis::event_list& events);

}  // namespace coroscope_fuzz
