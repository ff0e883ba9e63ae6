// SPDX-License-Identifier: Apache-2.0

// Values that are redacted are in no export.

#include <coroscope/analysis/redact.hpp>

#include <string>
#include <string_view>

#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/analysis/profile_exports.hpp>
#include <coroscope/analysis/span_exports.hpp>
#include <coroscope/analysis/table_exports.hpp>
#include <doctest/doctest.h>

#include "../export_traces.hpp"
#include "../small_traces.hpp"

namespace {

using namespace coroscope;
using coroscope_tests::bytes_of;

/// A task that carries user = alice and tenant = acme, with a scope that has the argument card =
/// 1234.
analysis::trace private_trace() {
    analysis::trace made = coroscope_tests::task_trace();
    made.strings = {"handle", "user", "alice", "tenant", "acme", "card = 1234"};
    analysis::attribute_info user, tenant;
    user.key = 1;
    user.value = 2;
    tenant.key = 3;
    tenant.value = 4;
    tenant.parent = 0;
    made.attributes = {user, tenant};
    made.tasks[0].attribute = 1;
    made.events[0].attribute = 1;
    made.details[0].arguments = 5;
    return made;
}

std::string every_export(const analysis::trace& from) {
    std::string all;
    const auto add = [&](const auto& write_out) { all += bytes_of(write_out); };
    for (const std::string_view table : analysis::data_table_names())
        add([&](const auto& sink) {
            return analysis::export_table(from, table, analysis::rows_form::csv, sink);
        });
    add([&](const auto& sink) { return analysis::export_speedscope(from, sink); });
    for (const auto form : {analysis::otlp_form::json, analysis::otlp_form::protobuf})
        add([&](const auto& sink) { return analysis::export_otlp(from, form, sink); });
    const auto done = analysis::export_chrome(from, [&all](std::string_view part) {
        all += part;
        return true;
    });
    REQUIRE(done.has_value());
    return all;
}

TEST_SUITE("redaction") {
    TEST_CASE("without redaction the values are in an export") {
        const std::string all = every_export(private_trace());
        CHECK(all.find("alice") != std::string::npos);
        CHECK(all.find("acme") != std::string::npos);
        CHECK(all.find("card = ") != std::string::npos);
    }

    TEST_CASE("a redacted attribute is in no export, and the others stay") {
        analysis::trace from = private_trace();
        CHECK(analysis::redact(from, {.attributes = {"user"}}) == 1);
        const std::string all = every_export(from);
        CHECK(all.find("alice") == std::string::npos);
        CHECK(all.find("(redacted)") != std::string::npos);
        CHECK(all.find("acme") != std::string::npos);
        CHECK(all.find("card = ") != std::string::npos);
        for (const std::string& each : from.strings) CHECK(each != "alice");
    }

    TEST_CASE("redacted arguments are in no export") {
        analysis::trace from = private_trace();
        CHECK(analysis::redact(from, {.arguments = true}) == 1);
        CHECK(every_export(from).find("card = ") == std::string::npos);
    }

    TEST_CASE("a pattern redacts each attribute whose key matches") {
        analysis::trace from = private_trace();
        CHECK(analysis::redact(from, {.attributes = {"*"}}) == 2);
        const std::string all = every_export(from);
        CHECK(all.find("alice") == std::string::npos);
        CHECK(all.find("acme") == std::string::npos);
    }

    TEST_CASE("a name that equals a redacted value stays") {
        analysis::trace from = private_trace();
        from.attributes[0].value = 0;  // "handle", the scope's name
        CHECK(analysis::redact(from, {.attributes = {"user"}}) == 1);
        CHECK(from.strings[0] == "handle");
    }

    TEST_CASE("the count is 0 if the trace has no such value") {
        analysis::trace from = private_trace();
        CHECK(analysis::redact(from, {.attributes = {"users"}}) == 0);
    }
}

}  // namespace
