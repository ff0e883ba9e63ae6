// SPDX-License-Identifier: Apache-2.0

// The choice between several CUPTIs, by a session and by examples/cuda_pipeline, which must find
// the same one.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "../runtime/support/program_runs.hpp"
#include "../support/skip.hpp"

using namespace coroscope::test;
namespace fs = std::filesystem;

namespace {

/// Folders of toolkits with the fake CUPTI in place of the real one.
class planted {
public:
    planted() { name("loader/libcupti.so.13"), name("loader/libcupti.so.12"); }
    planted(const planted&) = delete;
    planted& operator=(const planted&) = delete;
    ~planted() { fs::remove_all(folder_.folder() + "/planted"); }

    std::string path(const std::string& of) const { return folder_.folder() + "/planted/" + of; }
    void add(const std::string& library) {
        fs::remove(name(library));
        fs::create_symlink(FAKE_CUPTI, path(library));
    }
    /// An environment in which the loader searches the folder "loader" first. Without an added
    /// library, the files there cannot be opened.
    variables environment(const std::string& home, const std::string& cuda_path) const {
        return {{"LD_LIBRARY_PATH", path("loader")},
                {"COROSCOPE_CUPTI", ""},
                {"CUDA_HOME", home.empty() ? home : path(home)},
                {"CUDA_PATH", cuda_path.empty() ? cuda_path : path(cuda_path)}};
    }

private:
    /// Makes an empty file. Returns its path.
    std::string name(const std::string& library) const {
        fs::create_directories(fs::path(path(library)).parent_path());
        std::ofstream(path(library)).flush();
        return path(library);
    }
    scratch_file folder_;
};

std::string last_line(const std::string& text) {
    std::istringstream lines(text);
    std::string last;
    for (std::string line; std::getline(lines, line);) last = line;
    return last;
}

/// The path of the CUPTI that a session opens.
std::string opened(const variables& environment) {
    const program_end session = run_program({}, environment);
    CHECK_MESSAGE(session.exit_code() == 0, session.output);
    const program_end example = run_program({"search"}, environment);
    CHECK_MESSAGE(example.exit_code() == 0, example.output);
    CHECK(last_line(example.output) == last_line(session.output));
    return last_line(session.output);
}

}  // namespace

TEST_SUITE("which CUPTI") {
    TEST_CASE("the CUPTI that COROSCOPE_CUPTI names comes before all others") {
        planted some;
        for (const char* each :
             {"named.cupti.so", "loader/libcupti.so.13", "home/lib64/libcupti.so.13"})
            some.add(each);
        variables environment = some.environment("home", "");
        environment.emplace_back("COROSCOPE_CUPTI", some.path("named.cupti.so"));
        CHECK(opened(environment) == some.path("named.cupti.so"));
    }

    TEST_CASE("the loader's CUPTI comes before those of toolkits, and 13 before 12") {
        planted some;
        for (const char* each : {"loader/libcupti.so.12", "home/lib64/libcupti.so.13"})
            some.add(each);
        CHECK(opened(some.environment("home", "")) == some.path("loader/libcupti.so.12"));
        some.add("loader/libcupti.so.13");
        CHECK(opened(some.environment("home", "")) == some.path("loader/libcupti.so.13"));
    }

    TEST_CASE("CUDA_HOME comes before CUDA_PATH, and a folder without CUPTI is skipped") {
        planted some;
        for (const char* each : {"home/lib64/libcupti.so.12", "path/lib64/libcupti.so.13"})
            some.add(each);
        CHECK(opened(some.environment("home", "path")) == some.path("home/lib64/libcupti.so.12"));
        CHECK(opened(some.environment("empty", "path")) == some.path("path/lib64/libcupti.so.13"));
        CHECK(opened(some.environment("", "path")) == some.path("path/lib64/libcupti.so.13"));
    }

    TEST_CASE("in a toolkit, lib64 comes before extras/CUPTI/lib64, and 13 before 12") {
        planted some;
        const auto opens = [&some](const std::string& library) {
            some.add(library);
            CHECK(opened(some.environment("home", "")) == some.path(library));
        };
        opens("home/extras/CUPTI/lib64/libcupti.so.12");
        opens("home/extras/CUPTI/lib64/libcupti.so.13");
        opens("home/lib64/libcupti.so.12");
        opens("home/lib64/libcupti.so.13");
    }

    TEST_CASE("the toolkit of the build comes last") {
        const std::string toolkit = COROSCOPE_CUDA_TOOLKIT;
        if (!fs::exists(toolkit + "/lib64/libcupti.so.13")) {
            COROSCOPE_SKIP("the build's toolkit has no CUPTI 13 in lib64");
            return;
        }
        const planted none;
        CHECK(opened(none.environment("empty", "")) == toolkit + "/lib64/libcupti.so.13");
    }
}
