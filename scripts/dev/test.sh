# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

test_usage() {
    cat <<'TEXT'
usage: ./dev test [--sanitize address|thread|valgrind] [--compiler CXX] [--no-run | --results FILE] [NAME…]
       ./dev test --compiler CXX --differing [--no-run | --results FILE]
       ./dev test --gpu [--compiler CXX]
       ./dev test --asio-versions [--compiler CXX]
       ./dev test --consumers [--compiler CXX]
       ./dev test --compilers
       ./dev test --packages
       ./dev test --crash MOMENTS [--sanitize …] [--compiler CXX]
       ./dev test --soak [--sanitize …] [--compiler CXX]

Builds, then runs every test or those that NAME (Meson's test names; `meson test --list` shows
them). The last line is "N passed, N failed", counted over test cases; ", N skipped" follows
where some were. The lines before it name each failure. A test program that fails is run once more, alone;
if it passes then, it is listed as unstable. Exits 0 when none failed, and at most three were unstable.
--results writes the results to FILE, too.

--differing builds and runs the suites in which compilers differ, and no others: docs/contributing/suites.md.

--no-run only builds the tests. --second-tries-after PID runs the second tries when that process has ended.

--gpu runs what needs an NVIDIA GPU instead (examples/cuda_pipeline) and prints device, driver and
toolkit, and what a launch costs. Where there is no GPU it says so and exits 1.

--crash ends a process under load in six ways at MOMENTS random moments each, and kills a process that
records facts and context switches as often. It looks for every record. COROSCOPE_CRASH_SEED repeats a
run. --soak runs the tests of scale at full size: a million live tasks, 10,000 threads, the records of
an hour, 10 million tasks that come and go. --sanitize valgrind runs memcheck on the runtime's tests.

--asio-versions runs the tests of Asio's tracking with each version of Asio and Boost that
scripts/dev/asio_versions.sh names, with headers from Debian's archive: nothing is installed. A
version that cannot be had is counted as skipped.

--compilers compiles the runtime and a program by compilers that do not build the project, and runs the
program: g++ for arm64 under qemu-user, clang 19 with libc++, and g++ 14 in a root of Debian 13, which lies
below build/. A compiler that is missing is skipped.

--consumers gives exported files to the programs that people open them with, as speedscope, DuckDB and
the Firefox Profiler, and opens reports in Chromium. It installs the programs from npm below build/; one that
cannot be had is skipped.

--packages builds the Debian packages, and installs, uses and removes them in a fresh Debian 12, which debootstrap makes. It
needs root's rights and Debian's archive.

example: ./dev test --sanitize thread session
TEXT
}

# ThreadSanitizer of g++ 12 can't map its memory if the kernel randomises addresses widely. It looks for races
# with threads that outlive main(), for a second if not told otherwise.
under_thread_sanitizer() {
    export TSAN_OPTIONS="suppressions='$root/tests/tsan.supp':atexit_sleep_ms=50${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
    if has_tool setarch && setarch "$(uname -m)" -R true 2>/dev/null; then
        setarch "$(uname -m)" -R "$@"
    else
        "$@"
    fi
}

verb_main() {
    local kind=release compiler='' folder gpu=no crash=0 soak=no asio=no consumers=no packages=no others=no examples=enabled
    local patience=3  # time-outs are for hangs, not for a slow machine
    local -a names=() runner=() options=() run_options=()
    while [[ $# -gt 0 ]]; do
        case $1 in
            --help | -h) test_usage && return ;;
            --compiler) need_value "$1" "$@" && compiler=$2 && shift ;;
            --gpu) gpu=yes ;;
            --differing) kind=differing ;;
            --no-run) run_options+=("$1") ;;
            --results | --second-tries-after) need_value "$1" "$@" && run_options+=("$1" "$2") && shift ;;
            --soak) soak=yes ;;
            --asio-versions) asio=yes ;;
            --consumers) consumers=yes ;;
            --compilers) others=yes ;;
            --packages) packages=yes ;;
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
    [[ $asio == no || ($kind == release && $gpu == no && $crash -eq 0 && $soak == no && ${#names[@]} -eq 0) ]] ||
        usage_error "test: --asio-versions takes a compiler only"
    [[ $consumers == no || ($kind == release && $gpu$soak$asio == nonono && $crash -eq 0 && ${#names[@]} -eq 0) ]] ||
        usage_error "test: --consumers takes a compiler only"
    [[ $others == no || ($kind == release && $gpu$soak$asio$consumers == nononono && $crash -eq 0 && -z $compiler && ${#names[@]} -eq 0) ]] ||
        usage_error "test: --compilers takes nothing else"
    if [[ $packages == yes ]]; then
        [[ $kind$compiler == release && $gpu$soak$asio$consumers == nononono && $crash -eq 0 && ${#names[@]} -eq 0 ]] ||
            usage_error "test: --packages takes no other argument"
        # shellcheck source=scripts/dev/fresh_root.sh
        source scripts/dev/fresh_root.sh
        packages_suite
        return
    fi
    [[ ${#run_options[@]} -eq 0 || ($gpu == no && $crash -eq 0 && $soak == no && $asio$consumers$others == nonono) ]] ||
        usage_error "test: ${run_options[0]} goes with the suites of Meson's tests only"
    [[ $kind != differing || -n $compiler ]] || usage_error "test: --differing needs --compiler"
    [[ $kind != differing ]] || examples=disabled
    [[ $kind == release ]] || patience=5
    [[ $kind != thread ]] || runner=(under_thread_sanitizer)
    [[ $kind != address ]] || export ASAN_OPTIONS="handle_sigill=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
    use_compiler "$kind" "$compiler"
    require build test "$kind"
    want integrations
    [[ $kind != release ]] || want compilers
    tell_cuda
    if [[ $kind == valgrind ]]; then
        # shellcheck source=scripts/dev/valgrind.sh
        source scripts/dev/valgrind.sh
        patience=30
        options+=(--wrapper "$(valgrind_command)")
        [[ ${#names[@]} -gt 0 ]] || mapfile -t names < <(valgrind_tests)
    fi
    folder=$(build_folder "$kind" "$compiler")
    configure "$folder" "$kind" -Dtools=enabled -Dexamples="$examples" -Dtests=enabled
    if [[ $gpu == yes ]]; then
        gpu_suite "$folder"
        return
    fi
    if [[ $asio == yes ]]; then
        # shellcheck source=scripts/dev/asio_versions.sh
        source scripts/dev/asio_versions.sh
        asio_suite "$folder"
        return
    fi
    if [[ $consumers == yes ]]; then
        # shellcheck source=scripts/dev/consumers.sh
        source scripts/dev/consumers.sh
        consumers_suite "$folder"
        return
    fi
    if [[ $others == yes ]]; then
        # shellcheck source=scripts/dev/compilers.sh
        source scripts/dev/compilers.sh
        compilers_suite "$folder"
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
    "${runner[@]}" python3 scripts/run_tests.py --patience "$patience" "${run_options[@]}" "${options[@]}" "$folder" "${names[@]}"
}
