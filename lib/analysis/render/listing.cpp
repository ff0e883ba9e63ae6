// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/listing.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "csv_writer.hpp"
#include "listing_json.hpp"
#include "text_table.hpp"
#include "utf8.hpp"

namespace coroscope::analysis {
namespace {

using render::alignment;
using render::csv_writer;
using render::json_writer;
using render::text_column;
using render::text_table;

bool is_text(cell_kind kind) {
    return kind == cell_kind::text || kind == cell_kind::source || kind == cell_kind::sentence ||
           kind == cell_kind::outline;
}

/// Unknown sorts behind everything known.
std::int64_t rank(const listing_cell& cell) {
    if (const auto* least = std::get_if<at_least>(&cell)) return least->figure;
    const auto* number = std::get_if<optional_ns>(&cell);
    return number != nullptr ? number->value_or(std::numeric_limits<std::int64_t>::min())
                             : std::numeric_limits<std::int64_t>::min();
}

/// Largest first; equals keep their order.
void sort_by_column(std::vector<std::vector<listing_cell>>& rows, std::size_t column) {
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
        const std::int64_t one = rank(rows[left][column]);
        const std::int64_t other = rank(rows[right][column]);
        return one != other ? one > other : left < right;
    });
    std::vector<std::vector<listing_cell>> sorted;
    sorted.reserve(rows.size());
    for (const std::size_t at : order) sorted.push_back(std::move(rows[at]));
    rows = std::move(sorted);
}

std::string text_of(std::int64_t number, cell_kind kind, const listing_options& options) {
    return kind == cell_kind::time ? format_time(number, options.unit) : std::to_string(number);
}

std::string text_of(const listing_cell& cell, cell_kind kind, const listing_options& options) {
    if (const auto* text = std::get_if<std::string>(&cell)) {
        std::string clean = text->empty() ? "-" : render::printable(*text);
        if (kind == cell_kind::sentence) return clean;
        return kind == cell_kind::source
                   ? render::cut_source(clean, options.max_source_column_width)
                   : render::cut_name(clean, options.max_text_column_width);
    }
    if (std::holds_alternative<not_applicable>(cell)) return "-";
    if (const auto* least = std::get_if<at_least>(&cell))
        return text_of(least->figure, kind, options) + "+";
    const optional_ns& number = std::get<optional_ns>(cell);
    return number ? text_of(*number, kind, options) : "unknown";
}

/// Two spaces a level, of which the first sixteen are shown.
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

/// The cell of a column of kind outline.
std::string outlined(const listing& list, const std::vector<listing_cell>& row, std::size_t column,
                     const listing_options& options) {
    const std::string indent(indent_of(list, row), ' ');
    const std::string name = text_of(row[column], cell_kind::sentence, options);
    return render::cut_name(indent + name, options.max_text_column_width);
}

std::vector<std::string> column_texts(const listing& list, std::size_t column,
                                      const listing_options& options) {
    std::vector<std::string> texts;
    texts.reserve(list.rows.size());
    const cell_kind kind = list.columns[column].kind;
    for (const auto& row : list.rows)
        texts.push_back(kind == cell_kind::outline ? outlined(list, row, column, options)
                                                   : text_of(row[column], kind, options));
    return texts;
}

text_column laid_out(const listing_column& column, const std::vector<std::string>& texts) {
    const std::size_t width =
        render::column_width(texts, column.heading, 0, std::numeric_limits<std::size_t>::max());
    if (is_text(column.kind)) return {column.heading, width, alignment::left};
    const std::size_t least = column.kind == cell_kind::time ? std::size_t{10} : std::size_t{1};
    return {column.heading, std::max(width, least), alignment::right};
}

template <class Value>
void write_cell(csv_writer& csv, const Value& value) {
    csv.cell(value);
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
void write_cell(json_writer& json, at_least sum) { json.integer(sum.figure); }
void write_cell(json_writer& json, not_applicable) { json.null(); }

}  // namespace

std::string sort_keys_of(const listing& list) {
    std::string keys;
    for (const listing_column& column : list.columns) {
        if (is_text(column.kind)) continue;
        if (!keys.empty()) keys += ", ";
        keys += column.key;
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
                                       render::printable(options.sort_by), sort_keys_of(list))};
        }
        sort_by_column(list.rows, static_cast<std::size_t>(found - list.columns.begin()));
    }
    if (options.row_limit >= 0 && static_cast<std::size_t>(options.row_limit) < list.rows.size()) {
        list.rows.resize(static_cast<std::size_t>(options.row_limit));
    }
    return list;
}

std::string to_text(const listing& list, const listing_options& options) {
    std::vector<std::vector<std::string>> texts;
    std::vector<text_column> columns;
    for (std::size_t at = 0; at < list.columns.size(); ++at) {
        texts.push_back(column_texts(list, at, options));
        columns.push_back(laid_out(list.columns[at], texts.back()));
    }
    text_table table(columns);
    table.headings();
    table.rule();
    for (std::size_t row = 0; row < list.rows.size(); ++row) {
        std::vector<std::string> cells;
        for (const auto& column : texts) cells.push_back(column[row]);
        table.row(cells);
    }
    return std::move(table).take();
}

std::string to_csv(const listing& list) {
    csv_writer csv;
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
    render::write_rows(json, list);
    return std::move(json).take();
}

void render::write_rows(json_writer& json, const listing& list) {
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
