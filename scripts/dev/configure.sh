# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One build folder per kind of build, under build/: release, address, thread, and each of these with
# a compiler's name behind it if --compiler names one.

# build_folder KIND [COMPILER]
build_folder() {
    printf 'build/%s%s\n' "$1" "${2:+-${2##*/}}"
}

# known_sanitizer NAME: succeeds if there is a build with that sanitizer.
known_sanitizer() {
    [[ $1 == address || $1 == thread || $1 == valgrind ]] ||
        usage_error "no sanitizer \"$1\"; there are address, thread and valgrind"
}

# use_compiler KIND COMPILER: requires the compiler's packages, and makes Meson and the probes use
# it. Meson takes ccache, if it is there, only for the compiler that it chooses itself.
use_compiler() {
    [[ -n $2 ]] || return 0
    export CXX=$2
    ! has_tool ccache || CXX="ccache $2"
    case $2 in
        clang++-19)
            require clang
            [[ $1 != address && $1 != thread ]] || require clang-sanitizers
            ;;
        *) has_tool "$2" || fail "no compiler $2: install it, or name another with --compiler" ;;
    esac
}

# Paths of sources begin at this folder in traces and in debug information, also those of joined sources, which
# Meson includes by full paths or by paths from the build folder. The objects of one clone are found by
# ccache in another one, in whatever folder. Meson divides the options at spaces.
# short_paths FOLDER
short_paths() {
    [[ $root == *[\'\"\\]* ]] || printf '%s ' "'-ffile-prefix-map=$root/='" "'-ffile-prefix-map=$root/$1/../../='"
}

# kind_options KIND FOLDER: Meson's options for the kind in that build folder. All kinds join sources
# (docs/decisions/0031-short-builds.md) except lint, in which clang-tidy checks each source.
# differing is release with only the tests in which compilers can differ. A sanitizer's build runs
# once: -Og with only the debug information that the stack of a report needs takes g++ a third of
# the time of -O2 -g. Its benchmarks would have no meaning. ThreadSanitizer counts calls and returns
# on each fiber. The counts match even if Boost's switches are inlined: -O2 (at -O1 the tests of the
# matrix crash in it). A check of UBSan that fails ends the program by SIGILL, at which
# AddressSanitizer prints the stack (docs/decisions/0031-short-builds.md).
kind_options() {
    local args=''
    case $1 in
        release | lint) printf '%s\n' -Dbuildtype=release ;;
        differing) printf '%s\n' -Dbuildtype=release -Dbench=disabled -Dsecond_compiler=true ;;
        abi) printf '%s\n' -Dbuildtype=debugoptimized ;;
        address)
            printf '%s\n' -Dbuildtype=debugoptimized -Doptimization=g -Dbench=disabled \
                -Db_sanitize=address,undefined
            args='-g1 -fsanitize-undefined-trap-on-error'
            ;;
        valgrind) printf '%s\n' -Dbuildtype=debugoptimized ;;
        thread)
            printf '%s\n' -Dbuildtype=debugoptimized -Doptimization=2 -Dbench=disabled -Db_sanitize=thread
            args=-g1
            ;;
    esac
    if [[ $1 != lint ]]; then
        printf '%s\n' -Djoined=true
        args+="${args:+ }$(short_paths "$2")"
    fi
    [[ -z $args ]] || printf '%s\n' "-Dcpp_args=$args"
    # clang links a sanitizer's runtime into programs only, so its libraries leave symbols open.
    if [[ ($1 == address || $1 == thread) && ${CXX:-} == *clang* ]]; then
        printf '%s\n' -Db_lundef=false
    fi
}

# configure FOLDER KIND OPTION…: configures the folder with these options and those of the kind.
# The options are stored in a file, so that only new ones are set. `meson setup --reconfigure` of
# Meson 1.0 does not pass new cpp_args on to the build; after `meson configure` the next build does.
configure() {
    local folder=$1 kind=$2 option
    # Without "locale" ccache compiles again if the user's language differs.
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=locale
    shift 2
    local -a options new=()
    mapfile -t options < <(kind_options "$kind" "$folder")
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
        # Meson caches failed searches. Only a fresh configuration finds new packages.
        meson setup --wipe "${new[@]}" "$folder"
    elif [[ ${#new[@]} -gt 0 ]]; then
        meson configure "$folder" "${new[@]}"
    fi
    [[ ${#new[@]} -eq 0 ]] || printf '%s\n' "${new[@]}" >>"$record"
}
