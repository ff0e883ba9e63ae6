// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of a processed profile of the Firefox Profiler, version 62, that all threads share:
// stacks, frames, functions, sources and strings. A stack is a node of the frame_tree.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/model.hpp>

#include "../chrome_writer.hpp"
#include "stack_tree.hpp"

namespace coroscope::analysis::inline profiles {

/// The categories, which colour the stacks. All but the first are kinds of time.
struct firefox_category {
    std::string_view name;
    std::string_view color;
};
inline constexpr std::array<firefox_category, 8> firefox_categories{{
    {"Other", "grey"},
    {"running", "blue"},
    {"on-CPU", "green"},
    {"blocked", "red"},
    {"preempted", "orange"},
    {"queued", "yellow"},
    {"suspended", "lightblue"},
    {"waiting", "purple"},
}};

class firefox_strings {
public:
    [[nodiscard]] std::uint32_t number_of(std::string_view text);
    void write(chrome_writer& out) const;

private:
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<const std::string*> texts_;  // keys of numbers_, by number
};

/// Writes a column: `"name":[…]`. `cell(index)` must write one cell.
template <class Cell>
void write_column(chrome_writer& out, std::string_view name, std::size_t count, const Cell& cell) {
    out.raw("\"").raw(name).raw("\":[");
    for (std::size_t at = 0; at < count; ++at) {
        if (at != 0) out.raw(",");
        cell(at);
    }
    out.raw("]");
}

/// Writes the member "shared". `from` is the trace of `frames`.
void write_firefox_tables(chrome_writer& out, const trace& from, const frame_tree& frames,
                          firefox_strings& strings);

}  // namespace coroscope::analysis::inline profiles
