// SPDX-License-Identifier: Apache-2.0
#include "match_rows.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "../words/places.hpp"

namespace coroscope::analysis::inline compare {
namespace {

/// The places of one side with one name, by line.
using places = std::map<std::uint32_t, row_in_runs>;

struct both_sides {
    places before;
    places after;
};

/// Kind, name and file.
using row_name = std::tuple<compared_kind, std::string, std::string>;

/// A lambda's name contains its line, which moves: "app::serve::{lambda:41}".
std::string without_lines(std::string_view name) {
    constexpr std::string_view lambda = "{lambda:";
    std::string found;
    while (!name.empty()) {
        const std::size_t at = std::min(name.find(lambda), name.size());
        found += name.substr(0, at);
        name.remove_prefix(at);
        if (name.empty()) break;
        found += lambda.substr(0, lambda.size() - 1);
        name.remove_prefix(lambda.size());
        while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) != 0)
            name.remove_prefix(1);
    }
    return found;
}

row_name name_of_row(const run_row& row) {
    // Types of requests and executors are known by their names alone.
    const bool by_file = row.kind == compared_kind::scope || row.kind == compared_kind::await;
    return {row.kind, without_lines(row.name),
            by_file ? std::string(short_path(row.file)) : std::string()};
}

void collect(std::map<row_name, both_sides>& into, std::span<const run_summary> runs,
             places both_sides::* side) {
    for (const run_summary& run : runs)
        for (const run_row& row : run.rows) {
            const row_name name = name_of_row(row);
            const std::uint32_t line = std::get<2>(name).empty() ? 0 : row.line;
            (into[name].*side)[line].push_back({&row, &run});
        }
}

/// The rows of one name that have no counterpart yet.
void add_alone(std::vector<matched_row>& rows, const both_sides& of, bool ambiguous) {
    for (const auto& [line, runs] : of.before) rows.push_back({runs, {}, {}, ambiguous});
    for (const auto& [line, runs] : of.after) rows.push_back({{}, runs, {}, ambiguous});
}

void match_by_order(std::vector<matched_row>& rows, both_sides& of) {
    const bool several = of.before.size() > 1;
    auto other = of.after.begin();
    for (auto& [line, runs] : of.before) {
        matched_row& row = rows.emplace_back();
        row.before = std::move(runs);
        row.after = std::move(other->second);
        if (several && line != other->first)
            row.note = fmt::format("one of {} of this name, matched in the order of lines; was at "
                                   "line {}",
                                   of.before.size(), line);
        ++other;
    }
}

/// The number of places has changed: only those with equal lines match.
void match_by_line(std::vector<matched_row>& rows, both_sides of) {
    for (auto at = of.before.begin(); at != of.before.end();) {
        const auto other = of.after.find(at->first);
        if (other == of.after.end()) {
            ++at;
            continue;
        }
        rows.push_back({std::move(at->second), std::move(other->second), {}, false});
        of.after.erase(other);
        at = of.before.erase(at);
    }
    const bool ambiguous = !of.before.empty() && !of.after.empty();
    add_alone(rows, of, ambiguous);
}

const run_row& first_of(const matched_row& row) {
    return *(row.before.empty() ? row.after : row.before).front().row;
}

/// Joins the rows that moved to another file: those alone on their side, of a name of which the
/// other side has one, too.
void match_moved(std::vector<matched_row>& rows) {
    std::map<std::pair<compared_kind, std::string>, std::vector<matched_row*>> alone;
    for (matched_row& each : rows)
        if ((each.before.empty() || each.after.empty()) && !each.ambiguous)
            alone[{first_of(each).kind, without_lines(first_of(each).name)}].push_back(&each);
    for (auto& [name, both] : alone) {
        if (both.size() != 2 || both[0]->before.empty() == both[1]->before.empty()) continue;
        matched_row& old = both[0]->before.empty() ? *both[1] : *both[0];
        matched_row& now = both[0]->before.empty() ? *both[0] : *both[1];
        now.before = std::move(old.before);
        now.note = fmt::format("was in {}", short_path(now.before.front().row->file));
        old.before.clear();
    }
    std::erase_if(
        rows, [](const matched_row& each) { return each.before.empty() && each.after.empty(); });
}

}  // namespace

std::vector<matched_row> match_rows(std::span<const run_summary> before,
                                    std::span<const run_summary> after) {
    std::map<row_name, both_sides> names;
    collect(names, before, &both_sides::before);
    collect(names, after, &both_sides::after);
    std::vector<matched_row> rows;
    for (auto& [name, of] : names) {
        if (of.before.empty() || of.after.empty())
            add_alone(rows, of, false);
        else if (of.before.size() == of.after.size())
            match_by_order(rows, of);
        else
            match_by_line(rows, std::move(of));
    }
    match_moved(rows);
    return rows;
}

}  // namespace coroscope::analysis::inline compare
