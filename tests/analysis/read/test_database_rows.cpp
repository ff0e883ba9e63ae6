// SPDX-License-Identifier: Apache-2.0

// Odd rows of databases, launches of whole CUDA graphs, and the tables that are not read.

#include "database_file.hpp"

#include <coroscope/analysis/averages.hpp>

#include <string>
#include <vector>

namespace {

using namespace coroscope::analysis;
using namespace coroscope_tests;

using texts = std::vector<std::string>;

TEST_CASE("odd rows of Nsight's are left out, counted by reason, and refused on request") {
    const database_file file(
        std::string(nsight_tables) +
        "INSERT INTO NVTX_EVENTS VALUES (100, 1000, 59, 'good', 9, NULL, NULL, 0),"
        " (NULL, 300, 59, 'no start', 9, NULL, NULL, 0), (500, 400, 59, 'backwards', 9, NULL, "
        "NULL, 0),"
        " (700, 600, 59, 'backwards', 9, NULL, NULL, 0), (100, 200, 59, NULL, 9, NULL, 77, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (210, 290, 9, 71, 1), ('soon', 290, 9, 72, "
        "1);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 340, 0, 7, 71, 3), (300, 340, 'x', 7, "
        "71, 3);");
    const event_list list = loaded_from(file);
    CHECK(averages_of(list, event_selection::cpu) ==
          "good: 1 x 900, 900, 40; cudaLaunchKernel: 1 x 80, 80, 0; ");
    CHECK(averages_of(list, event_selection::device) == "add(int): 1 x 40, 0, 40; ");
    // NOLINTBEGIN(bugprone-suspicious-missing-comma): some of the texts have two lines
    CHECK(
        list.health.warnings ==
        texts{
            "rows left out of table NVTX_EVENTS (column start is no whole number; the first is row "
            "2): 1",
            "rows left out of table NVTX_EVENTS (it ends before it begins; the first is row 3): 2",
            "rows left out of table NVTX_EVENTS (its name is none of the table StringIds; the "
            "first is row 5): 1",
            "rows left out of table CUPTI_ACTIVITY_KIND_RUNTIME (column start is no whole number; "
            "the first is row 2): 1",
            "rows left out of table CUPTI_ACTIVITY_KIND_KERNEL (column deviceId is no whole "
            "number; the first is row 2): 1"});
    // NOLINTEND(bugprone-suspicious-missing-comma)
    CHECK(failure_of(file) == "table NVTX_EVENTS, row 2: column start is no whole number");
}

TEST_CASE("odd rows of nvprof's are left out, and their kernels stay") {
    const database_file file(
        nvprof_tables + marker(1, 1, 100, 1000) + marker(1, 2, 200, 300) + marker(2, 9, 100, 900) +
        marker(3, 2, 900, 800) + launch(10, 210, 220) + launch(11, 310, 320, 41) +
        "UPDATE CUPTI_ACTIVITY_KIND_MARKER SET timestamp = NULL WHERE _id_ = 8;");
    const event_list list = loaded_from(file);
    CHECK(averages_of(list, event_selection::device) == "add(int, float): 2 x 20, 0, 20; ");
    CHECK(list.health.lost_records() == false);
    bool counted = false;
    for (const std::string& each : list.health.warnings)
        counted =
            counted ||
            each.starts_with("rows left out of table CUPTI_ACTIVITY_KIND_MARKER (duplicate key;");
    CHECK(counted);
}

TEST_CASE("a database of odd rows alone is refused") {
    const auto loaded = load_events(database_file(nvprof_tables + marker(1, 1, 200, 100)).path());
    REQUIRE_FALSE(loaded.has_value());
    CHECK(loaded.error().message ==
          "table CUPTI_ACTIVITY_KIND_MARKER, row 1: the marker ends before it begins");
}

constexpr const char* graph_table =
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT, end INT, deviceId INT, contextId INT,"
    " streamId INT, correlationId INT, globalPid INT, graphId INT, graphExecId INT);";

TEST_CASE("a launch of a whole CUDA graph is device work of the range around the launch") {
    const database_file file(
        std::string(nsight_tables) + graph_table +
        "INSERT INTO NVTX_EVENTS VALUES (100, 1000, 59, 'step', 9, NULL, NULL, 0);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (210, 290, 9, 71, 1);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (300, 900, 0, 1, 7, 71, NULL, 109, "
        "1);");
    const event_list list = loaded_from(file);
    CHECK(averages_of(list, event_selection::device) == "CUDA graph 109: 1 x 600, 0, 600; ");
    CHECK(averages_of(list, event_selection::cpu) ==
          "step: 1 x 900, 900, 600; cudaLaunchKernel: 1 x 80, 80, 0; ");
    CHECK(list.health.warnings.empty());
}

TEST_CASE("a CUDA graph whose nodes were recorded adds no time to theirs") {
    const database_file file(std::string(nsight_tables) + graph_table +
                             "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (210, 290, 9, 71, 1);"
                             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (300, 340, 0, 7, 71, "
                             "3), (350, 380, 0, 7, 71, 3);"
                             "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (300, 380, 0, 1, "
                             "7, 71, NULL, 109, 1);");
    const event_list list = loaded_from(file);
    CHECK(averages_of(list, event_selection::device) == "add(int): 2 x 70, 0, 70; ");
    CHECK(list.health.warnings ==
          texts{"launches of CUDA graphs whose nodes are rows of their own, left out: 1"});
}

TEST_CASE("a warning names Nsight's tables with intervals that are not read") {
    const database_file file(std::string(nsight_tables) + nsight_rows +
                             "CREATE TABLE OSRT_API(start INT, end INT, nameId INT);"
                             "CREATE TABLE MPI_P2P_EVENTS(start INT, end INT);"
                             "INSERT INTO OSRT_API VALUES (1, 2, 1), (2, 3, 1);");
    CHECK(loaded_from(file).health.warnings ==
          texts{"tables with intervals that are not read, with their rows: OSRT_API (2)"});
}

}  // namespace
