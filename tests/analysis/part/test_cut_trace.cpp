// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/cut_trace.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <coroscope/analysis/load.hpp>
#include <doctest/doctest.h>

#include "../../support/scratch_file.hpp"
#include "../streamed/random_traces.hpp"
#include "part_traces.hpp"

namespace {

using namespace coroscope;
using coroscope_tests::part_of;
using coroscope_tests::served_requests;
using coroscope_tests::whole_of;

void write_to(const test::scratch_file& file, const std::vector<unsigned char>& bytes) {
    std::ofstream out(file.path(), std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
}

coroscope::trace::buffer cut_bytes(const std::vector<unsigned char>& whole, std::int64_t from_ns,
                                   std::int64_t to_ns) {
    const test::scratch_file file;
    write_to(file, whole);
    std::string out;
    const auto totals =
        analysis::cut_trace(file.path(), from_ns, to_ns, [&](std::string_view bytes) {
            out += bytes;
            return true;
        });
    REQUIRE_MESSAGE(totals, totals.error().message);
    CHECK_EQ(totals->cut_bytes, out.size());
    const std::vector<unsigned char> bytes(out.begin(), out.end());
    return test::truncated(bytes, bytes.size());
}

using scope_row = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, std::uint64_t,
                             std::uint32_t, std::uint16_t>;

std::vector<scope_row> scopes_of(const analysis::trace& loaded) {
    std::vector<scope_row> rows;
    for (const analysis::event& each : loaded.events)
        rows.emplace_back(each.start_ns, each.end_ns, each.self_running_ns,
                          loaded.strings[each.name],
                          each.task == analysis::none ? 0 : loaded.tasks[each.task].id,
                          loaded.threads[each.thread].id, each.flags);
    std::ranges::sort(rows);
    return rows;
}

using task_row = std::tuple<std::uint64_t, int, std::int64_t, std::int64_t, std::int64_t,
                            std::int64_t, std::size_t, std::size_t>;

std::vector<task_row> tasks_of(const analysis::trace& loaded) {
    std::vector<task_row> rows;
    for (const analysis::task_info& each : loaded.tasks)
        rows.emplace_back(each.id, static_cast<int>(each.state), each.time.running_ns,
                          each.time.suspended_ns, each.time.queued_ns, each.time.waiting_ns,
                          each.slices.size(), each.awaits.size());
    std::ranges::sort(rows);
    return rows;
}

/// A row per scope or task, as text.
template <class Row>
std::string text_of(const std::vector<Row>& rows) {
    std::ostringstream text;
    for (const Row& row : rows) {
        std::apply([&](const auto&... cell) { ((text << cell << ' '), ...); }, row);
        text << '\n';
    }
    return text.str();
}

void check_same(const analysis::trace& one, const analysis::trace& other) {
    CHECK_EQ(one.duration_ns, other.duration_ns);
    CHECK_EQ(text_of(scopes_of(one)), text_of(scopes_of(other)));
    CHECK_EQ(text_of(tasks_of(one)), text_of(tasks_of(other)));
    CHECK_EQ(one.health.part.from_ns, other.health.part.from_ns);
    CHECK_EQ(one.health.part.cut_scopes, other.health.part.cut_scopes);
    CHECK_EQ(one.health.part.cut_tasks, other.health.part.cut_tasks);
    CHECK_EQ(one.health.damaged_chunks, 0U);
    CHECK(one.health.warnings.empty());
}

}  // namespace

TEST_CASE("a part that was cut out is loaded as the same part of the whole trace") {
    const auto built = served_requests();
    const analysis::trace whole = whole_of(built);
    for (std::int64_t from = 0; from < 1500; from += 50) {
        for (const std::int64_t length : {10, 120, 700}) {
            CAPTURE(from);
            CAPTURE(length);
            const auto cut = analysis::load(cut_bytes(built.bytes(), from, from + length));
            REQUIRE(cut);
            check_same(*cut, part_of(whole, from, from + length));
        }
    }
}

TEST_CASE("the same holds for random traces of tasks") {
    for (std::uint32_t number = 0; number < 40; ++number) {
        CAPTURE(number);
        const auto built = test::random_trace(number, {.tasks = true});
        const analysis::trace whole = whole_of(built);
        const std::int64_t from = whole.duration_ns / 3, to = whole.duration_ns * 2 / 3;
        if (to <= from) continue;
        const auto cut = analysis::load(cut_bytes(built.bytes(), from, to));
        REQUIRE(cut);
        check_same(*cut, part_of(whole, from, to));
    }
}

TEST_CASE("a part leaves out the scopes of other times") {
    test::trace_builder built;
    const auto site = built.site("step");
    for (std::int64_t at = 0; at < 200'000; at += 10) built.on(1).scope(site, at, at + 5);
    built.lasts(200'000);
    const std::vector<unsigned char> bytes = built.bytes();
    CHECK_LT(cut_bytes(bytes, 5'000, 5'100).size(), bytes.size() / 10);
}

TEST_CASE("a part is not cut again, and a trace with losses is not cut") {
    const auto built = served_requests();
    const auto refuses = [](const std::vector<unsigned char>& bytes, std::int64_t from) {
        const test::scratch_file file;
        write_to(file, bytes);
        return !analysis::cut_trace(file.path(), from, {}, [](std::string_view) { return true; });
    };
    CHECK_FALSE(refuses(built.bytes(), 100));
    CHECK(refuses(built.bytes(), 5000));
    auto part = served_requests();
    part.header.part_end_ns = 100;
    CHECK(refuses(part.bytes(), 10));
    auto lossy = served_requests();
    lossy.thread(1).dropped_newest = 3;
    CHECK(refuses(lossy.bytes(), 100));
}
