# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --packages: builds the Debian packages, and installs and uses them in a fresh Debian 12 (tests/packages).
#
# debootstrap makes the root once, in build/roots; each group of tests works in a copy of it. It needs root's rights and
# Debian's archive.

# base_root FOLDER: makes a fresh Debian 12 without recommended packages and documents.
base_root() {
    local folder=$1
    [[ ! -e $folder/etc/apt/apt.conf.d/90fresh ]] || return 0
    rm -rf -- "$folder"
    mkdir -p -- "${folder%/*}"
    debootstrap --variant=minbase bookworm "$folder" >&2 ||
        fail "debootstrap failed; see its message above, and $folder/debootstrap/debootstrap.log"
    printf 'force-unsafe-io\n' >"$folder/etc/dpkg/dpkg.cfg.d/fresh"
    printf 'Acquire::Languages "none";\n' >"$folder/etc/apt/apt.conf.d/90fresh"
}

# packages_suite: the last line is "N passed, N failed".
packages_suite() {
    [[ $EUID -eq 0 ]] || fail "test: --packages makes a root with debootstrap and chroot; run it as root"
    require packages
    ./dev package >&2
    base_root "$root/build/roots/bookworm"
    python3 tests/packages/test_packages.py "$root" "$root/build/packages" "$root/build/roots/bookworm"
}
