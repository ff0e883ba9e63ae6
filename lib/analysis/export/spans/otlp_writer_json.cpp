// SPDX-License-Identifier: Apache-2.0
#include "otlp_writer.hpp"

#include <iterator>
#include <span>

#include <fmt/format.h>

#include "../../text/utf8.hpp"

namespace coroscope::analysis::inline spans {
namespace {

void append_hex(std::string& out, std::span<const unsigned char> id) {
    for (const unsigned char each : id) fmt::format_to(std::back_inserter(out), "{:02x}", each);
}

void append_context(std::string& out, const otlp_context& context) {
    out += "\"traceId\":\"";
    append_hex(out, context.trace);
    out += "\",\"spanId\":\"";
    append_hex(out, context.span);
    out += '"';
}

void append_value(std::string& out, const otlp_value& value) {
    if (const auto* text = std::get_if<std::string>(&value)) {
        out += "{\"stringValue\":";
        append_json_string(out, *text);
    } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
        fmt::format_to(std::back_inserter(out), "{{\"intValue\":\"{}\"", *number);
    } else {
        out += std::get<bool>(value) ? "{\"boolValue\":true" : "{\"boolValue\":false";
    }
    out += '}';
}

void append_attributes(std::string& out, const otlp_attributes& attributes) {
    out += "\"attributes\":[";
    bool is_first = true;
    for (const auto& [key, value] : attributes) {
        out += is_first ? "{\"key\":" : ",{\"key\":";
        is_first = false;
        append_json_string(out, key);
        out += ",\"value\":";
        append_value(out, value);
        out += '}';
    }
    out += ']';
}

void append_links(std::string& out, const otlp_span& span) {
    out += ",\"links\":[";
    bool is_first = true;
    for (const otlp_link& each : span.links) {
        out += is_first ? "{" : ",{";
        is_first = false;
        append_context(out, each.to);
        out += ',';
        append_attributes(
            out, {{"coroscope.link", std::string(each.kind)}, {"coroscope.count", each.count}});
        out += '}';
    }
    out += ']';
    if (span.dropped_links != 0)
        fmt::format_to(std::back_inserter(out), ",\"droppedLinksCount\":{}", span.dropped_links);
}

}  // namespace

otlp_json_writer::otlp_json_writer(const trace& from) : head_("{\"resource\":{") {
    append_attributes(head_, resource_of(from));
    head_ += "},\"scopeSpans\":[{\"scope\":{\"name\":";
    append_json_string(head_, otlp_scope_name);
    head_ += "},\"spans\":[";
}

void otlp_json_writer::add(const otlp_span& span) {
    text_ += text_.empty() ? "\n{" : ",\n{";
    append_context(text_, span.own);
    if (!is_zero(span.parent)) {
        text_ += ",\"parentSpanId\":\"";
        append_hex(text_, span.parent);
        text_ += '"';
    }
    text_ += ",\"name\":";
    append_json_string(text_, span.name);
    fmt::format_to(std::back_inserter(text_),
                   ",\"kind\":{},\"startTimeUnixNano\":\"{}\",\"endTimeUnixNano\":\"{}\",",
                   static_cast<int>(span.kind), span.start_unix_ns, span.end_unix_ns);
    append_attributes(text_, span.attributes);
    if (!span.links.empty()) append_links(text_, span);
    if (!span.error.empty()) {
        text_ += ",\"status\":{\"code\":2,\"message\":";
        append_json_string(text_, span.error);
        text_ += '}';
    }
    text_ += '}';
}

std::string otlp_json_writer::take() {
    std::string taken = head_ + text_ + "]}]}";
    text_.clear();
    return taken;
}

}  // namespace coroscope::analysis::inline spans
