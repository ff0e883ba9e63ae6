// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/units.hpp>

#include <cmath>

#include <fmt/format.h>

namespace coroscope::analysis {
namespace {

struct scale {
    double divisor;
    const char* suffix;
};

constexpr scale seconds{1e9, "s"};
constexpr scale milliseconds{1e6, "ms"};
constexpr scale microseconds{1e3, "us"};

scale scale_of(std::int64_t nanoseconds, time_unit unit) {
    switch (unit) {
        case time_unit::seconds: return seconds;
        case time_unit::milliseconds: return milliseconds;
        case time_unit::microseconds: return microseconds;
        case time_unit::automatic: break;
    }
    if (nanoseconds >= 1'000'000'000) return seconds;
    return nanoseconds >= 1'000'000 ? milliseconds : microseconds;
}

}  // namespace

std::string format_time(std::int64_t nanoseconds, time_unit unit) {
    const scale by = scale_of(nanoseconds, unit);
    return fmt::format("{:.3f}{}", static_cast<double>(nanoseconds) / by.divisor, by.suffix);
}

std::string format_short_time(std::int64_t nanoseconds, time_unit unit) {
    if (nanoseconds == 0) return "0";
    const double magnitude = std::abs(static_cast<double>(nanoseconds));
    if (unit == time_unit::automatic && magnitude < microseconds.divisor)
        return fmt::format("{}ns", nanoseconds);
    // 999.6 ms is 1.00 s: the unit follows the rounded figure
    constexpr double rounded = 0.9995;
    scale by = scale_of(nanoseconds, unit);
    if (unit == time_unit::automatic)
        for (const scale& larger : {milliseconds, seconds})
            if (magnitude >= rounded * larger.divisor) by = larger;
    const double amount = magnitude / by.divisor;
    const int decimals = amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f}{}", static_cast<double>(nanoseconds) / by.divisor, decimals,
                       by.suffix);
}

std::string format_number(double number) {
    constexpr double exact = 9007199254740992;  // 2^53
    if (std::trunc(number) == number && std::abs(number) < exact)
        return fmt::format("{:.0f}", number);
    const double magnitude = std::abs(number);
    if (magnitude >= 1000 && magnitude < exact) return fmt::format("{:.0f}", number);
    return fmt::format("{:.4g}", number);
}

std::string format_percent(std::int64_t part, std::int64_t whole) {
    if (whole == 0) return "NaN";
    return fmt::format("{:.2f}%", static_cast<double>(part) * 100.0 / static_cast<double>(whole));
}

std::string format_bytes(std::int64_t bytes) {
    const double amount = static_cast<double>(bytes);
    const double magnitude = std::abs(amount);
    constexpr double kilo = 1024.0;
    if (magnitude >= kilo * kilo * kilo)
        return fmt::format("{:.2f} GB", amount / (kilo * kilo * kilo));
    if (magnitude >= kilo * kilo) return fmt::format("{:.2f} MB", amount / (kilo * kilo));
    if (magnitude >= kilo) return fmt::format("{:.2f} KB", amount / kilo);
    return fmt::format("{} B", bytes);
}

std::string format_span(std::int64_t nanoseconds, std::int64_t scale_ns) {
    const double amount = static_cast<double>(nanoseconds);
    const double magnitude = std::abs(static_cast<double>(scale_ns));
    if (magnitude >= 1e9) return fmt::format("{:.1f} s", amount / 1e9);
    if (magnitude >= 1e6) return fmt::format("{:.1f} ms", amount / 1e6);
    if (magnitude >= 1e3) return fmt::format("{:.1f} us", amount / 1e3);
    return fmt::format("{} ns", nanoseconds);
}

}  // namespace coroscope::analysis
