# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Functions for every verb: messages and failures.

say() { printf 'dev: %s\n' "$*" >&2; }

# Prints one clear line with the error, its place and the next step, and exits with 1.
fail() {
    say "$@"
    exit 1
}

usage_error() {
    say "$@"
    exit 2
}

has_tool() { command -v -- "$1" >/dev/null 2>&1; }

# need_value OPTION "$@": fails if the option has no value.
need_value() {
    [[ $# -ge 3 ]] || usage_error "$1 needs a value"
}

# Our C++ sources, each ended by a zero byte. New files are included before they are committed. If
# git can't answer (a source archive), all files are included.
cpp_sources() {
    local -a folders=(include lib tools tests bench examples)
    if git ls-files >/dev/null 2>&1; then
        git ls-files -z --cached --others --exclude-standard -- "${folders[@]}"
    else
        find "${folders[@]}" -type f -print0
    fi | grep -zE '\.(hpp|cpp|h|cu)$' | while IFS= read -r -d '' file; do
        [[ -f $file ]] && printf '%s\0' "$file"
    done
}
