// SPDX-License-Identifier: Apache-2.0
#include "target.hpp"

#include <cstdio>
#include <cstdlib>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/table.hpp>

// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    coroscope_fuzz::feed({reinterpret_cast<const char*>(data), size});
    return 0;
}

namespace coroscope_fuzz {

namespace analysis = coroscope::analysis;

void check_failure(const std::string& message) {
    if (!message.empty() && message.find('\n') == std::string::npos) return;
    std::fprintf(stderr, "a failure of %zu bytes that is no line: \"%s\"\n", message.size(),
                 message.c_str());
    std::abort();
}

void ask_all(const analysis::event_list& events) {
    using selection = analysis::event_selection;
    for (const selection select : {selection::all, selection::cpu, selection::device}) {
        const analysis::grouping by{.by_input_shape = true, .stack_frames = 2, .select = select};
        const auto input = analysis::table_of(events, by);
        if (!analysis::table(input) || !analysis::table_csv(input) || !analysis::table_json(input))
            std::abort();
    }
    const analysis::byte_sink sink = nowhere{};
    if (!analysis::export_chrome_trace(events, sink)) std::abort();
    if (!analysis::export_stacks(events, "self_cpu_time_total", sink)) std::abort();
    if (!analysis::export_memory_timeline(events, sink)) std::abort();
    if (!analysis::export_execution_graph(events, sink)) std::abort();
}

}  // namespace coroscope_fuzz
