# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

bench_usage() {
    cat <<'TEXT'
usage: ./dev bench [ARGUMENT…]

Builds the benchmarks (release) and runs them; the arguments are theirs.

example: ./dev bench --json rows.json
TEXT
}

verb_main() {
    local folder
    if [[ ${1:-} == --help || ${1:-} == -h ]]; then
        bench_usage
        return
    fi
    require build bench
    folder=$(build_folder release)
    configure "$folder" release -Dtools=enabled -Dexamples=enabled -Dbench=enabled
    ninja -C "$folder"
    bench/run "$folder" "$@"
}
