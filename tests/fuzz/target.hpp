// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface between fuzzers and targets. A target handles its input as a user's command would:
// it loads the input, and on success asks for every table and writes every export.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/analysis/result.hpp>

namespace coroscope_fuzz {

/// Each target defines it.
void feed(std::string_view bytes);

/// Discards the text that is written.
struct nowhere {
    bool operator()(std::string_view text) const { return text.size() < std::string_view::npos; }
};

/// A failure must be one line that is not empty; otherwise it is a defect.
void check_failure(const std::string& message);

/// Makes the averages, tables and exports of a loaded list.
void ask_all(const coroscope::analysis::event_list& events);

}  // namespace coroscope_fuzz
