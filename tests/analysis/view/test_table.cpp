// SPDX-License-Identifier: Apache-2.0

// The table in torch's layout, as text, CSV and JSON.

#include <coroscope/analysis/table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "../../support/json.hpp"
#include "../table_text.hpp"
#include "../three_tasks.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope::test::text_of;
using coroscope_tests::json;
using coroscope_tests::parse_json;

/// Everything a table must survive, in one name.
const std::string hostile =
    "a\"b\\c\nd\te\x1b[31m\x01\x7f\xff\xc0\xaf\xed\xa0\x80 \xc2\x9bz,\xe2\x82\xac";

function_event_avg row_of(std::string name, std::uint64_t count, std::int64_t running_ns,
                          std::int64_t self_ns) {
    function_event_avg row;
    row.name = std::move(name);
    row.count = count;
    row.cpu_time_total_ns = running_ns;
    row.self_cpu_time_total_ns = self_ns;
    row.wall_ns = running_ns;
    return row;
}

/// Two plain functions: 4 ms in all, of which "parse" took 1.5 ms.
table_input plain_input() {
    table_input input;
    input.rows = {row_of("handle", 2, 4'000'000, 2'500'000),
                  row_of("parse", 3, 1'500'000, 1'500'000)};
    input.self_cpu_time_total_ns = 4'000'000;
    return input;
}

table_input task_input() {
    table_input input = plain_input();
    input.has_tasks = true;
    input.rows[0].in_frame_count = 2;
    input.rows[0].suspended_ns = 10'000'000;
    input.rows[0].queued_ns = 250'000;
    input.rows[0].waiting_ns = 750'000;
    input.rows[0].wall_ns = 15'000'000;
    return input;
}

TEST_CASE("a time has three decimals and torch's unit") {
    CHECK(format_time(1'500'000) == "1.500ms");
    CHECK(format_time(999'999) == "999.999us");
    CHECK(format_time(1'000'000) == "1.000ms");
    CHECK(format_time(999'999'999) == "1000.000ms");
    CHECK(format_time(1'000'000'000) == "1.000s");
    CHECK(format_time(7) == "0.007us");
    CHECK(format_time(0) == "0.000us");
    CHECK(format_time(-2'000'000) == "-2000.000us");
    CHECK(format_time(1'500'000, time_unit::seconds) == "0.002s");
    CHECK(format_time(1'500'000, time_unit::microseconds) == "1500.000us");
}

TEST_CASE("a share has two decimals, and a share of 0 is NaN") {
    CHECK(format_percent(1, 3) == "33.33%");
    CHECK(format_percent(5, 5) == "100.00%");
    CHECK(format_percent(0, 0) == "NaN");
}

TEST_CASE("a size is in powers of 1024") {
    CHECK(format_bytes(1023) == "1023 B");
    CHECK(format_bytes(1024) == "1.00 KB");
    CHECK(format_bytes(-1536) == "-1.50 KB");
    CHECK(format_bytes(3LL << 30) == "3.00 GB");
}

TEST_CASE("the terms of a sum are written in the unit of the sum") {
    CHECK(format_span(12'300'000) == "12.3 ms");
    CHECK(format_span(400'000, 12'300'000) == "0.4 ms");
    CHECK(format_span(999) == "999 ns");
    CHECK(format_span(12'340) == "12.3 us");
    CHECK(format_span(2'500'000'000) == "2.5 s");
}

TEST_CASE("a table of plain functions looks as torch's does") {
    CHECK(text_of(plain_input()) == "----------  ------------  ------------  ------------  "
                                    "------------  ------------  ------------\n"
                                    "      Name    Self CPU %      Self CPU   CPU total %     CPU "
                                    "total  CPU time avg    # of Calls\n"
                                    "----------  ------------  ------------  ------------  "
                                    "------------  ------------  ------------\n"
                                    "    handle        62.50%       2.500ms       100.00%       "
                                    "4.000ms       2.000ms             2\n"
                                    "     parse        37.50%       1.500ms        37.50%       "
                                    "1.500ms     500.000us             3\n"
                                    "----------  ------------  ------------  ------------  "
                                    "------------  ------------  ------------\n"
                                    "Self CPU time total: 4.000ms\n");
}

TEST_CASE("the headings of a native trace say running time, not CPU time") {
    const table_input input = table_of(coroscope_tests::three_tasks());
    REQUIRE(input.is_running_time);
    const std::string text = text_of(input);
    CHECK(text.find("CPU") == std::string::npos);
    CHECK(text.find("Self %  Self running     Running %       Running   Running avg") !=
          std::string::npos);
    CHECK(text.find("\nSelf running time total: ") != std::string::npos);
}

TEST_CASE("the suspended, queued and waiting columns of a trace with tasks precede the calls") {
    table_input input = task_input();
    input.rows.erase(input.rows.begin() + 1);
    CHECK(text_of(input) ==
          "----------  ------------  ------------  ------------  ------------  "
          "------------  ------------  "
          "------------  ------------  ------------  ------------\n"
          "      Name    Self CPU %      Self CPU   CPU total %     CPU total  "
          "CPU time avg     Suspended  "
          "      Queued       Waiting          Wall    # of Calls\n"
          "----------  ------------  ------------  ------------  ------------  "
          "------------  ------------  "
          "------------  ------------  ------------  ------------\n"
          "    handle        62.50%       2.500ms       100.00%       4.000ms    "
          "   2.000ms     10.000ms+  "
          "  250.000us+     750.000us      15.000ms             2\n"
          "----------  ------------  ------------  ------------  ------------  "
          "------------  ------------  "
          "------------  ------------  ------------  ------------\n"
          "Self CPU time total: 4.000ms\n"
          "Waiting was suspended or queued, it is unknown which; + means at least\n");
}

TEST_CASE("an unknown time is printed as unknown, not as zero") {
    table_input input = task_input();
    input.rows[1].in_frame_count = input.rows[1].unknown_count = 3;
    input.rows[1].cpu_time_total_ns = input.rows[1].self_cpu_time_total_ns = 0;
    input.rows[1].waiting_ns = input.rows[1].wall_ns = 9'000'000;
    input.rows[0].unknown_count = 1;
    const std::string text = text_of(input);
    CHECK(text.find("     parse       unknown       unknown       unknown       unknown       "
                    "unknown       unknown  "
                    "     unknown       9.000ms       9.000ms             3\n") !=
          std::string::npos);
    CHECK(text.find("10.000ms+") != std::string::npos);
    CHECK(text.find("Unknown: 4 calls") != std::string::npos);
}

TEST_CASE("unknown time is in the Waiting column even if the trace has no tasks") {
    table_input input = plain_input();
    input.rows[1].unknown_count = 3;
    input.rows[1].cpu_time_total_ns = input.rows[1].self_cpu_time_total_ns = 0;
    input.rows[1].waiting_ns = input.rows[1].wall_ns = 9'000'000;
    const std::string text = text_of(input);
    CHECK(text.find("       Waiting          Wall    # of Calls\n") != std::string::npos);
    CHECK(text.find("     unknown       9.000ms       9.000ms             3\n") !=
          std::string::npos);
    CHECK(text.find("all their time is under Waiting") != std::string::npos);
}

TEST_CASE("a wait without a seen wake has no suspended and no queued part") {
    table_input input = task_input();
    input.rows[0].suspended_ns = input.rows[0].queued_ns = 0;
    const std::string text = text_of(input);
    CHECK(text.find("       unknown       unknown     750.000us      15.000ms             2\n") !=
          std::string::npos);
    CHECK(text.find("       0.000us       0.000us       0.000us       1.500ms             3\n") !=
          std::string::npos);
    const auto csv = table_csv(input);
    REQUIRE(csv.has_value());
    CHECK(csv->find("handle,,2,4000000,2500000,,,750000,15000000,") != std::string::npos);
}

TEST_CASE("a note under the table says that the program closed the trace's descriptor") {
    table_input input = plain_input();
    input.health.write_error = EBADF;
    CHECK(text_of(input).find(
              "The trace stopped growing: the program closed its file's descriptor\n") !=
          std::string::npos);
}

TEST_CASE("notes under the table give the losses of a trace by reason") {
    table_input input = plain_input();
    input.health.dropped_newest = 12;
    input.health.overwritten = 3;
    input.health.late_records = 1;
    input.health.tasks_without_slot = 2;
    input.health.write_error = 28;
    input.health.finished = false;
    input.health.open_scopes_unknown = true;
    input.health.crash_report = "signal 11\n#0 task 3 \x1b[m\n";
    input.health.damaged_chunks = 5;
    input.health.warnings = {"chunk 3: wrong checksum"};
    const std::string text = text_of(input);
    CHECK(text.substr(text.find("Self CPU time total")) ==
          "Self CPU time total: 4.000ms\n"
          "Lost records: 12 dropped (no free chunk), 3 overwritten, 1 in flight at the stop\n"
          "Live tasks that the task table had no room for: 2\n"
          "The trace stopped growing: No space left on device\n"
          "The process ended before the session was stopped\n"
          "Scopes that were open when it ended: unknown\n"
          "signal 11\n"
          "#0 task 3 \\x1b[m\n"
          "Damaged or missing chunks: 5\n"
          "Damage found while reading: 1 (first: chunk 3: wrong checksum)\n");
    input.health = {};
    input.health.finished = false;
    input.health.open_scopes_unknown = true;
    input.health.being_recorded = true;
    CHECK(table(input)->ends_with(
        "\nThe session still records: open scopes and later records are not in this view\n"));
    input.health = {};
    input.health.warnings = {"2 events have no end"};
    CHECK(table(input)->ends_with("\nWarnings while reading: 1 (first: 2 events have no end)\n"));
}

TEST_CASE("the table of a trace without losses does not mention losses") {
    CHECK(text_of(plain_input()).find("Lost") == std::string::npos);
}

TEST_CASE("an empty list gives an empty table") { CHECK(text_of({}).empty()); }

TEST_CASE("the empty table of a trace with losses shows the losses") {
    table_input input;
    input.health.dropped_newest = 1;
    CHECK(text_of(input) == "Lost records: 1 dropped (no free chunk)\n");
}

TEST_CASE("rows are sorted in descending order, and equal rows keep their order") {
    table_input input = plain_input();
    input.rows.push_back(row_of("again", 3, 0, 0));
    const auto csv = table_csv(input, {.sort_by = "count"});
    REQUIRE(csv.has_value());
    const auto parse = csv->find("\nparse,");
    const auto again = csv->find("\nagain,");
    const auto handle = csv->find("\nhandle,");
    CHECK(parse < again);
    CHECK(again < handle);
}

TEST_CASE("sorting by an unknown key fails and names the keys") {
    const auto text = table(plain_input(), {.sort_by = "colour"});
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().message.find("\"colour\"") != std::string::npos);
    CHECK(text.error().message.find(std::string(table_sort_keys())) != std::string::npos);
}

TEST_CASE("the row limit counts printed rows, and -1 means no limit") {
    CHECK(text_of(plain_input(), {.row_limit = 1}).find("parse") == std::string::npos);
    CHECK(text_of(plain_input(), {.row_limit = -1}).find("parse") != std::string::npos);
    CHECK(text_of(plain_input(), {.row_limit = 0}).find("handle") == std::string::npos);
}

TEST_CASE("the header and the note of a top-level table are above it, below lines of =") {
    table_options options;
    options.header = "before the fix";
    options.top_level_events_only = true;
    const std::string line(94, '=');
    CHECK(text_of(plain_input(), options)
              .starts_with(line + "\nbefore the fix\n" + line +
                           "\nThis report only display top-level ops statistics\n"));
}

TEST_CASE("a name is cut three characters before the widest column, as torch cuts it") {
    table_input input = plain_input();
    input.rows[0].name = std::string(52, 'n');
    CHECK(text_of(input).find(std::string(52, 'n') + "...") != std::string::npos);
    input.rows[0].name = std::string(51, 'n');
    CHECK(text_of(input).find(std::string(51, 'n') + "...") == std::string::npos);
    input.rows[0].name = std::string(5000, 'n');
    CHECK(text_of(input).size() < 1000);
}

TEST_CASE("the width of a name counts characters, not bytes") {
    table_input input = plain_input();
    input.rows[0].name = "gr\xc3\xb6\xc3\x9f\x65";
    CHECK(text_of(input).find("\n    gr\xc3\xb6\xc3\x9f\x65        62.50%") != std::string::npos);
}

TEST_CASE("a hostile name cannot leave its line or reach the terminal") {
    table_input input = plain_input();
    input.rows[0].name = hostile;
    const std::string text = text_of(input, {.max_name_column_width = 200});
    for (const char each : text) CHECK((each == '\n' || static_cast<unsigned char>(each) >= 0x20));
    CHECK(text.find("a\"b\\c\\nd\\te\\x1b[31m\\x01\\x7f\xef\xbf\xbd") != std::string::npos);
    CHECK(text.find("\xc2\x9b") == std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 7);
}

TEST_CASE("rows by line have a column of places, which keeps the end of a long place") {
    table_input input = plain_input();
    input.places = {"src/handler.cpp:12", std::string(100, 'p') + "/parse.cpp:7"};
    const std::string text = text_of(input);
    CHECK(text.find("Source Location") != std::string::npos);
    CHECK(text.find("  src/handler.cpp:12\n") != std::string::npos);
    CHECK(text.find("  ..." + std::string(60, 'p') + "/parse.cpp:7\n") != std::string::npos);
}

TEST_CASE("CSV has the documented header, integers, and an empty cell for an unknown figure") {
    table_input input = task_input();
    input.rows[0].category = "db,io";
    input.rows[1].unknown_count = input.rows[1].in_frame_count = 3;
    input.rows[1].cpu_time_total_ns = input.rows[1].self_cpu_time_total_ns = 0;
    input.rows[1].waiting_ns = input.rows[1].wall_ns = 9;
    const auto csv = table_csv(input);
    REQUIRE(csv.has_value());
    CHECK(*csv == "name,category,count,total_ns,self_ns,suspended_ns,queued_ns,waiting_ns,wall_ns,"
                  "min_wall_ns,"
                  "max_wall_ns,unknown_count\n"
                  "handle,\"db,io\",2,4000000,2500000,10000000,250000,750000,15000000,0,0,0\n"
                  "parse,,3,,,,,9,9,0,0,3\n");
}

/// The cell of a name in CSV.
std::string csv_cell(std::string_view name, const table_options& options = {}) {
    table_input input;
    input.rows = {row_of(std::string(name), 1, 1, 1)};
    const auto csv = table_csv(input, options);
    REQUIRE(csv.has_value());
    const std::size_t begin = csv->find('\n') + 1;
    return csv->substr(begin, csv->find(",,1,1,1", begin) - begin);
}

TEST_CASE("CSV quotes commas, quotes and line feeds, and doubles quotes") {
    CHECK(csv_cell("say \"hi\",\nthen") == "\"say \"\"hi\"\",\nthen\"");
}

TEST_CASE("CSV is valid UTF-8, and control characters are escapes in it") {
    CHECK(csv_cell(std::string_view("a\0b", 3)) == "a\\x00b");
    CHECK(csv_cell("\x1b[31m\x7f\t\r") == "\\x1b[31m\\x7f\\t\\r");
    CHECK(csv_cell("\xc2\x9bz") == "\\x9bz");
    CHECK(csv_cell("\xff\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
    CHECK(csv_cell("\u20AC") == "\u20AC");
}

TEST_CASE("CSV guards formulas in names on request only") {
    const table_options guarded{.guard_formulas = true};
    for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)"}) {
        CHECK(csv_cell(formula) == formula);
        CHECK(csv_cell(formula, guarded) == "'" + std::string(formula));
    }
    CHECK(csv_cell("\t=1", guarded) == "'\\t=1");
    CHECK(csv_cell("=a,b", guarded) == "\"'=a,b\"");
    CHECK(csv_cell("a=1", guarded) == "a=1");
}

TEST_CASE("JSON is valid for any bytes in names, and has null for an unknown figure") {
    table_input input = task_input();
    input.rows[0].name = hostile;
    input.rows[1].unknown_count = 3;
    input.health.warnings = {"odd \"chunk\"\n"};
    const auto text = table_json(input);
    REQUIRE(text.has_value());
    const json document = parse_json(*text);
    CHECK(document["self_cpu_time_total_ns"].integer() == 4'000'000);
    CHECK(document["rows"][0]["name"].text ==
          "a\"b\\c\nd\te\x1b["
          "31m\x01\x7f\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
          "\xc2\x9bz,\xe2\x82\xac");
    CHECK(document["rows"][0]["suspended_ns"].integer() == 10'000'000);
    CHECK(document["rows"][1]["suspended_ns"].is == json::kind::null);
    CHECK(document["health"]["warnings"][0].text == "odd \"chunk\"\n");
}

TEST_CASE("the JSON parser of these tests refuses malformed JSON") {
    for (const char* wrong : {"{\"a\":1,}", "[1 2]", "\"\x01\"", "\"\\x\"", "\"\xff\"", "01",
                              "{\"a\":1}x", "\"a", "nul"}) {
        CAPTURE(wrong);
        CHECK_THROWS(parse_json(wrong));
    }
}

}  // namespace
