# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Tests that are too long for every run: ./dev test --crash MOMENTS and ./dev test --soak.

# doctest_programs PROGRAM… -- RUNNER…: runs the programs, and prints "N passed, N failed" of all of
# them at the end.
doctest_programs() {
    local program status=0 output passed=0 failed=0
    local -a programs=() counts=()
    while [[ $1 != -- ]]; do programs+=("$1") && shift; done
    shift
    for program in "${programs[@]}"; do
        output=$("$@" "$program" --no-colors=true) || { status=$? && printf '%s\n' "$output" >&2; }
        sed -n 's/^.*MESSAGE: //p' <<<"$output"
        read -ra counts <<<"$(sed -nE 's/^\[doctest\] test cases:.*\| +([0-9]+) passed \| +([0-9]+) failed.*/\1 \2/p' <<<"$output")"
        passed=$((passed + ${counts[0]:-0})) failed=$((failed + ${counts[1]:-1}))
    done
    printf '\n%s passed, %s failed\n' "$passed" "$failed"
    return "$status"
}

# crash_suite FOLDER MOMENTS [RUNNER]: ends a process under load in six ways, at that many random
# moments each, and kills a process that records facts and context switches as often.
crash_suite() {
    local folder=$1 moments=$2
    shift 2
    export COROSCOPE_CRASH_MOMENTS=$moments COROSCOPE_CRASH_SEED=${COROSCOPE_CRASH_SEED:-$((RANDOM * 32768 + RANDOM))}
    ninja -C "$folder" tests/runtime/{test_crash,crash_program,test_crash_facts,crash_facts_program} >&2
    doctest_programs "$folder"/tests/runtime/test_{crash,crash_facts} -- "$@"
}

# soak_suite FOLDER [RUNNER]: the tests of scale and of churn at full size.
soak_suite() {
    local folder=$1
    shift
    export COROSCOPE_SOAK=1
    local -a programs=("$folder"/tests/runtime/test_{scale,churn,session_threads,thread_states})
    ninja -C "$folder" tests/runtime/{test_{scale,churn,session_threads,thread_states},states_program} >&2
    doctest_programs "${programs[@]}" -- "$@"
}
