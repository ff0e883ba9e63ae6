// SPDX-License-Identifier: Apache-2.0

// What a system does to a process that records: tables that are full, another program, privileges.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "../support/skip.hpp"
#include "hostile_runs.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr uid_t nobody = 65534;

// Runs a copy of the program, with these permissions and an environment that asks for everything, as nobody.
program_end run_as_nobody(const scratch_file& file, mode_t permissions) {
    const std::string copy = file.folder() + "/program";
    std::filesystem::copy_file(STATIC_PROGRAM, copy);
    REQUIRE(::chmod(copy.c_str(), permissions) == 0);
    REQUIRE(::chmod(file.folder().c_str(), 0777) == 0);
    const scratch_file output;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(126);
        for (const char* each : {"COROSCOPE_LIVE", "COROSCOPE_ANOMALY", "COROSCOPE_CRASH"})
            ::setenv(each, "1", 1);
        ::setenv("COROSCOPE_TRACE", file.path(), 1);
        ::execl(copy.c_str(), "program", "steps", "5", nullptr);
        ::_exit(127);
    }
    program_end end;
    REQUIRE(::waitpid(child, &end.status, 0) == child);
    std::filesystem::remove(copy);
    return end;
}

}  // namespace

TEST_SUITE("processes") {
    TEST_CASE("where there is no room for more places in the source, that is said once and takes "
              "no memory") {
        const program_end end = run_program({"places", "20000"});
        CHECK(end.exit_code() == 0);
        std::istringstream output(end.output);
        std::string told;
        REQUIRE(static_cast<bool>(std::getline(output, told)));
        CHECK(holds(told, "coroscope: the table of places of awaits"));
        std::size_t known = 0;
        std::size_t known_later = 0;
        std::uint64_t kib = 0;
        REQUIRE(static_cast<bool>(output >> known >> known_later >> kib));
        CHECK(known > 14'000);
        CHECK(known_later == 0);
        if (!sanitized) CHECK(kib < 1024);
    }

    TEST_CASE("a thread's first scope leaves errno as it was where no file can be opened") {
        // The leaks' search at the end would need files.
        CHECK(run_program({"errno"}, {{"LSAN_OPTIONS", "detect_leaks=0"}}).exit_code() == 0);
    }

    TEST_CASE("a process that becomes another program begins its trace anew, and whole") {
        const scratch_file file;
        CHECK(run({"exec", "6"}, {{"COROSCOPE_TRACE", file.path()}}).exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 3 + 6 + 4);  // the static object's around its own
    }
}

TEST_SUITE("privileges") {
    TEST_CASE("a program that gained privileges ignores the environment") {
        const scratch_file file;
        struct statvfs system{};
        ::statvfs(file.folder().c_str(), &system);
        if (::geteuid() != 0 || (system.f_flag & ST_NOSUID) != 0) {
            COROSCOPE_SKIP("not root, or no setuid programs in the temporary folder");
            return;
        }
        REQUIRE(run_as_nobody(file, 0755).exit_code() == 0);
        CHECK(count_steps(load(std::string(file.path()))) == 12);  // as it is without privileges
        std::filesystem::remove(file.path());
        CHECK(run_as_nobody(file, 04755).exit_code() == 0);
        CHECK_FALSE(std::filesystem::exists(file.path()));
    }
}
