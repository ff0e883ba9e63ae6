// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ids of spans, in the form of W3C Trace Context: 16 bytes for a trace, 8 for a span, not zero.

#include <optional>
#include <string_view>

#include <coroscope/analysis/model.hpp>

#include "otlp_span.hpp"

namespace coroscope::analysis::inline spans {

class otlp_ids {
public:
    explicit otlp_ids(const trace& from);

    enum class of : std::uint8_t { request = 1, task = 2 };

    // The ids of a request or a task, by its number.
    [[nodiscard]] otlp_trace_id trace_of(of kind, std::uint64_t number) const;
    [[nodiscard]] otlp_span_id span_of(of kind, std::uint64_t number) const;

private:
    std::uint64_t session_;
};

/// Reads "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"; nothing if the text is not in
/// that form or an id is zero.
[[nodiscard]] std::optional<otlp_context> read_traceparent(std::string_view text);

}  // namespace coroscope::analysis::inline spans
