// SPDX-License-Identifier: Apache-2.0

// Devices on critical paths: requests that await a stream.

#include <coroscope/analysis/critical_path.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "../../support/json.hpp"
#include "loaded_trace.hpp"

using namespace coroscope;
using analysis::path_kind;
using test::loaded;

namespace {

/// Twenty requests (tasks "serve" on thread 1), one after the other. Each awaits stream 7 for 3 us:
/// a copy of 500 ns, and a kernel of 1 us that was in the queue for 200 ns. The last one awaits
/// 22 us, of which the kernel takes 20. Then each request waits for a timer for 1 us.
analysis::trace service_with_device() {
    test::trace_builder built;
    const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
    const auto embed = built.site("embed", "model.cpp", 2, trace::site_kind::await);
    const auto pause = built.site("pause", "server.cpp", 3, trace::site_kind::await);
    const auto gemm = built.site("gemm_kernel");
    const auto copy = built.site("copy");
    std::int64_t now = 1000;
    for (std::uint64_t task = 1; task <= 20; ++task) {
        const std::int64_t kernel_ns = task == 20 ? 20'000 : 1000;
        const std::int64_t begin = now + 700;
        const std::int64_t wake = begin + kernel_ns + 1300;
        built.on(1)
            .spawn(now - 100, task, serve, trace::spawn_started)
            .device_wait(now - 10, task)
            .suspend(now, task, embed);
        built.on(2).device({.what = trace::device_activity::copy,
                            .start = now + 100,
                            .end = now + 600,
                            .site = copy,
                            .task = task,
                            .correlation = static_cast<std::uint32_t>(2 * task)});
        test::device_values kernel{.start = begin,
                                   .end = begin + kernel_ns,
                                   .site = gemm,
                                   .task = task,
                                   .correlation = static_cast<std::uint32_t>(2 * task + 1)};
        kernel.queued = begin - 200;
        built.on(2).device(kernel).wake(wake, task, 0, 2);
        built.on(1).resume(wake, task).suspend(wake + 100, task, pause);
        built.on(2).wake(wake + 1100, task, 0, 2);
        built.on(1).resume(wake + 1100, task).finish(wake + 1200, task);
        now = wake + 5000;
    }
    return loaded(built.lasts(now));
}

std::uint32_t task_with_id(const analysis::trace& from, std::uint64_t id) {
    return *analysis::find_task(from, id);
}

std::string text_in(const analysis::listing& of, std::size_t row, std::string_view key) {
    const auto column = std::ranges::find(of.columns, key, &analysis::listing_column::key);
    REQUIRE(column != of.columns.end());
    const auto& cell = of.rows.at(row)[static_cast<std::size_t>(column - of.columns.begin())];
    const std::string* const text = std::get_if<std::string>(&cell);
    return text == nullptr ? std::string() : *text;
}

}  // namespace

TEST_SUITE("devices on critical paths") {
    TEST_CASE("a suspended segment is explained by the device work that its task awaited") {
        const analysis::trace from = service_with_device();
        const auto path = analysis::critical_path_of_task(from, task_with_id(from, 1));
        const analysis::listing segments = analysis::list_path(from, path);
        constexpr std::string_view awaited_work =
            "stream 7: 1 kernel 1.0 us (gemm_kernel), 1 copy 500 ns, queued on the device 100 ns";
        std::size_t explained = 0;
        for (std::size_t row = 0; row < segments.rows.size(); ++row) {
            const std::string cause = text_in(segments, row, "cause");
            const bool is_device = text_in(segments, row, "label") == "embed";
            const std::string_view expected = is_device ? awaited_work : "";
            CHECK(cause == expected);
            explained += is_device ? 1 : 0;
        }
        CHECK(explained == 1);
    }

    TEST_CASE("the parts of a path have the device work of all their awaits") {
        const analysis::trace from = service_with_device();
        const auto path = analysis::critical_path_of_task(from, task_with_id(from, 1));
        const analysis::listing parts = analysis::list_path_parts(from, path);
        REQUIRE(!parts.rows.empty());
        CHECK(text_in(parts, 0, "label") == "embed");
        CHECK(text_in(parts, 0, "cause") ==
              "stream 7: 1 kernel 1.0 us (gemm_kernel), 1 copy 500 ns");
    }

    TEST_CASE("the JSON of a path has the device's times, only if a stream was awaited") {
        const analysis::trace from = service_with_device();
        const auto path = analysis::critical_path_of_task(from, task_with_id(from, 1));
        const auto json = coroscope_tests::parse_json(analysis::path_json(from, path));
        for (const auto& segment : json["segments"].elements) {
            const bool is_device = segment["label"].text == "embed";
            REQUIRE(segment.has("device") == is_device);
            if (!is_device) continue;
            CHECK(segment["device"]["device_ns"].integer() == 1500);
            CHECK(segment["device"]["device_queued_ns"].integer() == 100);
            CHECK(segment["device"]["waited_for"].text.starts_with("stream 7: 1 kernel"));
        }
    }

    TEST_CASE("a request whose kernel took long is slow because of the kernel") {
        const analysis::trace from = service_with_device();
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        REQUIRE(!found->differences.empty());
        const analysis::request_difference& first = found->differences.front();
        CHECK(first.kind == path_kind::suspended);
        CHECK(first.label == "embed");
        REQUIRE(first.cause);
        CHECK(first.cause->label == "gemm_kernel");
        CHECK(first.cause->role == analysis::cause_role::device);
        CHECK(first.cause->time_ns == 20'500);
        CHECK(analysis::slow_requests_text(from, *found).find("gemm_kernel on a device") !=
              std::string::npos);
    }
}
