// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs one program to its end and passes on to it the signals that ask us to end.

#include <string>
#include <vector>

namespace coroscope::tools {

struct child_result {
    int start_error = 0;  ///< errno where the program could not be started
    int wait_error = 0;   ///< errno where nobody can say how it ended
    int exit_code = 0;    ///< the program's; 128 + the signal that killed it
};

/// The file that a program's name stands for, or the errno with which it cannot be started.
struct program_place {
    std::string path;
    int error = 0;
};

/// Looks where execvp(3) does.
[[nodiscard]] program_place find_program(const std::string& name);

/// Makes the end of a pipe's reader an error of write() instead of our end. What run_child starts has
/// SIGPIPE as whoever started us had set it. Once, before there are threads.
void ignore_broken_pipes();

/// Runs `program` with `environment` ("NAME=value") added to ours. SIGINT, SIGTERM, SIGHUP and
/// SIGQUIT that somebody sends us go on to it, and so does the SIGHUP of our session's terminal where we lead the session;
/// what else a terminal sends reaches it anyway.
[[nodiscard]] child_result run_child(const std::vector<std::string>& program,
                                     const std::vector<std::string>& environment);

}  // namespace coroscope::tools
