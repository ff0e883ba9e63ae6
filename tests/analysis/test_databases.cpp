// SPDX-License-Identifier: Apache-2.0

// Databases of nvprof and Nsight Systems, made here.

#include "reading.hpp"

#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/nvprof.hpp>

#include <chrono>
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
using coroscope_tests::read_events;
using coroscope_tests::rows_of;

/// A file of its own that is gone with it.
class database_file {
public:
    explicit database_file(const std::string& commands)
        : path_(std::filesystem::temp_directory_path() /
                ("coroscope ?#%" + std::to_string(::getpid()) + ".sqlite")) {
        std::filesystem::remove(path_);
        run(commands);
    }
    ~database_file() { std::filesystem::remove(path_); }
    database_file(const database_file&) = delete;
    database_file& operator=(const database_file&) = delete;

    void run(const std::string& commands) const {
        sqlite3* database = nullptr;
        REQUIRE(sqlite3_open(path_.c_str(), &database) == SQLITE_OK);
        char* why = nullptr;
        sqlite3_exec(database, commands.c_str(), nullptr, nullptr, &why);
        CHECK_MESSAGE(why == nullptr, std::string(why == nullptr ? "" : why));
        sqlite3_close(database);
    }
    [[nodiscard]] std::string path() const { return path_; }
    [[nodiscard]] std::string bytes() const {
        std::ifstream input(path_, std::ios::binary);
        return {std::istreambuf_iterator<char>(input), {}};
    }

private:
    std::filesystem::path path_;
};

event_list loaded_from(const database_file& file) {
    auto loaded = load_events(file.path());
    INFO((loaded ? std::string() : loaded.error().message));
    REQUIRE(loaded.has_value());
    return std::move(*loaded);
}

std::string failure_of(const database_file& file) {
    const auto loaded = load_events(file.path());
    REQUIRE_FALSE(loaded.has_value());
    return loaded.error().message;
}

/// "name: count × total, self, device" of each key.
std::string averages_of(const event_list& list, event_selection select) {
    std::string text;
    for (const function_event_avg& row : key_averages(list, {.select = select}))
        text += row.name + ": " + std::to_string(row.count) + " x " +
                std::to_string(row.device == device_kind::cpu ? row.cpu_time_total_ns
                                                              : row.device_time_total_ns) +
                ", " + std::to_string(row.self_cpu_time_total_ns) + ", " +
                std::to_string(row.device_time_total_ns) + "; ";
    return text;
}

constexpr const char* nvprof_tables =
    "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT,"
    " id INT, objectKind INT, objectId BLOB, name INT, domain INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid INT, start INT,"
    " end INT, processId INT, threadId INT, correlationId INT, returnValue INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, start INT,"
    " end INT, correlationId INT, deviceId INT, streamId INT, name INT);"
    "INSERT INTO StringTable VALUES (1, 'outer'), (2, 'inner'), (3, '_Z3addif'), (4, 't');";

std::string marker(int id, int name, int begin, int end) {
    const auto row = [id](int when, int text) {
        return "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (NULL, 2, " + std::to_string(when) +
               ", " + std::to_string(id) + ", 0, NULL, " + std::to_string(text) + ", NULL);";
    };
    return row(begin, name) + (end < 0 ? "" : row(end, 0));
}

/// A call and, 1000 ns later, its kernel of 10 ns for each time that is given.
std::string launch(int correlation, int begin, int end, int cbid = 211, int kernels = 1) {
    const std::string id = std::to_string(correlation);
    std::string text = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (NULL, " +
                       std::to_string(cbid) + ", " + std::to_string(begin) + ", " +
                       std::to_string(end) + ", 1, 1, " + id + ", 0);";
    for (int each = 0; each < kernels; ++each)
        text += "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (NULL, " +
                std::to_string(begin + 1000 + each) + ", " + std::to_string(begin + 1010 + each) +
                ", " + id + ", 0, 7, 3);";
    return text;
}

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

TEST_CASE("kernels of nvprof's without a call ran on the device all the same, and are counted") {
    const std::string orphans =
        "INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (NULL, 300, 307, 99, 0, 7, 1),"
        " (NULL, 400, 409, NULL, 0, 7, 1);";
    const std::string warning =
        "kernels without a call of the runtime's that launched them, of no marker: 2";
    SUBCASE("beside others that have one") {
        const event_list list = loaded_from(database_file(nvprof_tables + marker(1, 1, 100, 1000) +
                                                          launch(10, 210, 220) + orphans));
        CHECK(averages_of(list, event_selection::cpu) == "outer: 1 x 900, 900, 10; ");
        CHECK(averages_of(list, event_selection::device) ==
              "outer: 2 x 16, 0, 16; add(int, float): 1 x 10, 0, 10; ");
        CHECK(self_device_time_total_ns(list) == 26);
        CHECK(list.health.warnings == std::vector<std::string>{warning});
    }
    SUBCASE("where no calls were recorded at all") {
        const event_list list = loaded_from(
            database_file(nvprof_tables + orphans + "DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME;"));
        CHECK(averages_of(list, event_selection::device) == "outer: 2 x 16, 0, 16; ");
        CHECK(list.health.warnings == std::vector<std::string>{warning});
    }
    SUBCASE("and one that is damaged is named with its table") {
        CHECK(failure_of(database_file(nvprof_tables + orphans +
                                       "UPDATE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL SET end = 1 "
                                       "WHERE _id_ = 2;")) ==
              "table CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, row 2: the kernel ends before it "
              "begins");
    }
}

TEST_CASE("kernels of one launch that began together are two") {
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
    SUBCASE("and one that two calls claim is one, of the marker that has one of the calls") {
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

TEST_CASE("an id that forty thousand markers have is refused at once") {
    const auto rows = [](int name) {
        return "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < "
               "20000) "
               "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER SELECT NULL, 2, n, 1, 0, NULL, " +
               std::to_string(name) + ", NULL FROM count;";
    };
    const database_file file(nvprof_tables + rows(1) + rows(0));
    const auto before = std::chrono::steady_clock::now();
    CHECK(failure_of(file) == "table CUPTI_ACTIVITY_KIND_MARKER, row 1: duplicate key: 1");
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
}

TEST_CASE("a correlation id of many calls and many kernels is refused at once") {
    const auto rows = [](const std::string& table, const std::string& values) {
        return "WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < "
               "20000) INSERT INTO CUPTI_ACTIVITY_KIND_" +
               table + " SELECT NULL, " + values + " FROM count;";
    };
    const database_file file(nvprof_tables + launch(9, 1, 2) +
                             rows("RUNTIME", "211, n, n + 1, 1, 1, 10, 0") +
                             rows("CONCURRENT_KERNEL", "n, n + 1, 10, 0, 7, 3"));
    const auto before = std::chrono::steady_clock::now();
    CHECK(failure_of(file) ==
          "table CUPTI_ACTIVITY_KIND_RUNTIME, row 2: correlation id 10 is that of 20000 calls and "
          "of 20000 kernels");
    CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(10));
}

TEST_CASE("kernels are launched by the calls that launch kernels") {
    for (const int cbid : {13, 211, 213, 214, 269, 270, 430, 431, 505, 506}) {
        const database_file file(nvprof_tables + marker(1, 1, 100, 900) +
                                 launch(10, 200, 300, cbid));
        CHECK(averages_of(loaded_from(file), event_selection::cpu) == "outer: 1 x 800, 800, 10; ");
    }
    CHECK(failure_of(
              database_file(nvprof_tables + marker(1, 1, 100, 900) + launch(10, 200, 300, 41))) ==
          "table CUPTI_ACTIVITY_KIND_RUNTIME, row 1: cbid 41 launched a kernel and is no known "
          "launch");
}

TEST_CASE("a database that is not what it should be is named with its table and row") {
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

TEST_CASE("a database that somebody is writing is not read") {
    const database_file file(nvprof_tables + marker(1, 1, 100, 200));
    sqlite3* writer = nullptr;
    REQUIRE(sqlite3_open(file.path().c_str(), &writer) == SQLITE_OK);
    REQUIRE(sqlite3_exec(writer, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) == SQLITE_OK);
    CHECK(failure_of(file) == "is locked: another program is still writing it");
    sqlite3_close(writer);
    CHECK(rows_of(loaded_from(file)) == "outer[100,200]");
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

constexpr const char* nsight_tables =
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT,"
    " endGlobalTid INT, textId INT, domainId INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT,"
    " correlationId INT, nameId INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT,"
    " correlationId INT, demangledName INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId INT,"
    " correlationId INT, copyKind INT);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INT);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1687813257637297504);"
    "INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'cudaLaunchKernel_v7000'),"
    " (3, 'add(int)'), (4, 'step');";

// Thread 9 of process 5, and thread 8.
constexpr const char* nsight_rows =
    "INSERT INTO NVTX_EVENTS VALUES"
    " (100, 1000, 59, NULL, (5 << 24) + 9, NULL, 4, 0), (200, 500, 59, 'inner', (5 << 24) + 9, "
    "NULL, NULL, 0),"
    " (50, NULL, 75, 'domain', 0, NULL, NULL, 1), (150, 1200, 60, 'wide', (5 << 24) + 9, (5 << 24) "
    "+ 8, NULL, 0);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
    " (210, 290, (5 << 24) + 9, 71, 1), (220, 280, (5 << 24) + 9, 71, 2), (1300, 1310, (5 << 24) + "
    "9, 72, 1);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 340, 0, 7, 71, 3), (1400, 1405, 0, 7, 72, "
    "3);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (2000, 2030, 0, 7, NULL, 1);";

TEST_CASE("Nsight's ranges nest, and what shares a correlation id is counted once") {
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

TEST_CASE("a range of Nsight's without an end lasts to the trace's") {
    const database_file file(
        std::string(nsight_tables) + nsight_rows +
        "INSERT INTO NVTX_EVENTS VALUES (1990, NULL, 59, 'open', 0, NULL, NULL, 0);");
    const event_list list = loaded_from(file);
    REQUIRE(list.health.warnings.size() == 1);
    CHECK(list.health.warnings[0].ends_with("to the trace's: 1"));
    CHECK(rows_of(list).find("open[1990,2030]") != std::string::npos);
}

TEST_CASE("what Nsight saw launched within a range without an end belongs to that range") {
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

// Were each range looked at for each call, this would take a minute.
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

TEST_CASE("correlation ids of Nsight's that two processes use are told apart") {
    const std::string rows =
        "INSERT INTO NVTX_EVENTS VALUES (100, 1000, 59, 'one', 1 << 24, NULL, NULL, 0),"
        " (100, 1000, 59, 'two', 2 << 24, NULL, NULL, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
        " (210, 290, 1 << 24, 7, 1), (220, 280, 2 << 24, 7, 1);";
    SUBCASE("where a kernel names its process") {
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
    SUBCASE("where it does not, the first that used the id has it") {
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
