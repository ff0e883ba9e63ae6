// SPDX-License-Identifier: Apache-2.0

// A comparison of runs as text, as Markdown and as JSON.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <coroscope/analysis/comparison_views.hpp>
#include <fmt/format.h>

#include "../../text/json_writer.hpp"
#include "../../text/text_grid.hpp"
#include "../../text/utf8.hpp"
#include "../listing/listing.hpp"
#include "comparison_words.hpp"

namespace coroscope::analysis {
namespace {

constexpr std::size_t most_name_chars = 40;

std::string titles_text(const std::vector<std::string>& titles) {
    std::string text;
    for (const std::string& each : titles) {
        if (!text.empty()) text += ", ";
        text += printable(each);
    }
    return text;
}

std::string what_text(const comparison_row& row) {
    std::string text =
        fmt::format("{} {}", name_of(row.kind), cut_name(printable(row.name), most_name_chars));
    if (const std::string place = place_text(row); !place.empty()) text += ", " + place;
    if (!row.note.empty()) text += fmt::format(" ({})", printable(row.note));
    return text;
}

std::string rows_text(const std::vector<const comparison_row*>& rows, bool per_request) {
    const std::vector<std::string> headings{"Verdict", "Change", "95 %",
                                            per_request ? "A request" : "A run", "What"};
    std::vector<std::vector<std::string>> cells(headings.size());
    for (const comparison_row* each : rows) {
        cells[0].emplace_back(name_of(each->verdict));
        cells[1].push_back(change_text(*each));
        cells[2].push_back(interval_text(*each));
        cells[3].push_back(effect_text(*each));
        cells[4].push_back(what_text(*each));
    }
    std::vector<text_column> columns;
    for (std::size_t at = 0; at < headings.size(); ++at) {
        const bool is_text = at == 0 || at + 1 == headings.size();
        const std::size_t limit = at + 1 == headings.size() ? 36 : 24;
        columns.push_back({headings[at], column_width(cells[at], headings[at], 0, limit),
                           is_text ? alignment::left : alignment::right});
    }
    text_grid table(columns);
    table.headings();
    table.rule();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::vector<std::string> texts;
        for (const auto& column : cells) texts.push_back(column[row]);
        table.row(texts);
    }
    return std::move(table).take();
}

/// Breaks a sentence into lines of at most 80 columns.
std::string wrapped(std::string_view text) {
    constexpr std::size_t width = 80;
    std::string lines;
    std::size_t column = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (column != 0 && column + 1 + end > width) {
            lines += '\n';
            column = 0;
        }
        if (column != 0) lines += ' ';
        lines += text.substr(0, end);
        column += end + (column != 0 ? 1 : 0);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines + '\n';
}

std::vector<std::string> all_notes(const comparison& of) {
    std::vector<std::string> notes = of.notes;
    for (std::string& each : call_notes(of)) notes.push_back(std::move(each));
    return notes;
}

std::string left_out_text(const comparison& of, const shown_rows& shown, bool all) {
    const std::size_t same = all ? 0 : of.count(comparison_verdict::same);
    if (same + shown.left_out == 0) return {};
    return fmt::format("{} of {} rows; --all shows the others\n", shown.rows.size(),
                       of.rows.size());
}

/// A cell of a Markdown table, in which a bar would end the cell. A name of the trace must not
/// become a link, an image, an entity or a mention.
std::string markdown_cell(std::string_view text) {
    std::string cell;
    for (const char each : printable(text)) {
        constexpr std::string_view special = "|<>*_`\\[]()!&~#";
        if (special.find(each) != std::string_view::npos) cell += '\\';
        cell += each;
        if (each == '@') cell += "\u200b";  // no name of a user follows
    }
    return cell;
}

std::string markdown_rows(const std::vector<const comparison_row*>& rows, bool per_request) {
    std::string text = fmt::format("| | change | 95 % interval | {} | what | where |\n"
                                   "|---|---:|---:|---:|---|---|\n",
                                   per_request ? "per request" : "per run");
    for (const comparison_row* each : rows) {
        const std::string_view verdict = name_of(each->verdict);
        const bool is_slower = each->verdict == comparison_verdict::slower;
        text +=
            fmt::format("| {} | {} | {} | {} | {} {}{} | {} |\n",
                        is_slower ? fmt::format("**{}**", verdict) : std::string(verdict),
                        change_text(*each), interval_text(*each), effect_text(*each),
                        name_of(each->kind), markdown_cell(each->name),
                        each->note.empty() ? "" : fmt::format(" ({})", markdown_cell(each->note)),
                        markdown_cell(place_text(*each)));
    }
    return text;
}

void write_texts(json_writer& json, std::string_view key, const std::vector<std::string>& texts) {
    json.key(key).begin_array(json_writer::layout::compact);
    for (const std::string& each : texts) json.string(each);
    json.end();
}

}  // namespace

std::string comparison_text(const comparison& of, const comparison_options& options) {
    std::string text = fmt::format("before: {}\nafter:  {}\n{}\n", titles_text(of.before),
                                   titles_text(of.after), comparison_sentence(of));
    const shown_rows shown = rows_to_show(of, options);
    if (!shown.rows.empty()) text += '\n' + rows_text(shown.rows, of.per_request);
    text += left_out_text(of, shown, options.all);
    text += '\n';
    for (const std::string& each : all_notes(of)) text += wrapped("note: " + each);
    return text + wrapped(certainty_text(of));
}

std::string comparison_markdown(const comparison& of, const comparison_options& options) {
    std::string text = fmt::format("**Coroscope:** {}\n\n", comparison_sentence(of));
    const shown_rows shown = rows_to_show(of, options);
    if (!shown.rows.empty()) text += markdown_rows(shown.rows, of.per_request) + '\n';
    for (const std::string& each : all_notes(of))
        text += fmt::format("- {}\n", markdown_cell(each));
    return text + fmt::format("- {}\n- before: {}\n- after: {}\n", certainty_text(of),
                              markdown_cell(titles_text(of.before)),
                              markdown_cell(titles_text(of.after)));
}

std::string comparison_json(const comparison& of) {
    json_writer json;
    json.begin_object();
    write_texts(json, "before", of.before);
    write_texts(json, "after", of.after);
    json.member("per_request", of.per_request).member("confidence", 0.95);
    json.member("typical_uncertainty", of.typical_uncertainty);
    write_texts(json, "notes", all_notes(of));
    json.key("rows");
    listings::write_rows(json, list_comparison(of));
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
