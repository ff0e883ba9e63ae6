# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --sanitize valgrind: memcheck on the tests of the runtime and of the trace library.

# An error, or memory that was lost for good, fails the test; a program that a test starts is watched, too. What
# is reachable at the end is meant to be: sites and the table of live tasks live as long as the process.
valgrind_command() {
    printf '%s ' valgrind --quiet --error-exitcode=97 --trace-children=yes --leak-check=full \
        --errors-for-leak-kinds=definite --show-leak-kinds=definite --fair-sched=yes --max-stackframe=8388608
}

# valgrind_tests: Meson's names of what is run. Left out, and why:
#   asio, cuda, fibers, futures, pools, libraries   other libraries' code, on stacks that memcheck can't follow
#   analysis, tools, documents, dev                 nothing of theirs runs in a service
#   gdb, live_environment, codegen, headers         scripts: the interpreter or the compiler would be watched
valgrind_tests() {
    printf '%s\n' chunk_store store_faults session session_threads policies crash crash_report faults \
        environment fork coroutines live_tasks anomalies
}
