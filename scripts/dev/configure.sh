# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One build folder per kind of build, under build/: release, address, thread, and each of these
# with a compiler's name behind it when --compiler names one.

# build_folder KIND [COMPILER]
build_folder() {
    printf 'build/%s%s\n' "$1" "${2:+-${2##*/}}"
}

# known_sanitizer NAME: a build with it exists.
known_sanitizer() {
    [[ $1 == address || $1 == thread || $1 == valgrind ]] ||
        usage_error "no sanitizer \"$1\"; there are address, thread and valgrind"
}

# use_compiler KIND COMPILER: what it needs is there, and Meson and the probes take it.
use_compiler() {
    [[ -n $2 ]] || return 0
    export CXX=$2
    case $2 in
        clang++-19)
            require clang
            [[ $1 == release || $1 == valgrind ]] || require clang-sanitizers
            ;;
        *) has_tool "$2" || fail "no compiler $2: install it, or name another with --compiler" ;;
    esac
}

# kind_options KIND: what the kind means to Meson. A sanitizer's build is there to be run once: -Og, and of debug
# information what a stack in a report needs, take g++ a third of what -O2 -g takes. Its benchmarks would tell nothing.
# ThreadSanitizer counts calls and returns on each fiber, which come out even where Boost's switches are inlined: -O2
# (at -O1 the tests of the matrix crash in it). What UBSan reports ends the program: by itself it prints a line and goes on.
kind_options() {
    case $1 in
        release) printf '%s\n' -Dbuildtype=release ;;
        abi) printf '%s\n' -Dbuildtype=debugoptimized ;;
        address) printf '%s\n' -Dbuildtype=debugoptimized -Doptimization=g -Dbench=disabled \
            -Db_sanitize=address,undefined '-Dcpp_args=-g1 -fno-sanitize-recover=all' ;;
        valgrind) printf '%s\n' -Dbuildtype=debugoptimized ;;
        thread) printf '%s\n' -Dbuildtype=debugoptimized -Doptimization=2 -Dcpp_args=-g1 -Dbench=disabled \
            -Db_sanitize=thread ;;
    esac
    # clang links a sanitizer's runtime into programs only, so its libraries leave symbols open.
    if [[ $1 != release && $1 != valgrind && ${CXX:-} == *clang* ]]; then
        printf '%s\n' -Db_lundef=false
    fi
}

# configure FOLDER KIND OPTION…: the folder is configured, with these options among others.
# Meson reconfigures on every option that it is given, so the ones it has had are written down.
configure() {
    local folder=$1 kind=$2 option
    shift 2
    local -a options new=()
    mapfile -t options < <(kind_options "$kind")
    options+=("$@")
    local record=$folder/dev-options
    if [[ ! -f $folder/build.ninja ]]; then
        rm -rf -- "$folder"
        meson setup --wrap-mode=nodownload "${options[@]}" "$folder"
        printf '%s\n' "${options[@]}" >"$record"
        return
    fi
    for option in "${options[@]}"; do
        grep -qxF -e "$option" "$record" 2>/dev/null || new+=("$option")
    done
    # shellcheck disable=SC2154  # set by packages.sh
    if [[ $packages_installed == yes ]]; then
        # Meson remembers what it did not find; only a fresh look finds what is new.
        meson setup --wipe "${new[@]}" "$folder"
    elif [[ ${#new[@]} -gt 0 ]]; then
        meson setup --reconfigure "${new[@]}" "$folder"
    fi
    [[ ${#new[@]} -eq 0 ]] || printf '%s\n' "${new[@]}" >>"$record"
}
