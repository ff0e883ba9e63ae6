// SPDX-License-Identifier: Apache-2.0
#pragma once

// The two forms of OTLP: JSON, and the protobuf messages of opentelemetry-proto.

#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/model.hpp>

#include "otlp_span.hpp"

namespace coroscope::analysis::inline spans {

/// Joins spans into messages ResourceSpans of one process.
class otlp_writer {
public:
    virtual ~otlp_writer() = default;
    virtual void add(const otlp_span& span) = 0;
    /// Takes the spans so far as one ResourceSpans, and begins the next one.
    [[nodiscard]] virtual std::string take() = 0;
    /// The bytes before, between and after the ResourceSpans of one message.
    struct frame {
        std::string_view before, between, after;
    };
    [[nodiscard]] virtual frame around() const noexcept = 0;
};

class otlp_json_writer final : public otlp_writer {
public:
    explicit otlp_json_writer(const trace& from);
    void add(const otlp_span& span) override;
    [[nodiscard]] std::string take() override;
    [[nodiscard]] frame around() const noexcept override {
        return {"{\"resourceSpans\":[", ",\n", "]}\n"};
    }

private:
    std::string head_;  // up to the first span
    std::string text_;
};

class otlp_protobuf_writer final : public otlp_writer {
public:
    explicit otlp_protobuf_writer(const trace& from);
    void add(const otlp_span& span) override;
    [[nodiscard]] std::string take() override;
    [[nodiscard]] frame around() const noexcept override { return {}; }

private:
    std::string resource_;
    std::string head_;   // the message ScopeSpans up to the first span
    std::string spans_;  // the same and the spans
};

/// The attributes of the process.
[[nodiscard]] otlp_attributes resource_of(const trace& from);

inline constexpr std::string_view otlp_scope_name = "coroscope";

}  // namespace coroscope::analysis::inline spans
