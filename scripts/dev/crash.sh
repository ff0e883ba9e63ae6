# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --crash MOMENTS: a process under load is ended in six ways, at so many random moments each.

# crash_suite FOLDER MOMENTS [RUNNER]: its last line is "N passed, N failed".
crash_suite() {
    local folder=$1 moments=$2 test=$1/tests/runtime/test_crash status=0 output
    shift 2
    export COROSCOPE_CRASH_MOMENTS=$moments COROSCOPE_CRASH_SEED=${COROSCOPE_CRASH_SEED:-$((RANDOM * 32768 + RANDOM))}
    ninja -C "$folder" tests/runtime/test_crash tests/runtime/crash_program >&2
    output=$("$@" "$test" --no-colors=true) || status=$?
    sed -n 's/^.*MESSAGE: //p' <<<"$output"
    [[ $status -eq 0 ]] || printf '%s\n' "$output" >&2
    sed -nE 's/^\[doctest\] test cases:.*\| +([0-9]+) passed \| +([0-9]+) failed.*/\n\1 passed, \2 failed/p' <<<"$output"
    return "$status"
}
