// SPDX-License-Identifier: Apache-2.0

// Reports: their size, their limits, and their refusals. tests/tools/test_report.py reads the
// data.

#include <coroscope/analysis/report.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "../small_traces.hpp"

namespace {

using namespace coroscope;

/// Requests on one thread. Each has seven scopes in it, which begin and end at irregular times.
analysis::trace many_scopes(std::uint32_t requests) {
    analysis::trace made = coroscope_tests::empty_trace();
    std::uint64_t random = 88172645463325252U;
    const auto some_ns = [&random](std::int64_t most) {
        random ^= random << 13U;
        random ^= random >> 7U;
        random ^= random << 17U;
        return 1 + static_cast<std::int64_t>(random % static_cast<std::uint64_t>(most));
    };
    std::int64_t now_ns = 0;
    for (std::uint32_t number = 0; number < requests; ++number) {
        const auto whole = static_cast<std::uint32_t>(made.events.size());
        const std::int64_t start_ns = now_ns += some_ns(20'000);
        made.events.push_back(coroscope_tests::scope_at(start_ns, start_ns));
        for (int inner = 0; inner < 7; ++inner) {
            const std::int64_t from_ns = now_ns += some_ns(500);
            now_ns += some_ns(50'000);
            made.events.push_back(coroscope_tests::scope_at(from_ns, now_ns));
            made.events.back().parent = whole;
            made.events.back().self_running_ns = now_ns - from_ns;
        }
        made.events[whole].end_ns = now_ns += some_ns(500);
        made.events[whole].self_running_ns = some_ns(5'000);
        analysis::request_info request;
        request.id = number + 1;
        request.name = 0;
        request.site = 0;
        request.event = whole;
        request.thread = 0;
        request.start_ns = start_ns;
        request.end_ns = now_ns;
        made.requests.push_back(request);
    }
    made.duration_ns = now_ns + 1;
    return made;
}

std::string report_of(const analysis::trace& from, const analysis::report_options& options = {}) {
    std::string all;
    const auto done = analysis::write_report(
        from,
        [&all](std::string_view part) {
            all += part;
            return true;
        },
        options);
    REQUIRE(done.has_value());
    return all;
}

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

TEST_SUITE("reports") {
    TEST_CASE("a million scopes are whole, in at most 30 MB") {
        const analysis::trace from = many_scopes(125'000);
        std::size_t bytes = 0;
        const auto done = analysis::write_report(from, [&bytes](std::string_view part) {
            bytes += part.size();
            return true;
        });
        REQUIRE(done.has_value());
        CHECK(*done == 1'000'000);
        CHECK(bytes <= 30'000'000);
        CHECK(bytes > 1'000'000);
    }

    TEST_CASE("above the limit whole requests are shown, as many as fit") {
        const analysis::trace from = many_scopes(1000);
        analysis::report_options options;
        options.most_events = 800;
        const auto shown =
            analysis::write_report(from, [](std::string_view) { return true; }, options);
        REQUIRE(shown.has_value());
        CHECK(*shown >= 800);
        CHECK(*shown < 816);
        CHECK(*shown % 8 == 0);
        const std::string page = report_of(from, options);
        CHECK(has(page, "\"whole\":false"));
        CHECK(has(page, "of 8000 scopes"));
        CHECK(has(report_of(from), "\"whole\":true"));
    }

    TEST_CASE("above the limit and without requests the longest scopes are shown") {
        analysis::trace from = many_scopes(1000);
        from.requests.clear();
        analysis::report_options options;
        options.most_events = 900;
        const auto shown =
            analysis::write_report(from, [](std::string_view) { return true; }, options);
        REQUIRE(shown.has_value());
        CHECK(*shown >= 890);  // the 1000 outer ones are the longest, and some are equally long
        CHECK(*shown <= 900);
        CHECK(has(report_of(from, options), "longest of 8000 scopes"));
    }

    TEST_CASE("of a request that does not fit the first part is shown") {
        analysis::trace from = many_scopes(1000);
        from.requests.resize(1);
        from.requests[0].end_ns = from.duration_ns;
        analysis::report_options options;
        options.most_events = 900;
        const auto shown =
            analysis::write_report(from, [](std::string_view) { return true; }, options);
        REQUIRE(shown.has_value());
        CHECK(*shown == 900);
    }

    TEST_CASE("no name ends an element or begins one") {
        analysis::trace from = coroscope_tests::task_trace();
        const std::string hostile = "</script><img onerror=\"x\">\xE2\x80\xA8 & \xFF";
        from.process_name = hostile;
        from.strings[0] = hostile;
        for (analysis::site_info& each : from.sites)
            each.label = each.file = each.category = each.function = hostile;
        for (analysis::thread_info& each : from.threads) each.name = hostile;
        const std::string page = report_of(from, {.trace_path = hostile});
        CHECK_FALSE(has(page, "<img"));
        CHECK_FALSE(has(page, "</script><"));
        CHECK_FALSE(has(page, "\xE2\x80\xA8"));
        CHECK_FALSE(has(page, "\xFF"));
        CHECK(has(page, "\\u003c/script\\u003e\\u003cimg"));
        CHECK(has(page, "&lt;/script&gt;&lt;img"));
    }

    TEST_CASE("the page allows its own script alone") {
        const std::string page = report_of(coroscope_tests::task_trace());
        CHECK(has(page, "default-src 'none'; script-src 'sha256-"));
        for (const std::string each : {"src=\"", "href=\"http", "@import", "url(", "unsafe-inline",
                                       "unsafe-eval", "{{summary}}", "{{title}}"})
            CHECK_MESSAGE(!has(page, each), each);
    }

    TEST_CASE("a report fails if its sink does") {
        std::size_t bytes = 0;
        const auto done =
            analysis::write_report(coroscope_tests::task_trace(), [&bytes](std::string_view part) {
                bytes += part.size();
                return bytes < 20'000;
            });
        CHECK_FALSE(done.has_value());
    }

    TEST_CASE("a damaged trace has a report") {
        analysis::trace from = coroscope_tests::task_trace();
        from.events[0].end_ns = -5;
        from.events[0].thread = 99;
        from.events[0].site = 77;
        from.requests.emplace_back();
        CHECK(has(report_of(from), "coroscope-timeline"));
        CHECK(has(report_of(analysis::trace{}), "coroscope-timeline"));
    }

    TEST_CASE("an editor is one of those known, or a link that cannot run in the page") {
        CHECK(analysis::editor_link("vscode").value() == "vscode://file/{file}:{line}");
        CHECK(analysis::editor_link("x-editor:{file}").has_value());
        for (const char* each : {"", "nano", "{file}", "javascript:{file}", "JAVASCRIPT:{file}",
                                 "java\tscript:{file}", "data:{file}", "1x:{file}", "vscode://x"})
            CHECK_MESSAGE(!analysis::editor_link(each).has_value(), each);
        CHECK(has(analysis::editor_names(), "vscode, "));
    }
}

}  // namespace
