// SPDX-License-Identifier: Apache-2.0

// The profiler's example of torch's documentation, in C++: y = x ** 2, backwards, a hundred times.
//
//     autograd                        prints the table
//     autograd --rounds 1000          of more rounds
//     autograd --elements 1000        of y = sum(x · x ** 2) over a vector
//     autograd --trace FILE.json      and writes the run for a trace viewer, with an arrow from
//                                     each operation to its backward

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/table.hpp>
#include <coroscope/profile.hpp>

#include "engine.hpp"
#include "operations.hpp"

namespace {

struct options {
    int rounds = 100;
    int elements = 0;  // 0: the documentation's y = x ** 2
    std::string trace;
};

bool parse_count(std::string_view text, int& count) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    return error == std::errc() && end == text.data() + text.size() && count >= 1;
}

std::optional<options> parse(int count, char** arguments) {
    options chosen;
    for (int at = 1; at < count; at += 2) {
        const std::string_view name = arguments[at];
        if (at + 1 == count) return std::nullopt;
        const std::string_view value = arguments[at + 1];
        if (name == "--trace") {
            chosen.trace = value;
        } else if (!(name == "--rounds" && parse_count(value, chosen.rounds)) &&
                   !(name == "--elements" && parse_count(value, chosen.elements))) {
            return std::nullopt;
        }
    }
    return chosen;
}

// Gradients add up over the rounds: that of x² is 2x, that of x³ 3x².
bool run(const options& chosen) {
    const bool is_vector = chosen.elements > 0;
    const auto size = static_cast<std::size_t>(is_vector ? chosen.elements : 1);
    constexpr double start = 1.5;
    autograd::engine engine;
    const autograd::tensor x(autograd::values(size, start), true);
    for (int round = 0; round < chosen.rounds; ++round) {
        const autograd::tensor square = autograd::pow(x, 2);
        engine.backward(is_vector ? autograd::sum(autograd::mul(x, square)) : square);
    }
    const double slope = is_vector ? 3 * start * start : 2 * start;
    return std::all_of(x.gradient().begin(), x.gradient().end(), [&](double each) {
        return std::abs(each - slope * chosen.rounds) < 1e-6 * chosen.rounds;
    });
}

int fail(std::string_view message) {
    std::fprintf(stderr, "autograd: %.*s\n", static_cast<int>(message.size()), message.data());
    return 1;
}

int profile_and_print(const options& chosen) {
    coroscope::profile session({.all_threads = true});
    const bool right = run(chosen);
    auto loaded = coroscope::analysis::load(session.stop());
    if (!right) return fail("the gradient is wrong");
    if (!loaded) return fail(loaded.error().message);
    const auto events = coroscope::analysis::events_of(*loaded);
    const auto table = coroscope::analysis::table(coroscope::analysis::table_of(events),
                                                  {.sort_by = "self_cpu_time_total"});
    if (!table) return fail(table.error().message);
    std::fputs(table->c_str(), stdout);
    if (chosen.trace.empty()) return 0;
    const auto written = coroscope::analysis::export_chrome_trace(events, chosen.trace);
    return written ? 0 : fail(written.error().message);
}

}  // namespace

int main(int count, char** arguments) {
    const std::optional<options> chosen = parse(count, arguments);
    if (!chosen) {
        std::fputs("autograd: usage: autograd [--rounds N] [--elements N] [--trace FILE.json]\n",
                   stderr);
        return 2;
    }
    try {
        return profile_and_print(*chosen);
    } catch (const std::exception& error) {
        return fail(error.what());
    }
}
