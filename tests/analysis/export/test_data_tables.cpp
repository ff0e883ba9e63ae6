// SPDX-License-Identifier: Apache-2.0

// The tables of a trace in their three forms, read back.

#include <coroscope/analysis/table_exports.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/request_statistics.hpp>
#include <doctest/doctest.h>
#include <sqlite3.h>

#include "../../support/json.hpp"
#include "../../support/scratch_file.hpp"
#include "../export_traces.hpp"

namespace {

using namespace coroscope;
using analysis::rows_form;
using coroscope_tests::bytes_of;
using coroscope_tests::hostile_trace;
using coroscope_tests::json;
using coroscope_tests::trace_of_facts;

std::string table_text(const analysis::trace& from, std::string_view table, rows_form form,
                       std::uint64_t* rows = nullptr) {
    return bytes_of(
        [&](const auto& sink) { return analysis::export_table(from, table, form, sink); }, rows);
}

std::vector<json> objects_of(const analysis::trace& from, std::string_view table) {
    const std::string text = table_text(from, table, rows_form::ndjson);
    std::vector<json> objects;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        objects.push_back(coroscope_tests::json_parser(text.substr(at, end - at)).document());
        at = end + 1;
    }
    return objects;
}

std::int64_t sum_of(const std::vector<json>& objects, const std::string& key) {
    std::int64_t sum = 0;
    for (const json& each : objects)
        if (each[key].is == json::kind::number) sum += each[key].integer();
    return sum;
}

/// An SQLite export, opened.
class database {
public:
    explicit database(const analysis::trace& from) {
        const auto done = analysis::export_sqlite(from, file_.path());
        REQUIRE(done.has_value());
        rows = *done;
        REQUIRE(sqlite3_open(file_.path(), &handle_) == SQLITE_OK);
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database() { sqlite3_close(handle_); }

    /// The first column of each row of a query.
    std::vector<std::string> texts(const std::string& query) {
        sqlite3_stmt* statement = nullptr;
        INFO(query);
        REQUIRE(sqlite3_prepare_v2(handle_, query.c_str(), -1, &statement, nullptr) == SQLITE_OK);
        std::vector<std::string> found;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
            found.emplace_back(text == nullptr ? "NULL" : text);
        }
        sqlite3_finalize(statement);
        return found;
    }
    std::int64_t number(const std::string& query) { return std::stoll(texts(query).at(0)); }

    std::uint64_t rows = 0;

private:
    test::scratch_file file_;
    sqlite3* handle_ = nullptr;
};

TEST_SUITE("tables") {
    TEST_CASE("the rows of scopes, tasks and awaits have the sums of the trace") {
        for (const analysis::trace& from : {trace_of_facts(), hostile_trace()}) {
            const auto scopes = objects_of(from, "scopes");
            CHECK(scopes.size() == from.events.size());
            CHECK(sum_of(scopes, "self_running_ns") ==
                  analysis::total_average(from).self_cpu_time_total_ns);
            const auto tasks = objects_of(from, "tasks");
            CHECK(tasks.size() == from.tasks.size());
            analysis::time_split time;
            for (const analysis::task_info& each : from.tasks) time.add(each.time);
            CHECK(sum_of(tasks, "running_ns") == time.running_ns);
            CHECK(sum_of(tasks, "suspended_ns") == time.suspended_ns);
            CHECK(sum_of(tasks, "queued_ns") == time.queued_ns);
            CHECK(sum_of(tasks, "wall_ns") == time.wall_ns());
            CHECK(objects_of(from, "awaits").size() == from.awaits.size());
        }
    }

    TEST_CASE("the path segments of a request add up to its wall time") {
        const analysis::trace from = trace_of_facts();
        for (const json& request : objects_of(from, "requests")) {
            std::int64_t sum = 0;
            for (const json& each : objects_of(from, "path_segments"))
                if (each["request"].text == request["id"].text) sum += each["length_ns"].integer();
            CHECK(sum == request["wall_ns"].integer());
        }
    }

    TEST_CASE("every table has the same number of rows in each form") {
        const analysis::trace from = trace_of_facts();
        database opened(from);
        std::uint64_t all = 0;
        for (const std::string_view table : analysis::data_table_names()) {
            CAPTURE(table);
            std::uint64_t rows = 0;
            table_text(from, table, rows_form::csv, &rows);
            CHECK(objects_of(from, table).size() == rows);
            CHECK(opened.number("SELECT COUNT(*) FROM " + std::string(table)) ==
                  static_cast<std::int64_t>(rows));
            all += rows;
        }
        CHECK(opened.rows == all);
    }

    TEST_CASE("the database is sound, and each of its views can be read") {
        database opened(trace_of_facts());
        CHECK(opened.texts("PRAGMA integrity_check") == std::vector<std::string>{"ok"});
        CHECK(opened.number("PRAGMA user_version") == 1);
        const auto views = opened.texts("SELECT name FROM sqlite_master WHERE type = 'view'");
        CHECK(views.size() >= 12);
        for (const std::string& view : views)
            CHECK(opened.number("SELECT COUNT(*) FROM " + view) >= 0);
    }

    TEST_CASE("the view of scopes has the figures of the table command") {
        for (const analysis::trace& from : {trace_of_facts(), hostile_trace()}) {
            database opened(from);
            std::int64_t total = 0, self = 0;
            for (const auto& row : analysis::key_averages(from)) {
                total += row.cpu_time_total_ns;
                self += row.self_cpu_time_total_ns;
            }
            CHECK(opened.number("SELECT SUM(total_ns) FROM scope_statistics") == total);
            CHECK(opened.number("SELECT SUM(self_ns) FROM scope_statistics") == self);
        }
    }

    TEST_CASE("the view of requests has the percentiles of the requests command") {
        const analysis::trace from = trace_of_facts();
        const auto types = analysis::statistics_of_requests(from, analysis::requests_of(from));
        REQUIRE(!types.empty());
        database opened(from);
        for (const analysis::request_type& type : types) {
            if (type.percentiles.empty()) continue;
            const std::string where = " FROM request_statistics WHERE type = '" + type.name + "'";
            CHECK(opened.number("SELECT count" + where) == static_cast<std::int64_t>(type.count));
            CHECK(opened.number("SELECT p50_ns" + where) == type.percentiles[0].time.wall_ns);
            CHECK(opened.number("SELECT max_ns" + where) == type.percentiles.back().time.wall_ns);
        }
    }

    TEST_CASE("a row refers to the row of another table by its id") {
        database opened(hostile_trace());
        CHECK(opened.texts("SELECT awaiting.number FROM awaits JOIN tasks AS awaiting ON "
                           "awaiting.id = awaits.task JOIN tasks AS awaited ON awaited.id = "
                           "awaits.awaited WHERE awaited.number = 2") ==
              std::vector<std::string>{"1"});
    }

    TEST_CASE("hostile names are valid text in every form") {
        const analysis::trace from = hostile_trace();
        for (const std::string_view table : analysis::data_table_names()) {
            const std::string csv = table_text(from, table, rows_form::csv);
            CHECK(csv.find('\x1b') == std::string::npos);
            CHECK(csv.find('\xff') == std::string::npos);
            CHECK(objects_of(from, table).size() + 1 <= csv.size());
        }
        const std::string guarded = bytes_of([&](const auto& sink) {
            analysis::trace formula = from;
            formula.sites[0].label = "=1+1";
            return analysis::export_table(formula, "sites", rows_form::csv, sink, true);
        });
        CHECK(guarded.find(",'=1+1,") != std::string::npos);
        database opened(from);
        for (const std::string& name : opened.texts("SELECT name FROM scopes")) {
            CHECK(name.find('\x1b') == std::string::npos);
            CHECK(name.find('\xff') == std::string::npos);
        }
    }

    TEST_CASE("a table that does not exist, and a sink that fails, are errors") {
        const analysis::trace from = hostile_trace();
        const auto unknown = analysis::export_table(from, "tabel", rows_form::csv,
                                                    [](std::string_view) { return true; });
        CHECK(!unknown.has_value());
        CHECK(coroscope_tests::fails_with_its_sink([&](const auto& sink) {
            return analysis::export_table(from, "scopes", rows_form::ndjson, sink);
        }));
    }

    TEST_CASE("a database that cannot be written leaves no file") {
        const std::string path = "/nonexistent-folder/trace.sqlite";
        const auto done = analysis::export_sqlite(hostile_trace(), path);
        REQUIRE(!done.has_value());
        CHECK(!done.error().message.empty());
        CHECK(!std::ifstream(path).good());
    }
}

}  // namespace
