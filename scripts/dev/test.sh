# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

test_usage() {
    cat <<'TEXT'
usage: ./dev test [--sanitize address|thread|valgrind] [--compiler CXX] [NAME…]
       ./dev test --gpu [--compiler CXX]
       ./dev test --crash MOMENTS [--sanitize …] [--compiler CXX]
       ./dev test --soak [--sanitize …] [--compiler CXX]

Builds, then runs every test or those that NAME (Meson's test names; `meson test --list` shows
them). The last line is "N passed, N failed", counted over test cases; ", N skipped" follows
where some were. Exits 0 when none failed.

--gpu runs what needs an NVIDIA GPU instead (examples/cuda_pipeline) and prints device, driver and
toolkit, and what a launch costs. Where there is no GPU it says so and exits 1.

--crash ends a process under load in six ways at MOMENTS random moments each, and looks for every
record; COROSCOPE_CRASH_SEED repeats a run. --soak runs the tests of scale at full size: a million live
tasks, 10,000 threads, the records of an hour, 10 million tasks that come and go. --sanitize valgrind
runs memcheck on the runtime's tests.

example: ./dev test --sanitize thread session
TEXT
}

# ThreadSanitizer of g++ 12 can't place its memory where the kernel randomises addresses widely.
under_thread_sanitizer() {
    export TSAN_OPTIONS="suppressions='$root/tests/tsan.supp'${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
    if has_tool setarch && setarch "$(uname -m)" -R true 2>/dev/null; then
        setarch "$(uname -m)" -R "$@"
    else
        "$@"
    fi
}

verb_main() {
    local kind=release compiler='' folder patience=1 gpu=no crash=0 soak=no
    local -a names=() runner=() options=()
    while [[ $# -gt 0 ]]; do
        case $1 in
            --help | -h) test_usage && return ;;
            --compiler) need_value "$1" "$@" && compiler=$2 && shift ;;
            --gpu) gpu=yes ;;
            --soak) soak=yes ;;
            --crash) need_value "$1" "$@" && crash=$2 && shift ;;
            --sanitize) need_value "$1" "$@" && known_sanitizer "$2" && kind=$2 && shift ;;
            -*) usage_error "test: no option $1; see ./dev test --help" ;;
            *) names+=("$1") ;;
        esac
        shift
    done
    if [[ $gpu == yes ]]; then
        [[ $kind == release && ${#names[@]} -eq 0 ]] || usage_error "test: --gpu takes neither a sanitizer nor names"
        # shellcheck source=scripts/dev/gpu.sh
        source scripts/dev/gpu.sh
        require_gpu
    fi
    [[ $crash =~ ^[0-9]+$ ]] || usage_error "test: --crash takes a number of moments, not \"$crash\""
    [[ $crash -eq 0 || ($gpu == no && ${#names[@]} -eq 0) ]] || usage_error "test: --crash takes no names"
    [[ $soak == no || ($gpu == no && $crash -eq 0 && ${#names[@]} -eq 0) ]] || usage_error "test: --soak takes no names"
    [[ $kind == release ]] || patience=5
    [[ $kind != thread ]] || runner=(under_thread_sanitizer)
    use_compiler "$kind" "$compiler"
    require build test "$kind"
    want integrations
    [[ $kind != release ]] || want compilers
    tell_cuda
    if [[ $kind == valgrind ]]; then
        # shellcheck source=scripts/dev/valgrind.sh
        source scripts/dev/valgrind.sh
        patience=30
        options=(--wrapper "$(valgrind_command)")
        [[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(valgrind_tests)
    fi
    folder=$(build_folder "$kind" "$compiler")
    configure "$folder" "$kind" -Dtools=enabled -Dexamples=enabled -Dtests=enabled
    if [[ $gpu == yes ]]; then
        gpu_suite "$folder"
        return
    fi
    # shellcheck source=scripts/dev/long_tests.sh
    source scripts/dev/long_tests.sh
    if [[ $crash -ne 0 ]]; then
        crash_suite "$folder" "$crash" "${runner[@]}"
        return
    fi
    if [[ $soak == yes ]]; then
        soak_suite "$folder" "${runner[@]}"
        return
    fi
    "${runner[@]}" python3 scripts/run_tests.py --patience "$patience" "${options[@]}" "$folder" "${names[@]}"
}
