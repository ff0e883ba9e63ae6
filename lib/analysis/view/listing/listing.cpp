// SPDX-License-Identifier: Apache-2.0
#include "listing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "../../text/csv_writer.hpp"
#include "../../text/fit_columns.hpp"
#include "../../text/text_grid.hpp"
#include "../../text/utf8.hpp"

namespace coroscope::analysis {
namespace {

bool is_text(cell_kind kind) {
    return kind == cell_kind::text || kind == cell_kind::source || kind == cell_kind::sentence ||
           kind == cell_kind::outline;
}

/// Returns the number by which a cell sorts. An unknown cell sorts after all known ones.
std::int64_t rank(const listing_cell& cell) {
    if (const auto* least = std::get_if<at_least>(&cell)) return least->figure;
    const auto* number = std::get_if<optional_ns>(&cell);
    return number != nullptr ? number->value_or(std::numeric_limits<std::int64_t>::min())
                             : std::numeric_limits<std::int64_t>::min();
}

/// Of a column of kind `number`. Not a number sorts as unknown.
double rank_of_number(const listing_cell& cell) {
    constexpr double last = -std::numeric_limits<double>::infinity();
    const auto* number = std::get_if<double>(&cell);
    return number != nullptr && !std::isnan(*number) ? *number : last;
}

/// Largest first; equals keep their order.
void sort_by_column(std::vector<std::vector<listing_cell>>& rows, std::size_t column) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const double first = rank_of_number(rows[left][column]);
        const double second = rank_of_number(rows[right][column]);
        if (first != second) return first > second;
        const std::int64_t one = rank(rows[left][column]);
        const std::int64_t other = rank(rows[right][column]);
        return one != other ? one > other : left < right;
    });
    std::vector<std::vector<listing_cell>> sorted;
    sorted.reserve(rows.size());
    for (const std::size_t at : order) sorted.push_back(std::move(rows[at]));
    rows = std::move(sorted);
}

/// The form of cells in text.
struct cell_style {
    const listing_options& options;
    const moment_format& moments;
    [[nodiscard]] bool is_fitted() const { return options.line_width != 0; }
    /// Texts that will be fitted are not cut before.
    [[nodiscard]] std::size_t limit(std::size_t otherwise) const {
        return is_fitted() ? std::numeric_limits<std::size_t>::max() : otherwise;
    }
};

std::string text_of(std::int64_t number, cell_kind kind, const cell_style& style) {
    if (kind == cell_kind::moment) return style.moments.text(number);
    if (kind == cell_kind::hundredths)
        return fmt::format("{:.2f}", static_cast<double>(number) / 100);
    if (kind != cell_kind::time) return std::to_string(number);
    return style.is_fitted() ? format_short_time(number, style.options.unit)
                             : format_time(number, style.options.unit);
}

std::string text_of(const listing_cell& cell, cell_kind kind, const cell_style& style) {
    if (const auto* text = std::get_if<std::string>(&cell)) {
        std::string clean = text->empty() ? "-" : printable(*text);
        if (kind == cell_kind::sentence) return clean;
        return kind == cell_kind::source
                   ? cut_source(clean, style.limit(style.options.max_source_column_width))
                   : cut_name(clean, style.limit(style.options.max_text_column_width));
    }
    if (std::holds_alternative<not_applicable>(cell)) return "-";
    if (const auto* least = std::get_if<at_least>(&cell))
        return text_of(least->figure, kind, style) + "+";
    if (const auto* number = std::get_if<double>(&cell)) return format_number(*number);
    const optional_ns& number = std::get<optional_ns>(cell);
    return number ? text_of(*number, kind, style) : "unknown";
}

/// Returns the indentation of a row: two spaces for each of at most sixteen levels.
std::size_t indent_of(const listing& list, const std::vector<listing_cell>& row) {
    const auto depth = std::find_if(list.columns.begin(), list.columns.end(),
                                    [](const listing_column& each) { return each.key == "depth"; });
    if (depth == list.columns.end()) return 0;
    const auto* levels =
        std::get_if<optional_ns>(&row[static_cast<std::size_t>(depth - list.columns.begin())]);
    constexpr std::int64_t deepest = 16;
    return levels == nullptr ? 0
                             : 2 * static_cast<std::size_t>(
                                       std::clamp(levels->value_or(0), std::int64_t{0}, deepest));
}

/// Returns the text of a cell in a column of kind outline.
std::string outlined(const listing& list, const std::vector<listing_cell>& row, std::size_t column,
                     const cell_style& style) {
    const std::string indent(indent_of(list, row), ' ');
    const std::string name = text_of(row[column], cell_kind::sentence, style);
    return cut_name(indent + name, style.limit(style.options.max_text_column_width));
}

void tell_names_apart(std::vector<std::string>& texts, const listing& list, std::size_t column,
                      const listing_options& options) {
    std::vector<std::string> names;
    names.reserve(list.rows.size());
    for (const auto& row : list.rows) {
        const auto* text = std::get_if<std::string>(&row[column]);
        names.push_back(text == nullptr || text->empty() ? "-" : printable(*text));
    }
    tell_apart(texts, names, options.max_text_column_width);
}

std::vector<std::string> column_texts(const listing& list, std::size_t column,
                                      const cell_style& style) {
    std::vector<std::string> texts;
    texts.reserve(list.rows.size());
    const cell_kind kind = list.columns[column].kind;
    for (const auto& row : list.rows)
        texts.push_back(kind == cell_kind::outline ? outlined(list, row, column, style)
                                                   : text_of(row[column], kind, style));
    if (kind == cell_kind::text && !style.is_fitted())
        tell_names_apart(texts, list, column, style.options);
    return texts;
}

shortening shortening_of(cell_kind kind) {
    if (kind == cell_kind::source) return shortening::source;
    return is_text(kind) ? shortening::middle : shortening::none;
}

text_column laid_out(const listing_column& column, const std::vector<std::string>& texts) {
    const std::size_t width =
        column_width(texts, column.heading, 0, std::numeric_limits<std::size_t>::max());
    if (is_text(column.kind)) return {column.heading, width, alignment::left};
    const bool is_time = column.kind == cell_kind::time || column.kind == cell_kind::moment;
    const std::size_t least = is_time ? std::size_t{10} : std::size_t{1};
    return {column.heading, std::max(width, least), alignment::right};
}

std::string write_table(const std::vector<laid_column>& columns, std::size_t rows) {
    std::vector<text_column> forms;
    for (const laid_column& each : columns) forms.push_back(each.column);
    text_grid table(forms);
    table.headings();
    table.rule();
    for (std::size_t row = 0; row < rows; ++row) {
        std::vector<std::string> cells;
        for (const laid_column& each : columns) cells.push_back(each.cells[row]);
        table.row(cells);
    }
    return std::move(table).take();
}

template <class Value>
void write_cell(csv_writer& csv, const Value& value) {
    csv.cell(value);
}
void write_cell(csv_writer& csv, double number) {
    if (std::isfinite(number))
        csv.cell(std::string_view(fmt::format("{}", number)));
    else
        csv.cell(optional_ns());
}
void write_cell(csv_writer& csv, at_least sum) { csv.cell(optional_ns(sum.figure)); }
void write_cell(csv_writer& csv, not_applicable) { csv.cell(optional_ns()); }

void write_cell(json_writer& json, const std::string& text) { json.string(text); }
void write_cell(json_writer& json, const optional_ns& number) {
    if (number) {
        json.integer(*number);
    } else {
        json.null();
    }
}
void write_cell(json_writer& json, double number) { json.number(number); }
void write_cell(json_writer& json, at_least sum) { json.integer(sum.figure); }
void write_cell(json_writer& json, not_applicable) { json.null(); }

}  // namespace

std::string sort_keys_of(const listing& list) {
    std::string keys;
    for (const listing_column& column : list.columns) {
        if (is_text(column.kind)) continue;
        std::string_view key = column.key;
        if (key.ends_with("_ns")) key.remove_suffix(3);
        if (!keys.empty()) keys += ", ";
        keys += key;
    }
    return keys;
}

result<listing> arranged(listing list, const listing_options& options) {
    if (!options.sort_by.empty()) {
        const auto found =
            std::find_if(list.columns.begin(), list.columns.end(), [&](const listing_column& each) {
                return !is_text(each.kind) &&
                       (each.key == options.sort_by || each.key == options.sort_by + "_ns");
            });
        if (found == list.columns.end()) {
            return failure{fmt::format("cannot sort by \"{}\"; one of {}",
                                       printable(options.sort_by), sort_keys_of(list))};
        }
        sort_by_column(list.rows, static_cast<std::size_t>(found - list.columns.begin()));
    }
    if (options.row_limit >= 0 && static_cast<std::size_t>(options.row_limit) < list.rows.size()) {
        list.rows.resize(static_cast<std::size_t>(options.row_limit));
    }
    return list;
}

std::string to_text(const listing& list, const listing_options& options) {
    return to_text(list, options, moment_format(moments_of(list), options.unit));
}

std::string listings::to_text(const listing& list, const listing_options& options,
                              const moment_format& moments) {
    const cell_style style{options, moments};
    std::vector<laid_column> columns;
    for (std::size_t at = 0; at < list.columns.size(); ++at) {
        const listing_column& each = list.columns[at];
        std::vector<std::string> texts = column_texts(list, at, style);
        text_column form = laid_out(each, texts);
        columns.push_back({std::move(form), std::move(texts), each.key, shortening_of(each.kind)});
    }
    std::vector<std::string> left_out;
    if (style.is_fitted()) left_out = fit_table(columns, options.line_width);
    return write_table(columns, list.rows.size()) + left_out_line(left_out);
}

std::string to_csv(const listing& list) { return to_csv(list, {}); }

std::string to_csv(const listing& list, const listing_options& options) {
    csv_writer csv(options.guard_formulas);
    for (const listing_column& column : list.columns) csv.cell(std::string_view(column.key));
    csv.end_row();
    for (const auto& row : list.rows) {
        for (const listing_cell& cell : row) {
            std::visit([&csv](const auto& value) { write_cell(csv, value); }, cell);
        }
        csv.end_row();
    }
    return std::move(csv).take();
}

std::string to_json(const listing& list) {
    json_writer json;
    write_rows(json, list);
    return std::move(json).take();
}

void listings::write_rows(json_writer& json, const listing& list) {
    json.begin_array();
    for (const auto& row : list.rows) {
        json.begin_object(json_writer::layout::compact);
        for (std::size_t at = 0; at < row.size(); ++at) {
            json.key(list.columns[at].key);
            std::visit([&json](const auto& value) { write_cell(json, value); }, row[at]);
        }
        json.end();
    }
    json.end();
}

}  // namespace coroscope::analysis
