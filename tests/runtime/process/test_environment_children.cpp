// SPDX-License-Identifier: Apache-2.0

// The files of processes that a recorded process forks or starts: each process has a file of its
// own, and replaces no file of another.

#include <filesystem>
#include <string>
#include <vector>

#include "../../support/skip.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// LeakSanitizer cannot look for leaks in a forked child: it takes the parent's threads for the
// child's.
const variables without_leak_checks{{"LSAN_OPTIONS", "detect_leaks=0"}};

// The file of the child process with that id.
std::string path_of(const scratch_file& file, const std::string& id) {
    return std::string(file.path()) + "." + std::to_string(std::stol(id));
}

void remove_others(const scratch_file& file) {
    for (const auto& each : std::filesystem::directory_iterator(file.folder()))
        std::filesystem::remove(each.path());
}

#if defined(__SANITIZE_THREAD__)
constexpr bool copies_record = false;
#else
constexpr bool copies_record = true;
#endif

}  // namespace

TEST_SUITE("children of the environment") {
    TEST_CASE("a child program that inherits the environment writes a file of its own") {
        const scratch_file file;
        const program_end end = run_program({"spawn"}, trace_to(file, without_leak_checks));
        CHECK(end.exit_code() == 0);
        CHECK(count_steps(load(path_of(file, end.output))) == 7);
        CHECK(count_steps(load(std::string(file.path()))) == 2);
        remove_others(file);
    }

    TEST_CASE("a forked copy writes a file of its own, from its first scope on") {
        if (!copies_record) {
            COROSCOPE_SKIP("ThreadSanitizer knows no new thread in a forked child");
            return;
        }
        for (const bool at_once : {false, true}) {
            const scratch_file file;
            std::vector<std::string> words{"fork", "6"};
            if (at_once) words.emplace_back("_exit");
            const program_end end = run_program(words, trace_to(file, without_leak_checks));
            CHECK(end.exit_code() == 0);
            const analysis::trace copy = load(path_of(file, end.output));
            CHECK(copy.process_id == static_cast<std::uint32_t>(std::stol(end.output)));
            CHECK(count_steps(copy) == 6);
            CHECK(copy.health.finished == !at_once);
            const analysis::trace trace = load(std::string(file.path()));
            CHECK(count_steps(trace) == 8);
            CHECK(trace.health.finished);
            remove_others(file);
        }
    }

    TEST_CASE("a forked copy records with the settings of its parent") {
        if (!copies_record) {
            COROSCOPE_SKIP("ThreadSanitizer knows no new thread in a forked child");
            return;
        }
        const scratch_file file;
        const program_end end =
            run_program({"fork", "6"}, trace_to(file, {{"COROSCOPE_POLICY", "overwrite"},
                                                       {"COROSCOPE_STACKS", "1"},
                                                       without_leak_checks.front()}));
        const analysis::trace copy = load(path_of(file, end.output));
        CHECK(copy.policy == "overwrite oldest");
        CHECK(copy.asked_for == trace::feature_stacks);
        remove_others(file);
    }

    TEST_CASE("a forked copy that records nothing leaves no file, and its own copies record") {
        if (!copies_record) {
            COROSCOPE_SKIP("ThreadSanitizer knows no new thread in a forked child");
            return;
        }
        const scratch_file file;
        const program_end end =
            run_program({"quiet fork", "6"}, trace_to(file, without_leak_checks));
        CHECK(end.exit_code() == 0);
        const std::size_t space = end.output.find(' ');
        CHECK_FALSE(std::filesystem::exists(path_of(file, end.output.substr(0, space))));
        CHECK(count_steps(load(path_of(file, end.output.substr(space + 1)))) == 6);
        remove_others(file);
    }

    TEST_CASE("a daemon, whose working folder is another one, writes beside its parent's file") {
        if (!copies_record) {
            COROSCOPE_SKIP("ThreadSanitizer knows no new thread in a forked child");
            return;
        }
        const scratch_file file;
        const std::filesystem::path before = std::filesystem::current_path();
        std::filesystem::current_path(file.folder());
        const program_end end = run_program(
            {"daemon", "6"}, {{"COROSCOPE_TRACE", "trace.cst"}, without_leak_checks.front()});
        std::filesystem::current_path(before);
        CHECK(end.exit_code() == 0);
        CHECK(count_steps(load(path_of(file, end.output))) == 6);
        remove_others(file);
    }

    TEST_CASE("a thread that a forked copy starts is recorded") {
        if (!copies_record) {
            COROSCOPE_SKIP("ThreadSanitizer knows no new thread in a forked child");
            return;
        }
        const scratch_file file;
        const program_end end =
            run_program({"thread of fork", "6"}, trace_to(file, without_leak_checks));
        CHECK(end.exit_code() == 0);
        CHECK(count_steps(load(path_of(file, end.output))) == 6);
        remove_others(file);
    }

    TEST_CASE("a program that starts while another one records into the file writes FILE.PID") {
        const scratch_file file;
        profile session{{.output = file.path()}};
        steps(2);
        const program_end end =
            run_program({"steps", "5", "0"}, trace_to(file, without_leak_checks));
        CHECK(end.output.empty());
        session.stop();
        CHECK(count_steps(load(std::string(file.path()))) == 2);
        CHECK(count_steps(load(path_of(file, std::to_string(end.id)))) == 5);
        remove_others(file);
    }

    TEST_CASE("a child replaces no file of an earlier process that had its id") {
        const scratch_file file;
        const variables inherited = trace_to(file, {{"COROSCOPE_TRACE_OWNER", "1"}});
        const program_end first = run_program({"steps", "3", "0"}, inherited);
        CHECK(count_steps(load(path_of(file, std::to_string(first.id)))) == 3);
        const program_end end =
            run_program({"-c", "cp \"$0\" \"$1.$$\"; exec \"$2\" steps 5 0",
                         path_of(file, std::to_string(first.id)), file.path(), program_path()},
                        inherited, "/bin/sh");
        const std::string of_second = path_of(file, std::to_string(end.id));
        CHECK(count_steps(load(of_second)) == 3);
        CHECK(count_steps(load(of_second + ".2")) == 5);
        remove_others(file);
    }
}
