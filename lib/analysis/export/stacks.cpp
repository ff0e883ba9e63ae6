// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "file_sink.hpp"

namespace coroscope::analysis {
namespace {

using metric_function = std::int64_t (function_event::*)() const;

metric_function metric_of(std::string_view name) {
    if (name == "self_cpu_time_total") return &function_event::self_cpu_time_total_ns;
    if (name == "self_device_time_total" || name == "self_cuda_time_total")
        return &function_event::self_device_time_total_ns;
    return nullptr;
}

std::string frame_text(std::string_view frame) {
    std::string text(frame);
    std::replace_if(
        text.begin(), text.end(),
        [](char each) { return each == ' ' || each == ';' || each == '\t' || each == '\r'; }, '_');
    return printable(text);
}

/// Frames are innermost first in the list, and outermost first in the file.
std::string folded(std::string_view stack) {
    std::string line;
    while (!stack.empty()) {
        const std::size_t cut = stack.rfind('\n');
        const std::size_t first = cut == std::string_view::npos ? 0 : cut + 1;
        if (first < stack.size()) {
            if (!line.empty()) line += ';';
            line += frame_text(stack.substr(first));
        }
        stack = stack.substr(0, first == 0 ? 0 : cut);
    }
    return line;
}

}  // namespace

std::string_view stack_metrics() noexcept { return "self_cpu_time_total, self_device_time_total"; }

written export_stacks(const event_list& events, std::string_view metric, const byte_sink& sink) {
    constexpr std::int64_t microsecond = 1000;
    const metric_function figure = metric_of(metric);
    if (figure == nullptr) {
        return failure{
            fmt::format("no stacks by \"{}\"; one of {}", printable(metric), stack_metrics())};
    }
    std::string text;
    std::uint64_t lines = 0;
    for (const function_event each : events) {
        const std::int64_t whole = (each.*figure)() / microsecond;
        const std::string stack = each.stack().empty() ? std::string() : folded(each.stack());
        if (stack.empty() || whole <= 0) continue;
        fmt::format_to(std::back_inserter(text), "{} {}\n", stack, whole);
        ++lines;
    }
    return deliver(sink, text, lines);
}

written export_stacks(const event_list& events, std::string_view metric, const std::string& path) {
    return to_file(path,
                   [&](const byte_sink& sink) { return export_stacks(events, metric, sink); });
}

}  // namespace coroscope::analysis
