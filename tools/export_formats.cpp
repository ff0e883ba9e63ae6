// SPDX-License-Identifier: Apache-2.0
#include "export_formats.hpp"

#include <algorithm>
#include <functional>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/perfetto.hpp>
#include <coroscope/analysis/profile_exports.hpp>
#include <coroscope/analysis/span_exports.hpp>
#include <coroscope/analysis/table_exports.hpp>
#include <fmt/format.h>

#include "output.hpp"

namespace coroscope::tools {
namespace {

using analysis::byte_sink;
using analysis::event_list;
using analysis::written;

written scopes_of(const export_request& asked,
                  const analysis::result<analysis::chrome_totals>& totals) {
    if (!totals) return totals.error();
    if (totals->left_out != 0)
        report(fmt::format("{}: warning: {} spans overlap too much to be shown and were left out",
                           asked.file, totals->left_out));
    return totals->scopes;
}

written chrome_of_trace(const export_request& asked, const analysis::trace& loaded,
                        const byte_sink& sink) {
    return scopes_of(asked, analysis::export_chrome(loaded, sink));
}

written perfetto_of_trace(const export_request& asked, const analysis::trace& loaded,
                          const byte_sink& sink) {
    return scopes_of(asked, analysis::export_perfetto(loaded, sink));
}

written folded_of_trace(const export_request& asked, const analysis::trace& loaded,
                        const byte_sink& sink) {
    auto lines = analysis::export_folded_stacks(loaded, asked.of, sink);
    if (lines && *lines == 0)
        report(fmt::format("{}: warning: the trace has no such time", asked.file));
    return lines;
}

template <written (*Export)(const analysis::trace&, const byte_sink&)>
written by(const export_request&, const analysis::trace& loaded, const byte_sink& sink) {
    return Export(loaded, sink);
}

template <analysis::rows_form Form>
written table_of_trace(const export_request& asked, const analysis::trace& loaded,
                       const byte_sink& sink) {
    return analysis::export_table(loaded, asked.table, Form, sink, asked.csv_safe);
}

template <analysis::otlp_form Form>
written otlp_of_trace(const export_request&, const analysis::trace& loaded, const byte_sink& sink) {
    return analysis::export_otlp(loaded, Form, sink);
}

template <analysis::otlp_form Form>
written otlp_messages(const analysis::trace& loaded, const byte_sink& sink) {
    return analysis::export_otlp_requests(loaded, Form, sink);
}

constexpr std::string_view otlp_path = "/v1/traces";

written chrome_of_events(const export_request& asked, const event_list& events,
                         const byte_sink& sink) {
    if (events.left_out_events != 0)
        report(fmt::format("{}: warning: counters, marks and other events that are not intervals, "
                           "left out: {}",
                           asked.file, events.left_out_events));
    return analysis::export_chrome_trace(events, sink);
}

written stacks_of_events(const export_request& asked, const event_list& events,
                         const byte_sink& sink) {
    auto lines = analysis::export_stacks(events, asked.metric, sink);
    if (lines && *lines == 0)
        report(fmt::format(
            "{}: warning: no event has a stack and a microsecond of {}; record stacks by "
            "with_stack, or by coroscope run --record stacks",
            asked.file, asked.metric));
    return lines;
}

written memory_timeline_of_events(const export_request& asked, const event_list& events,
                                  const byte_sink& sink) {
    if (events.memory.empty())
        report(
            fmt::format("{}: warning: no memory was recorded; record it by profile_memory, or by "
                        "coroscope run --record memory",
                        asked.file));
    return analysis::export_memory_timeline(events, sink);
}

constexpr export_format known_formats[] = {
    {.name = "chrome",
     .help = "for Perfetto, DevTools and other viewers",
     .of_trace = chrome_of_trace,
     .of_events = chrome_of_events},
    {.name = "perfetto",
     .help = "a native trace in Perfetto's own format, a third as large",
     .of_trace = perfetto_of_trace,
     .program = "Perfetto"},
    {.name = "folded",
     .help = "for flame graphs: the stacks of tasks, with the time that --of names",
     .of_trace = folded_of_trace},
    {.name = "speedscope",
     .help = "for speedscope: the slowest requests, the threads, the sums of stacks",
     .of_trace = by<analysis::export_speedscope>},
    {.name = "pprof",
     .help = "for go tool pprof and others: the stacks of tasks with eight times",
     .of_trace = by<analysis::export_pprof>},
    {.name = "firefox",
     .help = "for the Firefox Profiler: the slowest requests and the threads",
     .of_trace = by<analysis::export_firefox>},
    {.name = "sqlite",
     .help = "a database of all tables, with views",
     .to_path = analysis::export_sqlite},
    {.name = "csv",
     .help = "a folder with a file per table, or the table that --table names",
     .of_trace = table_of_trace<analysis::rows_form::csv>,
     .has_tables = true},
    {.name = "ndjson",
     .help = "the same as JSON objects, one a line",
     .of_trace = table_of_trace<analysis::rows_form::ndjson>,
     .has_tables = true},
    {.name = "otlp",
     .help = "OpenTelemetry's spans of requests and tasks, as JSON",
     .of_trace = otlp_of_trace<analysis::otlp_form::json>,
     .posts = {otlp_messages<analysis::otlp_form::json>, "application/json", otlp_path}},
    {.name = "otlp-protobuf",
     .help = "the same as protobuf",
     .of_trace = otlp_of_trace<analysis::otlp_form::protobuf>,
     .posts = {otlp_messages<analysis::otlp_form::protobuf>, "application/x-protobuf", otlp_path}},
    {.name = "stacks",
     .help = "for flame graphs, as torch writes it",
     .of_events = stacks_of_events},
    {.name = "memory-timeline",
     .help = "the memory in use over time, as torch writes it",
     .of_events = memory_timeline_of_events},
    {.name = "execution-graph",
     .help = "the graph of operations, as torch writes it",
     .of_events =
         [](const export_request&, const event_list& events, const byte_sink& sink) {
             return analysis::export_execution_graph(events, sink);
         }},
};

}  // namespace

std::span<const export_format> export_formats() noexcept { return known_formats; }

const export_format& export_format_of(std::string_view name) noexcept {
    return *std::ranges::find(known_formats, name, &export_format::name);
}

}  // namespace coroscope::tools
