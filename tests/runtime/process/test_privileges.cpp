// SPDX-License-Identifier: Apache-2.0

// A program that gains privileges as it starts ignores its user's environment.

#include <filesystem>
#include <string>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "../../support/skip.hpp"
#include "../support/program_runs.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr int gained_privileges = 10;  // privileged_program's exit code
constexpr unsigned capability = CAP_NET_BIND_SERVICE;

void become_nobody() {
    constexpr uid_t nobody = 65534;
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(126);
}

// A copy of the program in a folder in which the user `nobody` may run it and make a trace.
class installed_program {
public:
    explicit installed_program(mode_t permissions) : path_(file_.folder() + "/program") {
        std::filesystem::copy_file(PRIVILEGED_PROGRAM, path_);
        REQUIRE(::chmod(path_.c_str(), permissions) == 0);
        REQUIRE(::chmod(file_.folder().c_str(), 0777) == 0);
    }
    installed_program(const installed_program&) = delete;
    installed_program& operator=(const installed_program&) = delete;
    ~installed_program() { std::filesystem::remove(path_); }

    const std::string& path() const { return path_; }
    std::string trace() const { return file_.path(); }

    // Runs the program as the user `nobody`. Returns its output, and a line "trace" if it made a
    // trace. Without ThreadSanitizer's options: the user may not read the file that they name.
    std::string run(variables environment, int exit_code) const {
        environment.emplace_back("TSAN_OPTIONS", "");
        const program_end end = run_program({}, environment, path_, become_nobody);
        CHECK(end.exit_code() == exit_code);
        return end.output + (std::filesystem::remove(trace()) ? "trace\n" : "");
    }

private:
    scratch_file file_;
    std::string path_;
};

struct request {
    variables environment;
    std::string answer;  // a part of the output if the program honours the request
};
std::vector<request> requests(const std::string& trace) {
    return {{{{"COROSCOPE_LIVE", "1"}}, "live\n"},
            {{{"COROSCOPE_ANOMALY", "1"}}, " failed with std::runtime_error: as it should"},
            {{{"COROSCOPE_CLOCK", "monotonic"}}, "monotonic\n"},
            {{{"COROSCOPE_TRACE", trace}}, "trace\n"},
            {{{"COROSCOPE_TRACE", trace}, {"COROSCOPE_CRASH", "1"}}, "crash\n"},
            {{{"COROSCOPE_TRACE", trace}, {"COROSCOPE_POLICY", "none"}}, "COROSCOPE_POLICY is"},
            {{{"COROSCOPE_TRACE", trace}, {"COROSCOPE_LIMIT", "none"}}, "COROSCOPE_LIMIT is"}};
}

void check_ignores_all(const installed_program& program) {
    const std::string unasked = program.run({}, gained_privileges);
    for (const request& each : requests(program.trace())) {
        CAPTURE(each.answer);
        CHECK(program.run(each.environment, gained_privileges) == unasked);
    }
}

// The reason why programs gain no privileges here; empty if they do.
std::string obstacle(const installed_program& program) {
    if (::geteuid() != 0) return "not root";
    if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) return "no program gains privileges here";
    struct statvfs system{};
    ::statvfs(program.path().c_str(), &system);
    return (system.f_flag & ST_NOSUID) != 0 ? "no setuid programs in the temporary folder" : "";
}

bool give_capability(const std::string& path) {
    vfs_cap_data given{};
    given.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
    given.data[0].permitted = 1U << capability;
    return ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1 &&
           ::setxattr(path.c_str(), "security.capability", &given, sizeof given, 0) == 0;
}

}  // namespace

TEST_SUITE("privileges") {
    TEST_CASE("a program without gained privileges does all that the environment asks") {
        if (::geteuid() != 0) {
            COROSCOPE_SKIP("not root, who alone may become another user");
            return;
        }
        const installed_program program(0755);
        for (const request& each : requests(program.trace())) {
            CAPTURE(each.answer);
            const std::string said = program.run(each.environment, 0);
            CAPTURE(said);
            CHECK(said.find(each.answer) != std::string::npos);
        }
    }

    TEST_CASE("a setuid program ignores the environment") {
        const installed_program program(04755);
        if (const std::string found = obstacle(program); !found.empty()) {
            COROSCOPE_SKIP(found);
            return;
        }
        check_ignores_all(program);
    }

    TEST_CASE("a program whose file has capabilities ignores the environment") {
        const installed_program program(0755);
        if (const std::string found = obstacle(program); !found.empty()) {
            COROSCOPE_SKIP(found);
            return;
        }
        if (!give_capability(program.path())) {
            COROSCOPE_SKIP("no file in the temporary folder may have capabilities");
            return;
        }
        check_ignores_all(program);
    }
}
