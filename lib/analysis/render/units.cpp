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
