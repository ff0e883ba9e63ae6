// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs session_program as a child process.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "../../support/scratch_file.hpp"

namespace coroscope::test {

using variables = std::vector<std::pair<std::string, std::string>>;

/// The environment of a program that is recorded into the file.
inline variables trace_to(const scratch_file& file, variables more = {}) {
    more.emplace_back("COROSCOPE_TRACE", file.path());
    return more;
}

/// The path of the program, which the build sets as SESSION_PROGRAM.
inline std::string program_path() { return SESSION_PROGRAM; }

/// Starts a program with standard output and error in the file `output`. The new process calls
/// `at_last` just before exec().
inline pid_t start_program(const std::vector<std::string>& given, const variables& environment,
                           const char* output, std::string path = program_path(),
                           void (*at_last)() = nullptr) {
    std::vector<std::string> words = given;
    std::vector<char*> arguments{path.data()};
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) return child;
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    const int file = ::open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, 1);
    ::dup2(file, 2);
    if (at_last != nullptr) at_last();
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
}

struct program_end {
    int status = -1;     ///< as from waitpid()
    std::string output;  ///< standard output and error
    pid_t id = 0;
    [[nodiscard]] int exit_code() const { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
    [[nodiscard]] int signal() const { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }
};

inline program_end run_program(const std::vector<std::string>& given,
                               const variables& environment = {},
                               const std::string& path = program_path(),
                               void (*at_last)() = nullptr) {
    const scratch_file output;
    program_end end;
    end.id = start_program(given, environment, output.path(), path, at_last);
    REQUIRE(::waitpid(end.id, &end.status, 0) == end.id);
    std::ifstream file(output.path());
    end.output.assign(std::istreambuf_iterator<char>(file), {});
    return end;
}

}  // namespace coroscope::test
