// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs one program to its end and passes on to it the signals that ask us to end.

#include <string>
#include <vector>

namespace coroscope::tools {

struct child_result {
    int start_error = 0;  ///< errno if the program could not be started
    int wait_error = 0;   ///< errno if its end is unknown
    int exit_code = 0;    ///< the program's, or 128 + the signal
    int signal = 0;       ///< signal that killed it; 0: none
};

/// The file of a program, or the errno for which it cannot be started.
struct program_place {
    std::string path;
    int error = 0;
};

/// Searches for the program like execvp(3).
[[nodiscard]] program_place find_program(const std::string& name);

/// Ignores SIGPIPE, so that write() to a closed pipe fails and does not end this process. Children
/// of run_child() get the inherited action of SIGPIPE. Must be called once, before there are
/// threads.
void ignore_broken_pipes();

/// Runs `program` with `environment` ("NAME=value") added to ours, and with its process id in
/// `id_variable`. Forwards SIGINT, SIGTERM, SIGHUP and SIGQUIT that another process sends us, and
/// the SIGHUP of the terminal if we lead its session. Other signals of a terminal reach the program
/// anyway.
[[nodiscard]] child_result run_child(const std::vector<std::string>& program,
                                     const std::vector<std::string>& environment,
                                     const std::string& id_variable);

}  // namespace coroscope::tools
