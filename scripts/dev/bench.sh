# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

bench_usage() {
    cat <<'TEXT'
usage: ./dev bench [--json FILE] [--markdown] [--list] [--starts N] [ROW…]

Builds the benchmarks that the rows need (release) and prints what instrumentation costs: each row of the budget table
beside its floor, measured in the same run. ROW is a name, its beginning up to a dot, or a pattern;
--list prints the names. --starts: how often the servers of service.* are started, 96 times if not told; with four
times as many their intervals are half as wide. docs/contributing/benchmarks.md says what each row measures. A full run takes about
seven minutes on two idle processors.
It exits with 0 also where a budget is missed; --json has "holds": false there, the table NO.

example: ./dev bench scope 'await.*' --json rows.json
TEXT
}

verb_main() {
    local folder
    local -a programs
    if [[ ${1:-} == --help || ${1:-} == -h ]]; then
        bench_usage
        return
    fi
    require build bench
    want peers
    folder=$(build_folder release)
    configure "$folder" release -Dtools=enabled -Dexamples=enabled -Dbench=enabled >&2
    # The rows' programs that this system can build, or none if an argument is wrong, which
    # bench/run reports.
    mapfile -t programs < <(bench/run "$folder" --programs "$@" 2>/dev/null |
        grep -xF -f <(ninja -C "$folder" -t targets all | cut -d : -f 1))
    [[ ${#programs[@]} -eq 0 ]] || ninja -C "$folder" "${programs[@]}" >&2
    bench/run "$folder" "$@"
}
