// SPDX-License-Identifier: Apache-2.0
#include "csv_writer.hpp"

#include <algorithm>

#include "utf8.hpp"

namespace coroscope::analysis::inline text {
namespace {

bool begins_formula(std::string_view text) {
    return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != text.npos;
}

/// Returns whether the text is printable ASCII that needs no quotes in a cell.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char each) {
        return each >= ' ' && each <= '~' && each != ',' && each != '"';
    });
}

}  // namespace

csv_writer& csv_writer::cell(std::string_view text) {
    const bool guarded = guard_formulas_ && begins_formula(text);
    if (!guarded && is_plain(text)) return raw(text);
    std::string clean = printable_lines(text);
    if (guarded) clean.insert(clean.begin(), '\'');
    if (clean.find_first_of(",\"\n") == std::string::npos) return raw(clean);
    std::string quoted = "\"";
    for (const char each : clean) {
        if (each == '"') quoted += '"';
        quoted += each;
    }
    quoted += '"';
    return raw(quoted);
}

csv_writer& csv_writer::end_row() {
    out_ += '\n';
    row_is_empty_ = true;
    return *this;
}

csv_writer& csv_writer::raw(std::string_view text) {
    if (!row_is_empty_) out_ += ',';
    row_is_empty_ = false;
    out_ += text;
    return *this;
}

}  // namespace coroscope::analysis::inline text
