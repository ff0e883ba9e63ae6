# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What every verb may use: how dev speaks and how it fails.

say() { printf 'dev: %s\n' "$*" >&2; }

# One clear line: what, where, what to do.
fail() {
    say "$@"
    exit 1
}

usage_error() {
    say "$@"
    exit 2
}

has_tool() { command -v -- "$1" >/dev/null 2>&1; }

# need_value OPTION "$@": the option's value is there.
need_value() {
    [[ $# -ge 3 ]] || usage_error "$1 needs a value"
}

# Our C++ sources, each ended by a zero byte. New files count before they are committed; where git
# can't answer (a source archive), all files count.
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
