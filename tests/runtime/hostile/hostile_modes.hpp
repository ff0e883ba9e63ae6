// SPDX-License-Identifier: Apache-2.0
#pragma once

// The modes of hostile_program. Each takes the words after its name and returns the program's exit
// code.

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <coroscope/coroscope.hpp>

namespace coroscope::test {

using arguments = char**;

// hostile_libraries.cpp
int load_library(arguments given);
int load_in_namespaces(arguments given);
int record_beside_library(arguments given);

// hostile_files.cpp
int cut_while_idle(arguments given);
int cut_while_recording(arguments given);
int fault_late(arguments given);
int cut_at_stop(arguments given);
int remove_file(arguments given);
int close_descriptor(arguments given);

// hostile_threads.cpp
int end_main_thread(arguments given);
int record_though_cancelled(arguments given);

// hostile_stacks.cpp
int suspend_in_new_heap(arguments given);
int unlimit_stack(arguments given);
int switch_in_job(arguments given);
int switch_in_coroutine(arguments given);

// hostile_memory.cpp
int start_without_memory(arguments given);
int go_on_without_memory(arguments given);

inline void print(const session_status& status) {
    std::printf("%d %d %s\n", static_cast<int>(status.state), status.error_number, status.message);
}

}  // namespace coroscope::test
