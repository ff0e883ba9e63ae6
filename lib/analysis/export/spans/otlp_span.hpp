// SPDX-License-Identifier: Apache-2.0
#pragma once

// A span of OpenTelemetry, independent of the form in which it is written.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace coroscope::analysis::inline spans {

using otlp_trace_id = std::array<unsigned char, 16>;
using otlp_span_id = std::array<unsigned char, 8>;

struct otlp_context {
    otlp_trace_id trace{};
    otlp_span_id span{};
};

/// Texts are any bytes.
using otlp_value = std::variant<std::string, std::int64_t, bool>;
using otlp_attributes = std::vector<std::pair<std::string, otlp_value>>;

struct otlp_link {
    otlp_context to;
    std::string_view kind;  ///< "spawn", "wake", "task"
    std::int64_t count = 1;
};

/// As OTLP numbers it.
enum class otlp_kind : std::uint8_t { internal = 1, server = 2 };

struct otlp_span {
    otlp_context own;
    otlp_span_id parent{};  ///< zero: the span begins its trace
    std::string name;       ///< any bytes
    otlp_kind kind = otlp_kind::internal;
    std::uint64_t start_unix_ns = 0;
    std::uint64_t end_unix_ns = 0;
    otlp_attributes attributes;
    std::vector<otlp_link> links;
    std::uint32_t dropped_links = 0;
    std::string_view error;  ///< why it is not successful; empty: nothing is known to be wrong
};

/// A span has at most this number of links, as OpenTelemetry's limit is by default.
inline constexpr std::size_t most_otlp_links = 128;

[[nodiscard]] inline bool is_zero(const otlp_span_id& id) { return id == otlp_span_id{}; }

}  // namespace coroscope::analysis::inline spans
