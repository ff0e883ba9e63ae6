// SPDX-License-Identifier: Apache-2.0
#include "otlp_writer.hpp"

#include <array>
#include <cstddef>

#include <protozero/pbf_writer.hpp>

#include "../../text/utf8.hpp"

namespace coroscope::analysis::inline spans {
namespace {

// The messages of opentelemetry-proto, as the numbers of their fields.
namespace otlp {
enum traces_data : protozero::pbf_tag_type { resource_spans = 1 };
enum resource_spans_fields : protozero::pbf_tag_type { resource = 1, scope_spans = 2 };
enum resource_fields : protozero::pbf_tag_type { resource_attributes = 1 };
enum scope_spans_fields : protozero::pbf_tag_type { scope = 1, span = 2 };
enum scope_fields : protozero::pbf_tag_type { scope_name = 1 };
enum span_fields : protozero::pbf_tag_type {
    trace_id = 1,
    span_id = 2,
    parent_span_id = 4,
    name = 5,
    kind = 6,
    start_time = 7,
    end_time = 8,
    attributes = 9,
    links = 13,
    dropped_links = 14,
    status = 15,
};
enum link_fields : protozero::pbf_tag_type { link_trace = 1, link_span = 2, link_attributes = 4 };
enum status_fields : protozero::pbf_tag_type { message = 2, code = 3 };
enum key_value : protozero::pbf_tag_type { key = 1, value = 2 };
enum any_value : protozero::pbf_tag_type { string_value = 1, bool_value = 2, int_value = 3 };
constexpr std::int32_t error_code = 2;
}  // namespace otlp

template <std::size_t Bytes>
void add_id(protozero::pbf_writer& to, protozero::pbf_tag_type field,
            const std::array<unsigned char, Bytes>& id) {
    to.add_bytes(field, reinterpret_cast<const char*>(id.data()), id.size());
}

void add_attributes(protozero::pbf_writer& to, protozero::pbf_tag_type field,
                    const otlp_attributes& attributes) {
    for (const auto& [key, value] : attributes) {
        protozero::pbf_writer pair(to, field);
        pair.add_string(otlp::key, well_formed(key));
        protozero::pbf_writer any(pair, otlp::value);
        if (const auto* text = std::get_if<std::string>(&value))
            any.add_string(otlp::string_value, well_formed(*text));
        else if (const auto* number = std::get_if<std::int64_t>(&value))
            any.add_int64(otlp::int_value, *number);
        else
            any.add_bool(otlp::bool_value, std::get<bool>(value));
    }
}

void add_link(protozero::pbf_writer& to, const otlp_link& link) {
    protozero::pbf_writer added(to, otlp::links);
    add_id(added, otlp::link_trace, link.to.trace);
    add_id(added, otlp::link_span, link.to.span);
    add_attributes(added, otlp::link_attributes,
                   {{"coroscope.link", std::string(link.kind)}, {"coroscope.count", link.count}});
}

}  // namespace

otlp_protobuf_writer::otlp_protobuf_writer(const trace& from) {
    protozero::pbf_writer resource(resource_);
    add_attributes(resource, otlp::resource_attributes, resource_of(from));
    protozero::pbf_writer spans(head_);
    protozero::pbf_writer(spans, otlp::scope)
        .add_string(otlp::scope_name, std::string(otlp_scope_name));
    spans_ = head_;
}

void otlp_protobuf_writer::add(const otlp_span& span) {
    protozero::pbf_writer spans(spans_);
    protozero::pbf_writer added(spans, otlp::span);
    add_id(added, otlp::trace_id, span.own.trace);
    add_id(added, otlp::span_id, span.own.span);
    if (!is_zero(span.parent)) add_id(added, otlp::parent_span_id, span.parent);
    added.add_string(otlp::name, well_formed(span.name));
    added.add_enum(otlp::kind, static_cast<std::int32_t>(span.kind));
    added.add_fixed64(otlp::start_time, span.start_unix_ns);
    added.add_fixed64(otlp::end_time, span.end_unix_ns);
    add_attributes(added, otlp::attributes, span.attributes);
    for (const otlp_link& each : span.links) add_link(added, each);
    if (span.dropped_links != 0) added.add_uint32(otlp::dropped_links, span.dropped_links);
    if (span.error.empty()) return;
    protozero::pbf_writer status(added, otlp::status);
    status.add_string(otlp::message, std::string(span.error));
    status.add_enum(otlp::code, otlp::error_code);
}

std::string otlp_protobuf_writer::take() {
    std::string taken;
    {
        protozero::pbf_writer data(taken);
        protozero::pbf_writer spans(data, otlp::resource_spans);
        spans.add_message(otlp::resource, resource_);
        spans.add_message(otlp::scope_spans, spans_);
    }
    spans_ = head_;
    return taken;
}

}  // namespace coroscope::analysis::inline spans
