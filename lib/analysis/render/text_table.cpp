// SPDX-License-Identifier: Apache-2.0
#include "text_table.hpp"

#include <algorithm>
#include <utility>

#include "utf8.hpp"

namespace coroscope::analysis::render {

text_table::text_table(std::vector<text_column> columns) : columns_(std::move(columns)) {}

void text_table::rule() {
    std::vector<std::string> dashes;
    dashes.reserve(columns_.size());
    for (const text_column& column : columns_) dashes.emplace_back(column.width, '-');
    row(dashes);
}

void text_table::rule(char of) { line(std::string(line_length(), of)); }

void text_table::headings() {
    std::vector<std::string> cells;
    cells.reserve(columns_.size());
    for (const text_column& column : columns_) cells.push_back(column.heading);
    row(cells);
}

void text_table::row(const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t at = 0; at < columns_.size() && at < cells.size(); ++at) {
        const std::size_t used = count_characters(cells[at]);
        const std::size_t free = columns_[at].width > used ? columns_[at].width - used : 0;
        if (at != 0) text.append(column_gap, ' ');
        if (columns_[at].align == alignment::right) text.append(free, ' ');
        text += cells[at];
        if (columns_[at].align == alignment::left) text.append(free, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    line(text);
}

void text_table::line(std::string_view text) {
    out_ += text;
    out_ += '\n';
}

std::string text_table::take() && { return std::move(out_); }

std::size_t text_table::line_length() const {
    std::size_t length = 0;
    for (const text_column& column : columns_) length += column.width + column_gap;
    return length < column_gap ? 0 : length - column_gap;
}

std::size_t column_width(const std::vector<std::string>& cells, std::string_view heading,
                         std::size_t padding, std::size_t limit) {
    std::size_t longest = count_characters(heading);
    for (const std::string& cell : cells) longest = std::max(longest, count_characters(cell));
    return std::min(longest + padding, limit);
}

std::string cut_name(std::string_view name, std::size_t limit) {
    constexpr std::string_view dots = "...";
    const std::size_t kept = limit > dots.size() ? limit - dots.size() : 0;
    if (count_characters(name) < kept) return std::string(name);
    return std::string(first_characters(name, kept)).append(dots);
}

std::string cut_source(std::string_view source, std::size_t limit) {
    constexpr std::string_view dots = "...";
    if (count_characters(source) <= limit) return std::string(source);
    const std::size_t kept = limit > dots.size() ? limit - dots.size() : 0;
    return std::string(dots).append(last_characters(source, kept));
}

}  // namespace coroscope::analysis::render
