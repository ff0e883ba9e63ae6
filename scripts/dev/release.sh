# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Makes a release: scripts/release.py.

release_usage() {
    cat <<'TEXT'
usage: ./dev release --prepare VERSION DATE
       ./dev release [--output FOLDER] [--uncommitted]

Makes the source archive, its checksums, a wrap file for Meson, and release notes from CHANGELOG.md, in build/archive. The
files must be committed, and CHANGELOG.md must have a dated part for the version of meson.build. --prepare writes the version
and the date (2026-01-31) into the files that name them. --uncommitted makes an archive of the files as they are.

example: ./dev release --prepare 0.2.0 "$(date -I)" && git commit -am "Release 0.2.0" && ./dev release
TEXT
}

verb_main() {
    case ${1:-} in
        --help | -h) release_usage && return ;;
    esac
    require rules
    python3 scripts/release.py "$@"
}
