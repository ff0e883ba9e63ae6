// SPDX-License-Identifier: Apache-2.0

// The export to OpenTelemetry's protocol, read back in both forms.

#include <coroscope/analysis/span_exports.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/trace/request_format.hpp>
#include <doctest/doctest.h>
#include <protozero/pbf_reader.hpp>

#include "../../support/json.hpp"
#include "../export_traces.hpp"

namespace {

using namespace coroscope;
using analysis::otlp_form;
using coroscope_tests::bytes_of;
using coroscope_tests::hostile_trace;
using coroscope_tests::json;

struct read_span {
    std::string trace, id, parent, name;
    std::int64_t start = 0, end = 0;
    std::vector<std::pair<std::string, std::string>> links;  ///< kind and id
    std::map<std::string, std::string> attributes;
};

std::string value_text(const json& value) {
    for (const auto& [kind, each] : value.members)
        return kind == "boolValue" ? (each.boolean ? "true" : "false") : each.text;
    return {};
}

std::map<std::string, std::string> attributes_of(const json& from) {
    std::map<std::string, std::string> read;
    for (const json& each : from["attributes"].elements)
        read[each["key"].text] = value_text(each["value"]);
    return read;
}

/// The spans by name and number: "task 2", "request 1".
std::map<std::string, read_span> spans_of(const analysis::trace& from) {
    std::map<std::string, read_span> spans;
    const json document = coroscope_tests::json_parser(bytes_of([&](const auto& sink) {
                              return analysis::export_otlp(from, otlp_form::json, sink);
                          })).document();
    for (const json& resource : document["resourceSpans"].elements) {
        for (const json& each : resource["scopeSpans"][0]["spans"].elements) {
            read_span span{each["traceId"].text,
                           each["spanId"].text,
                           "",
                           each["name"].text,
                           std::stoll(each["startTimeUnixNano"].text),
                           std::stoll(each["endTimeUnixNano"].text),
                           {},
                           attributes_of(each)};
            if (each.has("parentSpanId")) span.parent = each["parentSpanId"].text;
            if (each.has("links"))
                for (const json& link : each["links"].elements)
                    span.links.emplace_back(attributes_of(link).at("coroscope.link"),
                                            link["spanId"].text);
            const bool is_request = span.attributes.contains("coroscope.request");
            const std::string kind = is_request ? "request" : "task";
            spans[kind + " " + span.attributes.at("coroscope." + kind)] = span;
        }
    }
    return spans;
}

/// A request of task 1 carries a traceparent or none. In it task 1 spawns and awaits task 2; after
/// it, task 1 spawns task 3.
analysis::trace requests_trace() {
    test::trace_builder built;
    const auto session = built.site("session", "a.cpp", 1, trace::site_kind::coroutine);
    const auto load = built.site("load", "a.cpp", 2, trace::site_kind::coroutine);
    const auto fetch = built.site("fetch", "a.cpp", 3, trace::site_kind::await);
    const auto get = built.site("GET", "a.cpp", 4, trace::site_kind::request);
    auto thread = built.on(1);
    thread.spawn(0, 1, session, trace::spawn_started);
    thread.spawn(110, 2, load, 0, 1).transfer(120, 1, 2, fetch).finish_transfer(180, 2, 1);
    thread.long_scope(get, 100, 200, trace::scope_in_frame | trace::scope_exact, 1, 1);
    thread.raw(test::ticks_of(100),
               trace::make_tag(trace::record_kind::fact,
                               trace::make_request_id(trace::request_form::scope, 0),
                               sizeof(trace::request_body)),
               {trace::make_mark(1, 1), 0, get, 0});
    thread.spawn(300, 3, load, trace::spawn_started, 1).finish(310, 3).finish(400, 1);
    return coroscope_tests::loaded(built.lasts(1000));
}

TEST_SUITE("spans") {
    TEST_CASE("there is a span for each request and each task, with its time") {
        const analysis::trace from = coroscope_tests::trace_of_facts();
        const auto spans = spans_of(from);
        const auto requests = analysis::requests_of(from).requests;
        std::size_t tasks = 0;
        for (const analysis::task_info& each : from.tasks) {
            const auto found = spans.find("task " + std::to_string(each.id));
            if (found == spans.end()) continue;
            ++tasks;
            CHECK(found->second.end - from.start_realtime_ns ==
                  each.end_ns.value_or(from.duration_ns));
            CHECK(found->second.attributes.at("coroscope.running_ns") ==
                  std::to_string(each.time.running_ns));
        }
        CHECK(spans.size() == requests.size() + tasks);
        for (const analysis::request_info& each : requests) {
            const read_span& span = spans.at("request " + std::to_string(each.id));
            CHECK(span.end - span.start == each.wall_ns());
        }
    }

    TEST_CASE("a task that a request spawned is a child of the request, in its trace") {
        const auto spans = spans_of(requests_trace());
        const read_span& request = spans.at("request 1");
        const read_span& child = spans.at("task 2");
        CHECK(request.parent.empty());
        CHECK(child.parent == request.id);
        CHECK(child.trace == request.trace);
        CHECK(spans.at("task 1").trace != request.trace);
    }

    TEST_CASE("a task that was spawned outside requests is a child of its parent task") {
        const auto spans = spans_of(requests_trace());
        CHECK(spans.at("task 1").parent.empty());
        CHECK(spans.at("task 3").parent == spans.at("task 1").id);
        CHECK(spans.at("task 3").trace == spans.at("task 1").trace);
    }

    TEST_CASE("links lead to the spawning task, the waking task and the task of a request") {
        const auto spans = spans_of(requests_trace());
        const std::string session = spans.at("task 1").id, load = spans.at("task 2").id;
        using links = std::vector<std::pair<std::string, std::string>>;
        CHECK(spans.at("request 1").links == links{{"task", session}});
        CHECK(spans.at("task 2").links.front() == std::pair{std::string("spawn"), session});
        // Task 3 ran on top of task 1, which went on at its end.
        CHECK(spans.at("task 1").links == links{{"wake", load}, {"wake", spans.at("task 3").id}});
    }

    TEST_CASE("a request with a traceparent has that trace and that parent") {
        analysis::trace from = requests_trace();
        from.strings.emplace_back("traceparent");
        from.strings.emplace_back("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        analysis::attribute_info carried;
        carried.key = static_cast<std::uint32_t>(from.strings.size() - 2);
        carried.value = carried.key + 1;
        from.attributes = {carried};
        for (analysis::event& each : from.events) each.attribute = 0;
        const auto spans = spans_of(from);
        CHECK(spans.at("request 1").trace == "0af7651916cd43dd8448eb211c80319c");
        CHECK(spans.at("request 1").parent == "b7ad6b7169203331");
        CHECK(spans.at("task 2").trace == spans.at("request 1").trace);
        from.strings.back() = "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01";
        CHECK(spans_of(from).at("request 1").parent.empty());
    }

    TEST_CASE("ids have the form of W3C Trace Context, differ, and are equal in each export") {
        const analysis::trace from = requests_trace();
        const auto spans = spans_of(from), again = spans_of(from);
        std::set<std::string> ids;
        for (const auto& [name, span] : spans) {
            CHECK(span.trace.size() == 32);
            CHECK(span.id.size() == 16);
            CHECK(span.trace.find_first_not_of("0123456789abcdef") == std::string::npos);
            CHECK(span.id != "0000000000000000");
            ids.insert(span.id);
            CHECK(again.at(name).id == span.id);
        }
        CHECK(ids.size() == spans.size());
    }

    TEST_CASE("the protobuf form has the spans of the JSON form") {
        for (const analysis::trace& from : {requests_trace(), hostile_trace()}) {
            std::uint64_t count = 0;
            const std::string bytes = bytes_of(
                [&](const auto& sink) {
                    return analysis::export_otlp(from, otlp_form::protobuf, sink);
                },
                &count);
            std::set<std::string> ids;
            protozero::pbf_reader data(bytes);
            while (data.next(1)) {
                protozero::pbf_reader resource = data.get_message();
                REQUIRE(resource.next(2));
                protozero::pbf_reader scope = resource.get_message();
                while (scope.next(2)) {
                    protozero::pbf_reader span = scope.get_message();
                    REQUIRE(span.next(2));
                    std::string id;
                    for (const unsigned char each : span.get_string()) {
                        constexpr const char* digits = "0123456789abcdef";
                        id += digits[each >> 4];
                        id += digits[each & 15];
                    }
                    ids.insert(id);
                }
            }
            CHECK(ids.size() == count);
            const auto spans = spans_of(from);
            CHECK(spans.size() == count);
            for (const auto& [name, span] : spans) CHECK(ids.contains(span.id));
        }
    }

    TEST_CASE("each message for a collector is whole") {
        std::uint64_t messages = 0, spans = 0;
        const auto done = analysis::export_otlp_requests(
            requests_trace(), otlp_form::json, [&](std::string_view part) {
                const json message = coroscope_tests::json_parser(part).document();
                spans += message["resourceSpans"][0]["scopeSpans"][0]["spans"].elements.size();
                ++messages;
                return true;
            });
        REQUIRE(done.has_value());
        CHECK(messages == 1);
        CHECK(spans == *done);
    }

    TEST_CASE("an export of spans fails if its sink fails") {
        const analysis::trace from = requests_trace();
        for (const otlp_form form : {otlp_form::json, otlp_form::protobuf})
            CHECK(coroscope_tests::fails_with_its_sink(
                [&](const auto& sink) { return analysis::export_otlp(from, form, sink); }));
    }

    TEST_CASE("tasks and requests that lie in one another in a damaged trace are exported") {
        analysis::trace from = requests_trace();
        for (std::uint32_t task = 0; task < from.tasks.size(); ++task)
            from.tasks[task].parent = (task + 1) % 3;
        CHECK(spans_of(from).size() == 4);
        from.requests[0].task = 1;
        CHECK(spans_of(from).size() == 4);
    }
}

}  // namespace
