// SPDX-License-Identifier: Apache-2.0

// Databases of nvprof and Nsight Systems, made here.

#include "database_file.hpp"

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/nvprof.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <sqlite3.h>
#include <unistd.h>

namespace {

using namespace coroscope::analysis;
using namespace coroscope_tests;

TEST_CASE("nvprof's markers are events by start, with the kernels launched strictly inside") {
    const database_file file(nvprof_tables + marker(2, 2, 200, 500) + marker(1, 1, 100, 1000) +
                             marker(4, 4, 3000, -1) + launch(10, 210, 220) + launch(11, 200, 230) +
                             launch(12, 900, 1000) + launch(13, 5000, 5001));
    const auto events = parse_nvprof_trace(file.path());
    REQUIRE(events.has_value());
    REQUIRE(events->size() == 2);
    const nvprof_event& outer = (*events)[0];
    const nvprof_event& inner = (*events)[1];
    CHECK(outer.name == "outer");
    CHECK(outer.start_ns == 100);
    CHECK(outer.end_ns == 1000);
    REQUIRE(outer.kernels.size() == 2);  // 12 ends with the marker, 13 is outside
    CHECK(outer.kernels[0].correlation == 11);
    CHECK(outer.kernels[1].correlation == 10);
    REQUIRE(inner.kernels.size() == 1);  // 11 begins with the marker
    CHECK(inner.kernels[0].correlation == 10);
    CHECK(inner.kernels[0].name == "add(int, float)");
    CHECK(inner.kernels[0].stream == 7);

    const event_list list = loaded_from(file);
    CHECK(averages_of(list, event_selection::cpu) ==
          "outer: 1 x 900, 600, 20; inner: 1 x 300, 300, 10; ");
    CHECK(averages_of(list, event_selection::device) == "add(int, float): 4 x 40, 0, 40; ");
    CHECK(list.health.warnings ==
          std::vector<std::string>{"kernels launched outside all markers, which belong to none: 2",
                                   "markers without an end, left out: 1"});
    CHECK(load_nvprof(file.path())->rows.size() == list.rows.size());
}

TEST_CASE("kernels of nvprof's without a call are work of the device, and are counted") {
    const std::string orphans =
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (NULL, 300, 307, 99, 0, 7, 1),"
        " (NULL, 400, 409, NULL, 0, 7, 1);";
    const std::string warning =
        "kernels without a call of the runtime's that launched them, of no marker: 2";
    SUBCASE("other kernels have a call") {
        const event_list list = loaded_from(database_file(nvprof_tables + marker(1, 1, 100, 1000) +
                                                          launch(10, 210, 220) + orphans));
        CHECK(averages_of(list, event_selection::cpu) == "outer: 1 x 900, 900, 10; ");
        CHECK(averages_of(list, event_selection::device) ==
              "outer: 2 x 16, 0, 16; add(int, float): 1 x 10, 0, 10; ");
        CHECK(self_device_time_total_ns(list) == 26);
        CHECK(list.health.warnings == std::vector<std::string>{warning});
    }
    SUBCASE("no calls were recorded at all") {
        const event_list list = loaded_from(
            database_file(nvprof_tables + orphans + "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"));
        CHECK(averages_of(list, event_selection::device) == "outer: 2 x 16, 0, 16; ");
        CHECK(list.health.warnings == std::vector<std::string>{warning});
    }
    SUBCASE("a damaged kernel is an error that names its table") {
        CHECK(failure_of(database_file(nvprof_tables + orphans +
                                       "UPDATE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SET end = 1 "
                                       "WHERE _id_ = 2;")) ==
              "table CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, row 2: the kernel ends before it "
              "begins");
    }
}

TEST_CASE("two kernels of one launch that began together count as two") {
    const std::string twin =
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (NULL, 1210, 1213, 10, 1, 7, 4);";
    SUBCASE("outside all markers") {
        const event_list list =
            loaded_from(database_file(nvprof_tables + launch(10, 210, 220) + twin));
        CHECK(averages_of(list, event_selection::device) ==
              "add(int, float): 1 x 10, 0, 10; t: 1 x 3, 0, 3; ");
        CHECK(list.health.warnings ==
              std::vector<std::string>{
                  "kernels launched outside all markers, which belong to none: 2"});
    }
    SUBCASE("a kernel that two calls claim counts once, for the marker around one of the calls") {
        const event_list list =
            loaded_from(database_file(nvprof_tables + marker(1, 1, 200, 300) +
                                      launch(10, 210, 220) + launch(10, 410, 420, 211, 0)));
        CHECK(averages_of(list, event_selection::device) == "add(int, float): 1 x 10, 0, 10; ");
        CHECK(averages_of(list, event_selection::cpu) == "outer: 1 x 100, 100, 10; ");
        CHECK(list.health.warnings.empty());
    }
}

TEST_CASE("a name of one letter is a name, not a mangled type") {
    const database_file file(nvprof_tables + marker(1, 4, 100, 200));
    CHECK(rows_of(loaded_from(file)) == "t[100,200]");
}

TEST_CASE("a marker's id and a pair of marker and launch may occur once") {
    CHECK(failure_of(
              database_file(nvprof_tables + marker(1, 1, 100, 200) + marker(1, 2, 300, 400))) ==
          "table CUPTI_ACTIVITY_KIND_MARKER, row 1: duplicate key: 1");
    CHECK(failure_of(database_file(nvprof_tables + marker(8, 1, 100, 900) +
                                   launch(10, 200, 300, 211, 2))) ==
          "table CUPTI_ACTIVITY_KIND_RUNTIME, row 1: duplicate key: (8, 1)");
}

// A search that visits each pair of them makes twenty thousand million visits.
TEST_CASE("an id that two hundred thousand markers have is refused") {
    const auto rows = [](int name) {
        return "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < "
               "100000) "
               "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER SELECT NULL, 2, n, 1, 0, NULL, " +
               std::to_string(name) + ", NULL FROM count;";
    };
    const database_file file(nvprof_tables + rows(1) + rows(0));
    CHECK(failure_of(file) == "table CUPTI_ACTIVITY_KIND_MARKER, row 1: duplicate key: 1");
}

// Its ten thousand million pairs would not fit into memory.
TEST_CASE("a correlation id of many calls and many kernels is refused") {
    const auto rows = [](const std::string& table, const std::string& values) {
        return "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < "
               "100000) INSERT INTO CUPTI_ACTIVITY_KIND_" +
               table + " SELECT NULL, " + values + " FROM count;";
    };
    const database_file file(nvprof_tables + launch(9, 1, 2) +
                             rows("RUNTIME", "211, n, n + 1, 1, 1, 10, 0") +
                             rows("CONCURRENT_KERNEL", "n, n + 1, 10, 0, 7, 3"));
    CHECK(failure_of(file) == "table CUPTI_ACTIVITY_KIND_RUNTIME, row 2: correlation id of several "
                              "calls and kernels: 10 is "
                              "that of 100000 calls and of 100000 kernels");
}

TEST_CASE("only calls that are known to launch kernels launch kernels") {
    for (const int cbid : {13, 211, 213, 214, 269, 270, 430, 431, 505, 506}) {
        const database_file file(nvprof_tables + marker(1, 1, 100, 900) +
                                 launch(10, 200, 300, cbid));
        CHECK(averages_of(loaded_from(file), event_selection::cpu) == "outer: 1 x 800, 800, 10; ");
    }
    CHECK(failure_of(
              database_file(nvprof_tables + marker(1, 1, 100, 900) + launch(10, 200, 300, 41))) ==
          "table CUPTI_ACTIVITY_KIND_RUNTIME, row 1: it launched a kernel and is no known launch: "
          "cbid "
          "41");
}

TEST_CASE("the error of a malformed database names its table and row") {
    CHECK(failure_of(database_file("CREATE TABLE t(x);")) ==
          "is a database, but neither nvprof's nor that of Nsight Systems");
    CHECK(failure_of(database_file(nvprof_tables + marker(1, 9, 100, 200))) ==
          "table CUPTI_ACTIVITY_KIND_MARKER, row 1: its name is none of the table StringTable");
    CHECK(failure_of(database_file(nvprof_tables + marker(1, 1, 200, 100))) ==
          "table CUPTI_ACTIVITY_KIND_MARKER, row 1: the marker ends before it begins");
    database_file text(nvprof_tables + marker(1, 1, 100, 200));
    text.run("UPDATE CUPTI_ACTIVITY_KIND_MARKER SET timestamp = 'soon' WHERE _id_ = 1");
    CHECK(failure_of(text) ==
          "table CUPTI_ACTIVITY_KIND_MARKER, row 1: column timestamp is no whole number");
    CHECK(failure_of(database_file("CREATE TABLE StringTable(x);"
                                   "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(x);"))
              .starts_with("table StringTable: no such column"));
    CHECK_FALSE(parse_nvprof_trace("/nowhere.sqlite").has_value());
}

TEST_CASE("a database that another program is writing is refused") {
    const database_file file(nvprof_tables + marker(1, 1, 100, 200));
    sqlite3* writer = nullptr;
    REQUIRE(sqlite3_open(file.path().c_str(), &writer) == SQLITE_OK);
    REQUIRE(sqlite3_exec(writer, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) == SQLITE_OK);
    CHECK(failure_of(file) == "is locked: another program is still writing it");
    sqlite3_close(writer);
    CHECK(rows_of(loaded_from(file)) == "outer[100,200]");
}

/// The suffixes of SQLite's own files beside a database.
std::vector<std::string> files_beside(const std::string& path) {
    std::vector<std::string> found;
    for (const char* more : {"-wal", "-shm", "-journal"})
        if (std::filesystem::exists(path + more)) found.emplace_back(more);
    return found;
}

TEST_CASE("reading a database with a write-ahead log leaves no file beside it") {
    const database_file file("PRAGMA journal_mode=WAL;" + std::string(nvprof_tables) +
                             marker(1, 1, 100, 200));
    REQUIRE(files_beside(file.path()).empty());
    CHECK(rows_of(loaded_from(file)) == "outer[100,200]");
    CHECK(files_beside(file.path()).empty());
}

TEST_CASE(
    "rows that are only in a database's write-ahead log are read, and the log keeps its size") {
    const database_file file("PRAGMA journal_mode=WAL;" + std::string(nvprof_tables));
    sqlite3* writer = nullptr;
    REQUIRE(sqlite3_open(file.path().c_str(), &writer) == SQLITE_OK);
    REQUIRE(sqlite3_exec(writer, marker(1, 1, 100, 200).c_str(), nullptr, nullptr, nullptr) ==
            SQLITE_OK);
    const auto log_bytes = std::filesystem::file_size(file.path() + "-wal");
    CHECK(rows_of(loaded_from(file)) == "outer[100,200]");
    CHECK(std::filesystem::file_size(file.path() + "-wal") == log_bytes);
    sqlite3_close(writer);
}

TEST_CASE("a database with a computed column is refused with that reason") {
    std::string computed = nvprof_tables;
    const std::string stored = "value TEXT";
    computed.replace(computed.find(stored), stored.size(),
                     "k INT, value TEXT AS (printf('%.*c', 100000000, 'x'))");
    computed.erase(computed.find("INSERT"));
    const database_file file(computed + "INSERT INTO StringTable VALUES (1, 1);" +
                             marker(1, 1, 100, 200));
    CHECK(failure_of(file) == "has a column that is computed, which no profiler writes");
    const auto in_memory = read_events(file.bytes());
    REQUIRE_FALSE(in_memory.has_value());
    CHECK(in_memory.error().message == "has a column that is computed, which no profiler writes");
}

TEST_CASE("a path of a database may begin with any number of slashes, or be relative") {
    const database_file file(nvprof_tables + marker(1, 1, 100, 200));
    for (const std::string& path :
         {"/" + file.path(), "//" + file.path(), std::filesystem::relative(file.path()).string()}) {
        CAPTURE(path);
        const auto loaded = load_events(path);
        REQUIRE(loaded.has_value());
        CHECK(rows_of(*loaded) == "outer[100,200]");
    }
}

TEST_CASE("Nsight's ranges nest, and a kernel of two calls with one correlation id counts once") {
    const database_file file(std::string(nsight_tables) + nsight_rows);
    const event_list list = loaded_from(file);
    CHECK(averages_of(list, event_selection::cpu) ==
          "step: 1 x 900, 600, 40; wide: 1 x 1050, 0, 0; inner: 1 x 300, 300, 40; "
          "cudaLaunchKernel: 2 x 90, 30, 5; cudaLaunchKernel_v7000: 1 x 60, 60, 0; ");
    CHECK(averages_of(list, event_selection::device) ==
          "add(int): 2 x 45, 0, 45; Memcpy HtoD: 1 x 30, 0, 30; ");
    CHECK(list.base_realtime_ns == 1'687'813'257'637'297'504);
    CHECK(list.health.warnings.empty());
    CHECK(list.text(list.threads[list.rows[0].thread].process) == "5");
    CHECK(list.text(list.threads[list.rows[0].thread].thread) == "9");
}

TEST_CASE("a range of Nsight's without an end lasts until the trace's end") {
    const database_file file(
        std::string(nsight_tables) + nsight_rows +
        "INSERT INTO NVTX_EVENTS VALUES (1990, NULL, 59, 'open', 0, NULL, NULL, 0);");
    const event_list list = loaded_from(file);
    REQUIRE(list.health.warnings.size() == 1);
    CHECK(list.health.warnings[0].ends_with("to the trace's: 1"));
    CHECK(rows_of(list).find("open[1990,2030]") != std::string::npos);
}

TEST_CASE("a launch within a range of Nsight's without an end belongs to that range") {
    const database_file file(
        std::string(nsight_tables) +
        "INSERT INTO NVTX_EVENTS VALUES"
        " (100, NULL, 59, 'open', 9, NULL, NULL, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (210, 290, 9, 71, 1);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 340, 0, 7, 71, 3);");
    CHECK(averages_of(loaded_from(file), event_selection::cpu) ==
          "open: 1 x 240, 240, 40; cudaLaunchKernel: 1 x 80, 80, 0; ");
}

TEST_CASE(
    "a call of Nsight's belongs to the range around it that began last, however ranges overlap") {
    const database_file file(
        std::string(nsight_tables) +
        "INSERT INTO NVTX_EVENTS VALUES"
        " (100, 1000, 59, 'wide', 9, NULL, NULL, 0), (200, 400, 59, 'early', 9, NULL, NULL, 0),"
        " (300, 600, 59, 'late', 9, NULL, NULL, 0), (450, 460, 59, 'short', 9, NULL, NULL, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (250, 260, 9, 1, 1), (310, 320, 9, 2, 1),"
        " (452, 470, 9, 3, 1), (455, 460, 9, 4, 1), (590, 610, 9, 5, 1), (990, 1001, 9, 6, 1);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 2001, 0, 7, 1, 3), (2100, 2110, 0, "
        "7, "
        "2, 3), (2200, 2300, 0, 7, 3, 3), (3000, 4000, 0, 7, 4, 3), (5000, 15000, 0, 7, 5, 3),"
        " (20000, 120000, 0, 7, 6, 3);");
    const event_list list = loaded_from(file);
    std::string own;
    for (const function_event each : list)
        if (each.is_user_annotation())
            own.append(each.name())
                .append(" ")
                .append(std::to_string(each.self_device_time_total_ns()))
                .append("; ");
    CHECK(own == "wide 10000; early 1; late 110; short 1000; ");
}

// A reader that visits each range for each call would take a minute.
TEST_CASE("calls of Nsight's inside a hundred thousand open ranges are read") {
    const database_file file(
        std::string(nsight_tables) +
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)"
        " INSERT INTO NVTX_EVENTS SELECT i, NULL, 59, 'open ' || i, 9, NULL, NULL, 0 FROM n;"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)"
        " INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 100000 + i, 100000 + i, 9, i + 1, 1 FROM "
        "n;");
    CHECK(loaded_from(file).size() == 200'000);
}

TEST_CASE("correlation ids of Nsight's that two processes use are kept apart") {
    const std::string rows =
        "INSERT INTO NVTX_EVENTS VALUES (100, 1000, 59, 'one', 1 << 24, NULL, NULL, 0),"
        " (100, 1000, 59, 'two', 2 << 24, NULL, NULL, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
        " (210, 290, 1 << 24, 7, 1), (220, 280, 2 << 24, 7, 1);";
    SUBCASE("kernels name their process") {
        const database_file file(
            std::string(nsight_tables) + rows +
            "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN globalPid INT;"
            "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD COLUMN globalPid INT;"
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
            " (300, 340, 0, 7, 7, 3, 1 << 24), (300, 305, 1, 7, 7, 3, 2 << 24);"
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (500, 502, 1, 7, 7, 1, 2 << 24);");
        const event_list list = loaded_from(file);
        CHECK(averages_of(list, event_selection::cpu) ==
              "one: 1 x 900, 900, 40; two: 1 x 900, 900, 7; cudaLaunchKernel: 2 x 140, 140, 0; ");
        CHECK(list.rows[2].correlation == 7);
        CHECK(list.rows[3].correlation != 7);
    }
    SUBCASE("a kernel that names no process belongs to the first call of its id") {
        const database_file file(
            std::string(nsight_tables) + rows +
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 340, 0, 7, 7, 3);");
        CHECK(averages_of(loaded_from(file), event_selection::cpu) ==
              "one: 1 x 900, 900, 40; two: 1 x 900, 900, 0; cudaLaunchKernel: 2 x 140, 140, 0; ");
    }
}

TEST_CASE("a database in memory is read as one in a file") {
    const database_file file(std::string(nsight_tables) + nsight_rows);
    const auto loaded = read_events(file.bytes());
    REQUIRE(loaded.has_value());
    CHECK(rows_of(*loaded) == rows_of(loaded_from(file)));
}

TEST_CASE("a database with any part damaged is read or refused") {
    const database_file file(std::string(nsight_tables) + nsight_rows);
    const std::string good = file.bytes();
    for (std::size_t at = 0; at < good.size(); at += 7) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x55);
        const auto loaded = read_events(bad);
        if (!loaded) CHECK_FALSE(loaded.error().message.empty());
        if (at % 49 == 0) static_cast<void>(read_events(good.substr(0, at)));
    }
}

}  // namespace
