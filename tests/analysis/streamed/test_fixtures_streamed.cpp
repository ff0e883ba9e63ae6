// SPDX-License-Identifier: Apache-2.0
// The traces of earlier versions give the same answers with and without all of their events.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../../support/trace_builder.hpp"
#include "equal_answers.hpp"

using namespace coroscope::test;
namespace analysis = coroscope::analysis;

TEST_CASE("fixtures give the same answers if only the scopes that these need are loaded") {
    int traces = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator(COROSCOPE_FIXTURES)) {
        if (each.path().extension() != ".cst") continue;
        CAPTURE(each.path());
        std::ifstream in(each.path(), std::ios::binary);
        const std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(in), {}};
        const auto buffer = truncated(bytes, bytes.size());
        for (const unsigned jobs : {1U, 4U}) {
            check_table(buffer, analysis::average_key::name, jobs);
            check_table(buffer, analysis::average_key::source_line, jobs);
            check_table(buffer, analysis::average_key::task, jobs);
        }
        check_answers(buffer);
        ++traces;
    }
    CHECK(traces > 5);
}
