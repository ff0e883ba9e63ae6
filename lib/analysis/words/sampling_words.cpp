// SPDX-License-Identifier: Apache-2.0
#include "sampling_words.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace coroscope::analysis::inline words {
namespace {

constexpr double ppm_per_percent = 1e4;

std::string interval_words(const request_sampling& sampling) {
    std::string text = sampling.interval == 1 ? "all requests"
                                              : fmt::format("one of {} of each type on each thread",
                                                            sampling.interval);
    return sampling.changes == 0 ? text : text + " at the end";
}

std::string budget_words(const request_sampling& sampling) {
    std::string text = fmt::format("; budget {:.3g}%", sampling.budget_ppm / ppm_per_percent);
    if (sampling.cost_ppm == 0) return text + ", too little was recorded to measure the cost";
    text += fmt::format(", estimated cost {:.3g}% in the last period",
                        sampling.cost_ppm / ppm_per_percent);
    if (sampling.cost_ppm > sampling.budget_ppm) text += ": the budget was not kept";
    return text;
}

// Returns the intervals of the recorded changes, with the interval before the first one.
std::string change_words(const request_sampling& sampling) {
    std::string text = fmt::format("; the interval changed {} time{}", sampling.changes,
                                   sampling.changes == 1 ? "" : "s");
    constexpr std::size_t most = 12;
    const std::size_t count = std::min(sampling.changed.size(), most);
    for (std::size_t at = 0; at < count; ++at) {
        if (at == 0) text += fmt::format(": {}", sampling.changed[at].before);
        text += fmt::format(", {}", sampling.changed[at].interval);
    }
    return count < sampling.changed.size() ? text + ", ..." : text;
}

}  // namespace

std::string sampling_text(const trace& loaded) {
    const request_sampling& sampling = loaded.sampling;
    const auto left_out = static_cast<std::size_t>(
        std::ranges::count(loaded.requests, true, &request_info::left_out));
    std::string text =
        fmt::format("{} of {} requests in full; {}", loaded.requests.size() - left_out,
                    loaded.requests.size(), interval_words(sampling));
    if (sampling.budget_ppm != 0) text += budget_words(sampling);
    if (sampling.changes != 0) text += change_words(sampling);
    return text;
}

}  // namespace coroscope::analysis::inline words
