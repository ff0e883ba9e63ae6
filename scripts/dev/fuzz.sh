# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

fuzz_usage() {
    cat <<'TEXT'
usage: ./dev fuzz [TARGET] [SECONDS]

Fuzzes the trace readers with malformed input: builds their fuzzers (clang's libFuzzer, with AddressSanitizer and
UBSan) and runs TARGET, or each of them, for SECONDS (60). The targets are native, packed (native traces, packed and to be packed),
events (Chrome's JSON, gzip, whole databases), nvprof and nsight (databases with rows as the fuzzer wants them).
Inputs that reach new code are kept under build/fuzz/corpus for the next run. An input that breaks a reader is
named. When the reader is mended, put that input into tests/fuzz/corpus/TARGET, where every test run reads it.

example: ./dev fuzz native 600
TEXT
}

fuzz_targets=(native packed events nvprof nsight)

# run_fuzzer FOLDER TARGET SECONDS
run_fuzzer() {
    local corpus=$1/corpus/$2 found=$1/found/$2 known=tests/fuzz/corpus/$2
    mkdir -p "$corpus" "$found"
    [[ -d $known ]] || known=
    say "fuzzing $2 for $3 s"
    "$1/tests/fuzz/fuzz_$2" -max_total_time="$3" -max_len=65536 -timeout=20 -rss_limit_mb=4096 \
        -print_final_stats=1 -artifact_prefix="$found/" "$corpus" "$1/seeds/$2" $known \
        >"$found/log" 2>&1 || {
        tail -n 40 "$found/log" >&2
        fail "$2 breaks: the input is in $found, what was said in $found/log"
    }
    local last executions
    last=$(grep -oE 'cov: [0-9]+ ft: [0-9]+ corp: [0-9]+' "$found/log" | tail -n 1)
    executions=$(grep -oE 'number_of_executed_units: [0-9]+' "$found/log" | grep -oE '[0-9]+')
    printf '%s: %s executions, %s, nothing found\n' "$2" "$executions" "$last"
}

verb_main() {
    local folder=build/fuzz target
    if [[ ${1:-} == --help || ${1:-} == -h ]]; then
        fuzz_usage
        return
    fi
    local -a chosen=("${fuzz_targets[@]}")
    if [[ -n ${1:-} && ! $1 =~ ^[0-9]+$ ]]; then
        [[ " ${fuzz_targets[*]} " == *" $1 "* ]] ||
            usage_error "fuzz: no target $1; there are ${fuzz_targets[*]}"
        chosen=("$1")
        shift
    fi
    [[ ${1:-60} =~ ^[0-9]+$ && $# -le 1 ]] || usage_error "fuzz: see ./dev fuzz --help"
    use_compiler address clang++-19
    require build test
    configure "$folder" address -Dfuzz=enabled -Dtests=enabled -Dtools=disabled -Dexamples=disabled \
        -Dbench=disabled '-Dcpp_args=-fsanitize=fuzzer-no-link -fno-sanitize-recover=all'
    ninja -C "$folder" fuzzers >&2
    "$folder/tests/fuzz/fuzz_seeds" "$folder/seeds"
    for target in "${chosen[@]}"; do
        run_fuzzer "$folder" "$target" "${1:-60}"
    done
}
