// SPDX-License-Identifier: Apache-2.0
#include "text_grid.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "utf8.hpp"

namespace coroscope::analysis::inline text {

text_grid::text_grid(std::vector<text_column> columns) : columns_(std::move(columns)) {}

void text_grid::rule() {
    std::vector<std::string> dashes;
    dashes.reserve(columns_.size());
    for (const text_column& column : columns_) dashes.emplace_back(column.width, '-');
    row(dashes);
}

void text_grid::rule(char of) { line(std::string(line_length(), of)); }

void text_grid::headings() {
    std::vector<std::string> cells;
    cells.reserve(columns_.size());
    for (const text_column& column : columns_) cells.push_back(column.heading);
    row(cells);
}

void text_grid::row(const std::vector<std::string>& cells) {
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

void text_grid::line(std::string_view text) {
    out_ += text;
    out_ += '\n';
}

std::string text_grid::take() && { return std::move(out_); }

std::size_t text_grid::line_length() const {
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

namespace {

std::size_t common_prefix(const std::vector<std::string_view>& names) {
    std::size_t size = names.front().size();
    for (const std::string_view name : names) {
        const auto differ =
            std::mismatch(names.front().begin(), names.front().end(), name.begin(), name.end());
        size = std::min(size, static_cast<std::size_t>(differ.first - names.front().begin()));
    }
    return count_characters(names.front().substr(0, size));
}

/// Cuts a name to "first part...characters around `at`".
std::string cut_around(std::string_view name, std::size_t at, std::size_t limit) {
    constexpr std::string_view dots = "...";
    constexpr std::size_t context = 4;  // characters kept before `at`
    const std::size_t kept = limit > 2 * dots.size() ? limit - 2 * dots.size() : 0;
    const std::size_t head = kept / 3;
    const std::size_t all = count_characters(name);
    const std::size_t tail = std::min(kept - head, all);
    const std::size_t from = std::min(at > context ? at - context : 0, all - tail);
    if (from <= head) return std::string(name);
    std::string cut(first_characters(name, head));
    cut.append(dots).append(first_characters(last_characters(name, all - from), tail));
    if (from + tail < all) cut.append(dots);
    return cut;
}

}  // namespace

void tell_apart(std::vector<std::string>& cut, const std::vector<std::string>& names,
                std::size_t limit) {
    std::map<std::string_view, std::vector<std::size_t>> alike;
    const std::vector<std::string> before = cut;
    for (std::size_t at = 0; at < names.size(); ++at) alike[before[at]].push_back(at);
    for (const auto& [text, rows] : alike) {
        std::vector<std::string_view> group;
        for (const std::size_t row : rows) group.emplace_back(names[row]);
        const std::size_t same = common_prefix(group);
        const std::set<std::string_view> different(group.begin(), group.end());
        if (different.size() == 1) continue;
        std::set<std::string> shown;
        for (const std::string_view name : different) shown.insert(cut_around(name, same, limit));
        const bool apart = shown.size() == different.size();
        for (const std::size_t row : rows)
            cut[row] = apart ? cut_around(names[row], same, limit) : names[row];
    }
}

std::string cut_source(std::string_view source, std::size_t limit) {
    constexpr std::string_view dots = "...";
    if (count_characters(source) <= limit) return std::string(source);
    const std::size_t kept = limit > dots.size() ? limit - dots.size() : 0;
    return std::string(dots).append(last_characters(source, kept));
}

}  // namespace coroscope::analysis::inline text
