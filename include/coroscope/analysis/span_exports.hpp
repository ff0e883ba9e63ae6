// SPDX-License-Identifier: Apache-2.0
#pragma once

// Export of a native trace to OpenTelemetry's protocol (OTLP 1), as a span per request and a span
// per task.
//
// A request begins a trace, unless it is inside another request; then it is a child of that one. If
// it carries an attribute "traceparent" (W3C Trace Context), it has that trace and that parent. A
// task is a child of the innermost request that was open in its parent task when it was spawned,
// else of its parent task; a task without a parent begins a trace. Links lead to the task in which
// a request ran, to the task that spawned a task ("spawn"), and to the tasks that woke it ("wake").
//
// Ids follow from the session and the numbers of tasks and requests: two exports of a trace have
// equal ids. Times are real time. The parts of a span's time, its place in the source and the
// attributes that it carries are attributes of the span. Texts become valid UTF-8.
//
// The writer streams: it holds some hundred spans and, beside the loaded trace, a few dozen bytes
// per task and request. Thread-safe for different traces; a trace is only read.

#include <cstdint>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/model.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

enum class otlp_form : std::uint8_t { json, protobuf };

/// Writes one message TracesData. Returns the number of spans.
[[nodiscard]] COROSCOPE_API written export_otlp(const trace& from, otlp_form form,
                                                const byte_sink& sink);

/// The same in parts: each call of the sink gets a whole ExportTraceServiceRequest, as a collector
/// takes it by HTTP.
[[nodiscard]] COROSCOPE_API written export_otlp_requests(const trace& from, otlp_form form,
                                                         const byte_sink& sink);

}  // namespace coroscope::analysis
