# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

abi_usage() {
    cat <<'TEXT'
usage: ./dev abi [--record]

Builds the shared libraries with debug information (build/abi) and compares their ABI, types included, with the one
recorded in tests/abi/recorded. Where what is recorded is gone or changed it fails and says what to do.

--record writes the ABI that the libraries have now. After a release, only together with a new abi_version in
meson.build: programs that were built against the release must not load these libraries.
TEXT
}

verb_main() {
    local folder mode=''
    local -a libraries
    while [[ $# -gt 0 ]]; do
        case $1 in
            --help | -h) abi_usage && return ;;
            --record) mode=--record ;;
            *) usage_error "abi: no argument $1; see ./dev abi --help" ;;
        esac
        shift
    done
    require build abi
    tell_cuda
    folder=$(build_folder abi)
    configure "$folder" abi -Dtools=disabled -Dexamples=disabled -Dtests=disabled -Dbench=disabled
    ninja -C "$folder" >&2
    mapfile -t libraries < <(find "$folder/lib" -name 'libcoroscope*.so' | sort)
    python3 tests/abi/check_abi.py ${mode:+"$mode"} "${libraries[@]}"
}
