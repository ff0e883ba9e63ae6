// SPDX-License-Identifier: Apache-2.0
#include "json_writer.hpp"

#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "utf8.hpp"

namespace coroscope::analysis::inline text {

json_writer& json_writer::open(char opening, char closing, layout shape) {
    separate();
    const bool inside_compact = !levels_.empty() && levels_.back().compact;
    levels_.push_back({closing, inside_compact || shape == layout::compact});
    out_ += opening;
    return *this;
}

json_writer& json_writer::end() {
    const level closed = levels_.back();
    levels_.pop_back();
    if (!closed.compact && !closed.empty) new_line();
    out_ += closed.closing;
    return *this;
}

json_writer& json_writer::key(std::string_view name) {
    separate();
    append_json_string(out_, name);
    out_ += ": ";
    after_key_ = true;
    return *this;
}

json_writer& json_writer::string(std::string_view text) {
    separate();
    append_json_string(out_, text);
    return *this;
}

json_writer& json_writer::number(double value) {
    if (!std::isfinite(value)) return null();
    return literal(fmt::format("{}", value));
}

json_writer& json_writer::literal(std::string_view text) {
    separate();
    out_ += text;
    return *this;
}

std::string json_writer::take() && {
    out_ += '\n';
    return std::move(out_);
}

/// Writes the separator between the last value and the next.
void json_writer::separate() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (levels_.empty()) return;
    if (!levels_.back().empty) out_ += levels_.back().compact ? ", " : ",";
    levels_.back().empty = false;
    if (!levels_.back().compact) new_line();
}

void json_writer::new_line() {
    out_ += '\n';
    out_.append(2 * levels_.size(), ' ');
}

}  // namespace coroscope::analysis::inline text
