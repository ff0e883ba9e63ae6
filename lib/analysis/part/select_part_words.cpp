// SPDX-License-Identifier: Apache-2.0

// Reads the choice of a part from words.

#include <coroscope/analysis/select_part.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

#include <fmt/format.h>

#include "../text/utf8.hpp"

namespace coroscope::analysis {
namespace {

struct part_unit {
    std::string_view name;
    std::int64_t ns;
    std::size_t decimals;  ///< of a nanosecond
};

// "s" is the end of every name, so it comes last.
constexpr std::array part_units{part_unit{"ns", 1, 0}, part_unit{"us", 1'000, 3},
                                part_unit{"ms", 1'000'000, 6}, part_unit{"s", 1'000'000'000, 9}};

failure wrong_time(std::string_view text) {
    return {fmt::format("\"{}\" is no time such as 1.5s, 20ms, 300us or 7ns", printable(text))};
}

bool is_digits(std::string_view text) {
    return std::ranges::all_of(text, [](char each) { return each >= '0' && each <= '9'; });
}

/// Reads digits, or the digits of a fraction with zeros up to `decimals`.
bool read_digits(std::string text, std::size_t decimals, std::int64_t& number) {
    if (!is_digits(text) || text.size() > std::max<std::size_t>(decimals, 19)) return false;
    text.append(decimals - std::min(decimals, text.size()), '0');
    if (text.empty()) return true;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size();
}

result<work_condition> read_condition(std::string_view word) {
    constexpr std::string_view attribute = "attr:";
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const bool is_attribute = key.starts_with(attribute) && key.size() > attribute.size();
    if (equals == word.npos || (key != "name" && !is_attribute))
        return failure{fmt::format("\"{}\" is no condition such as name=db.* or attr:tenant=7",
                                   printable(word))};
    return work_condition{is_attribute ? std::string(key.substr(attribute.size())) : std::string(),
                          std::string(word.substr(equals + 1))};
}

}  // namespace

result<std::int64_t> read_part_time(std::string_view text) {
    const auto unit = std::ranges::find_if(
        part_units, [&](const part_unit& each) { return text.ends_with(each.name); });
    if (unit == part_units.end()) return wrong_time(text);
    const std::string_view number = text.substr(0, text.size() - unit->name.size());
    const std::size_t point = std::min(number.find('.'), number.size());
    const std::string_view fraction = number.substr(std::min(point + 1, number.size()));
    std::int64_t whole = 0, part_ns = 0;
    if (point == 0 || (point < number.size() && fraction.empty()) ||
        fraction.size() > unit->decimals ||
        !read_digits(std::string(number.substr(0, point)), 0, whole) ||
        !read_digits(std::string(fraction), unit->decimals, part_ns))
        return wrong_time(text);
    std::int64_t ns = 0;
    if (__builtin_mul_overflow(whole, unit->ns, &ns) || __builtin_add_overflow(ns, part_ns, &ns))
        return wrong_time(text);
    return ns;
}

result<std::vector<work_condition>> read_work_conditions(std::string_view text) {
    std::vector<work_condition> found;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) continue;
        // The names of requests have spaces: "name=GET /item".
        if (!found.empty() && word.find('=') == word.npos) {
            found.back().pattern.append(" ").append(word);
            continue;
        }
        auto condition = read_condition(word);
        if (!condition) return condition.error();
        found.push_back(std::move(*condition));
    }
    if (found.empty()) return failure{"no condition such as name=db.* or attr:tenant=7"};
    return found;
}

}  // namespace coroscope::analysis
