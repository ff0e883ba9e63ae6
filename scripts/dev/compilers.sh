# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --compilers: the runtime and programs by compilers that do not build the project (docs/start/compilers.md).
#
# libc++ is unpacked and Debian 13 is a folder, both below build/compilers. A compiler that is missing is skipped.

compilers_passed=0
compilers_failed=0
compilers_skipped=0

skip_compiler() {
    say "SKIP: $1: $2"
    compilers_skipped=$((compilers_skipped + 1))
}

# check_compiler NAME ARGUMENT…: the arguments are those of check_compiler.py.
check_compiler() {
    local name=$1
    shift
    say "compiles by $name"
    if python3 tests/compatibility/check_compiler.py "$@" >&2; then
        compilers_passed=$((compilers_passed + 1))
    else
        say "$name: failed"
        compilers_failed=$((compilers_failed + 1))
    fi
}

check_arm64() {
    local describe=$1 folder=$2
    has_tool aarch64-linux-gnu-g++ || { skip_compiler arm64 'no aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu)' && return; }
    has_tool qemu-aarch64 || { skip_compiler arm64 'no qemu-aarch64 (Debian: qemu-user)' && return; }
    check_compiler arm64 --runner 'qemu-aarch64 -L /usr/aarch64-linux-gnu' \
        "$describe" "$folder/arm64" -- aarch64-linux-gnu-g++
}

# unpack_packages FOLDER PACKAGE…: unpacks Debian's packages there, once.
unpack_packages() {
    local folder=$1
    shift
    [[ ! -e $folder/complete ]] || return 0
    rm -rf -- "$folder"
    mkdir -p -- "$folder/archives"
    (cd -- "$folder/archives" && apt-get -q download "$@" >&2 </dev/null) || return 1
    local each
    for each in "$folder"/archives/*.deb; do dpkg-deb -x "$each" "$folder" || return 1; done
    touch -- "$folder/complete"
}

check_libcxx() {
    local describe=$1 folder=$2 place=$2/libc++-packages
    local -a flags
    has_tool clang++-19 || { skip_compiler libc++ 'no clang++-19' && return; }
    unpack_packages "$place" libc++-19-dev libc++abi-19-dev libc++1-19 libc++abi1-19 libunwind-19 libunwind-19-dev ||
        { skip_compiler libc++ "apt can't download libc++-19-dev" && return; }
    place=$(readlink -f -- "$place")
    flags=(-stdlib=libc++ -nostdinc++ -isystem "$place/usr/lib/llvm-19/include/c++/v1" -L "$place/usr/lib/llvm-19/lib"
        -L "$place/usr/lib/x86_64-linux-gnu" "-Wl,-rpath,$place/usr/lib/llvm-19/lib"
        -Wno-unused-command-line-argument)
    check_compiler libc++ "$describe" "$folder/libc++" -- clang++-19 "${flags[@]}"
}

check_trixie() {
    local describe=$1 folder=$2 place=$2/trixie archive
    if ! has_tool debootstrap || [[ $EUID -ne 0 ]]; then
        skip_compiler 'g++ 14' 'debootstrap is missing, or you are not root'
        return
    fi
    if [[ ! -e $place/usr/bin/g++-14 ]]; then
        # shellcheck source=scripts/dev/asio_versions.sh
        source scripts/dev/asio_versions.sh
        archive=$(debian_archive)
        rm -rf -- "$place"
        debootstrap --variant=minbase --include=g++-14 trixie "$place" ${archive:+"$archive"} >&2 ||
            { skip_compiler 'g++ 14' "debootstrap can't make a root of trixie" && return; }
    fi
    place=$(readlink -f -- "$place")
    # shellcheck disable=SC2016
    check_compiler 'g++ 14' --enter "chroot $place sh -c 'cd /coroscope && exec \"\$@\"' sh" \
        "$describe" "$place/coroscope" -- g++-14
}

# compilers_suite FOLDER
compilers_suite() {
    local folder=$1 describe=$1/tests/compatibility/describe_trace
    want others
    ninja -C "$folder" tests/compatibility/describe_trace >&2
    mkdir -p -- build/compilers
    check_arm64 "$describe" build/compilers
    check_libcxx "$describe" build/compilers
    check_trixie "$describe" build/compilers
    printf '%s passed, %s failed' "$compilers_passed" "$compilers_failed"
    [[ $compilers_skipped -eq 0 ]] || printf ', %s skipped' "$compilers_skipped"
    printf '\n'
    [[ $compilers_failed -eq 0 ]]
}
