# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

build_usage() {
    cat <<'TEXT'
usage: ./dev build [--compiler CXX] [--sanitize address|thread|valgrind] [TARGET…]

Builds everything, or the targets named, in build/release (build/address, build/thread, build/valgrind; with the
compiler's name behind it where one is given).

example: ./dev build --compiler clang++-19
TEXT
}

verb_main() {
    local kind=release compiler='' folder
    local -a targets=()
    while [[ $# -gt 0 ]]; do
        case $1 in
            --help | -h) build_usage && return ;;
            --compiler) need_value "$1" "$@" && compiler=$2 && shift ;;
            --sanitize) need_value "$1" "$@" && known_sanitizer "$2" && kind=$2 && shift ;;
            -*) usage_error "build: no option $1; see ./dev build --help" ;;
            *) targets+=("$1") ;;
        esac
        shift
    done
    use_compiler "$kind" "$compiler"
    require build test bench "$kind"
    tell_cuda
    folder=$(build_folder "$kind" "$compiler")
    configure "$folder" "$kind" -Dtools=enabled -Dexamples=enabled -Dtests=enabled -Dbench=enabled
    ninja -C "$folder" "${targets[@]}"
    say "built in $folder"
}
