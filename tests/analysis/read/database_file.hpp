// SPDX-License-Identifier: Apache-2.0
#pragma once

// Databases of nvprof and Nsight Systems, made for tests.

#include "../reading.hpp"

#include <coroscope/analysis/averages.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sqlite3.h>
#include <unistd.h>

namespace coroscope_tests {

using namespace coroscope::analysis;

/// A database in a file of its own, which the destructor removes.
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

inline event_list loaded_from(const database_file& file) {
    auto loaded = load_events(file.path());
    INFO((loaded ? std::string() : loaded.error().message));
    REQUIRE(loaded.has_value());
    return std::move(*loaded);
}

/// The error of a strict load, which refuses odd rows.
inline std::string failure_of(const database_file& file) {
    const auto loaded = load_events(file.path(), {.strict = true});
    REQUIRE_FALSE(loaded.has_value());
    return loaded.error().message;
}

/// "name: count × total, self, device" of each key.
inline std::string averages_of(const event_list& list, event_selection select) {
    std::string text;
    for (const function_event_avg& row : key_averages(list, {.select = select}))
        text += row.name + ": " + std::to_string(row.count) + " x " +
                std::to_string(row.device == device_kind::cpu ? row.cpu_time_total_ns
                                                              : row.device_time_total_ns) +
                ", " + std::to_string(row.self_cpu_time_total_ns) + ", " +
                std::to_string(row.device_time_total_ns) + "; ";
    return text;
}

inline constexpr const char* nvprof_tables =
    "CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT,"
    " id INT, objectKind INT, objectId BLOB, name INT, domain INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid INT, start INT,"
    " end INT, processId INT, threadId INT, correlationId INT, returnValue INT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, start INT,"
    " end INT, correlationId INT, deviceId INT, streamId INT, name INT);"
    "INSERT INTO StringTable VALUES (1, 'outer'), (2, 'inner'), (3, '_Z3addif'), (4, 't');";

inline std::string marker(int id, int name, int begin, int end) {
    const auto row = [id](int when, int text) {
        return "INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES (NULL, 2, " + std::to_string(when) +
               ", " + std::to_string(id) + ", 0, NULL, " + std::to_string(text) + ", NULL);";
    };
    return row(begin, name) + (end < 0 ? "" : row(end, 0));
}

/// A call and, 1000 ns later, its kernels of 10 ns each.
inline std::string launch(int correlation, int begin, int end, int cbid = 211, int kernels = 1) {
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

inline constexpr const char* nsight_tables =
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
inline constexpr const char* nsight_rows =
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

}  // namespace coroscope_tests
