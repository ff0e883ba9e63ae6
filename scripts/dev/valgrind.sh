# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --sanitize valgrind: memcheck on the tests of the runtime and of the trace library.

# An error fails the test; a program that a test starts is watched, too. Leaks are left to
# LeakSanitizer (--sanitize address): memcheck would report memory that a forked child leaves alone
# on purpose.
valgrind_command() {
    printf '%s ' valgrind --quiet --vgdb=no --error-exitcode=97 --trace-children=yes --leak-check=no --fair-sched=yes \
        --max-stackframe=8388608
}

# valgrind_tests: prints Meson's names of the tests. These are left out, with the reasons:
#   environment                    its program starts itself by /proc/self/exe, which is memcheck then
#   faults, hostile                limits of address space and thread-local memory, which memcheck needs itself
#   privileges                     memcheck does not start a program that gains privileges
#   stepped                        the processor's trap flag, which memcheck does not know: each case skips
#   crash_report                   signals and stacks for them, which memcheck handles in its own way
#   scale                          a million tasks at a fiftieth of the speed
#   fork                           memcheck runs one thread at a time: locks held at a fork stay held in the child
#   asio, fibers, futures, pools, cuda, matrix
#                                  other libraries' code, on stacks that memcheck can't follow
#   analysis, tools, documents     not part of a service
#   observers, emitters, profile options, memory
#                                  further features of the runtime, which AddressSanitizer watches
#   gdb, live_environment, headers scripts: the interpreter or the compiler would be watched
valgrind_tests() {
    printf '%s\n' chunk_store store_faults cut_file session session_threads policies overwriting churn crash coroutines \
        live_tasks anomalies signals wall_clock {session,session_threads,policies}_monotonic
}
