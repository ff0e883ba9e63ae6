// SPDX-License-Identifier: Apache-2.0

// Sessions on full disks: the service goes on, and every lost record is counted.

#include <cerrno>
#include <sstream>

#include "../../support/skip.hpp"
#include "../../support/small_disk.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

void check_full(const std::string& path, const program_end& end, int error) {
    CAPTURE(end.output);
    REQUIRE(end.signal() == 0);
    REQUIRE(end.exit_code() == 0);
    std::istringstream said(end.output);
    std::uint64_t attempted = 0;
    int said_error = 0;
    std::string message;
    said >> attempted >> said_error;
    std::getline(said, message);
    CHECK(said_error == error);
    CHECK(message == " The trace cannot grow: records may be lost.");
    const analysis::trace trace = load(path);
    CHECK(trace.health.finished);
    CHECK(trace.health.write_error == error);
    CHECK(trace.health.dropped_newest > 0);
    CHECK(count_steps(trace) > 100'000);
    CHECK(count_steps(trace) + trace.health.dropped_newest == attempted);
    CHECK(count(trace, "step 4") > 0);
}

void fill_disk(const std::string& type) {
    const small_disk disk(type);
    if (!disk.refusal().empty()) {
        COROSCOPE_SKIP(disk.refusal());
        return;
    }
    check_full(disk.path(), run_program({"fill", disk.path()}), ENOSPC);
}

}  // namespace

TEST_SUITE("full disks") {
    TEST_CASE("a full tmpfs costs counted records, not the service") { fill_disk("tmpfs"); }

    TEST_CASE("a full ext4 costs counted records, not the service") { fill_disk("ext4"); }

    TEST_CASE("a file size limit costs counted records, and no signal reaches the service") {
        const scratch_file file;
        check_full(file.path(), run_program({"fill", file.path(), std::to_string(6 << 20)}), EFBIG);
    }

    TEST_CASE("a disk that has no room for the beginning of a trace refuses the session and keeps "
              "no file") {
        const scratch_file file;
        const program_end end = run_program({"fill", file.path(), "1000"});
        CHECK(end.signal() == 0);
        std::string too_big(" ");
        too_big.append(std::to_string(EFBIG)).append(" ");
        CHECK(end.output.find(too_big) != std::string::npos);
        CHECK(::access(file.path(), F_OK) != 0);
    }
}
