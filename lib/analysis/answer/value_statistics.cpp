// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/value_statistics.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "../words/places.hpp"

namespace coroscope::analysis {
namespace {

// Returns the mean by Neumaier's compensated summation, in a type whose range no sum of doubles
// exceeds. `sorted` must not be empty.
double mean_of(const std::vector<double>& sorted) {
    static_assert(std::numeric_limits<long double>::max_exponent > 1024 + 64);
    if (std::isinf(sorted.front()) || std::isinf(sorted.back()))
        return sorted.front() + sorted.back();
    long double sum = 0;
    long double lost = 0;
    for (const double each : sorted) {
        const long double next = sum + each;
        lost += std::abs(sum) >= std::abs(each) ? (sum - next) + each : (each - next) + sum;
        sum = next;
    }
    const auto mean = static_cast<double>((sum + lost) / static_cast<long double>(sorted.size()));
    return std::clamp(mean, sorted.front(), sorted.back());
}

value_statistics summed(std::vector<double>& numbers) {
    value_statistics sums;
    sums.count = numbers.size();
    std::erase_if(numbers, [](double each) { return std::isnan(each); });
    sums.not_numbers = sums.count - numbers.size();
    if (numbers.empty()) return sums;
    std::ranges::sort(numbers);
    const std::size_t count = numbers.size();
    sums.mean = mean_of(numbers);
    sums.least = numbers.front();
    sums.p99 = numbers[(count * 99 + 99) / 100 - 1];
    sums.most = numbers.back();
    return sums;
}

/// Returns the number that a text consists of; NaN if it is not a finite number.
double number_in(std::string_view text) {
    double number = 0;
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    const auto [last, error] = std::from_chars(begin, end, number);
    const bool whole = error == std::errc() && last == end && std::isfinite(number);
    return whole ? number : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<value_statistics> statistics_of_attributes(const trace& loaded) {
    std::map<std::string_view, std::vector<double>> keys;
    for (const attribute_info& each : loaded.attributes) {
        if (each.unknown || each.key >= loaded.strings.size() ||
            each.value >= loaded.strings.size())
            continue;
        keys[loaded.strings[each.key]].push_back(number_in(loaded.strings[each.value]));
    }
    std::vector<value_statistics> found;
    for (auto& [key, numbers] : keys) {
        value_statistics sums = summed(numbers);
        if (sums.not_numbers == sums.count) continue;
        sums.label = key;
        found.push_back(std::move(sums));
    }
    return found;
}

std::vector<value_statistics> statistics_of_values(const trace& loaded) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> places;
    for (const value_info& each : loaded.values) {
        const std::uint32_t scope =
            each.scope < loaded.events.size() ? loaded.events[each.scope].name : none;
        places[{each.site, scope}].push_back(each.number);
    }
    std::vector<value_statistics> found;
    for (auto& [place, numbers] : places) {
        value_statistics& sums = found.emplace_back(summed(numbers));
        std::tie(sums.site, sums.scope) = place;
        sums.label = site_name(loaded, sums.site);
    }
    std::ranges::stable_sort(found, [](const value_statistics& one, const value_statistics& other) {
        return std::tie(one.label, other.count) < std::tie(other.label, one.count);
    });
    return found;
}

}  // namespace coroscope::analysis
