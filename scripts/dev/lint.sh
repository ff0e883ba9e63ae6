# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

lint_usage() {
    cat <<'TEXT'
usage: ./dev lint [--quick] [FILE…]

Checks, and changes nothing:
  layers       who may include whom (scripts/check_layers.py)
  sources      licence lines, left-over notes, file sizes (scripts/check_sources.py)
  definitions  functions are defined beside their headers (scripts/check_definitions.py)
  prose        words that make comments and documents hard to read (scripts/check_prose.py)
  format       .clang-format
  types        the page of reports, by TypeScript, if ./dev test --consumers has installed it
  tidy         .clang-tidy, over every source that is compiled, or those that match a FILE

--quick stops before the last, which takes as long as a build.
TEXT
}

failed_checks=()

# check NAME COMMAND…: runs a check. A failing check does not stop the next one.
check() {
    local name=$1
    shift
    say "lint: $name"
    "$@" || failed_checks+=("$name")
}

# One line per place; clang-format's own message is a page for each.
check_format() {
    local places
    places=$(cpp_sources | xargs -0 -r clang-format-19 --dry-run 2>&1 |
        sed -n 's/^\([^: ]*:[0-9]*\):[0-9]*: .*/\1: not in format; .\/dev format mends it/p' |
        sort -u -t : -k 1,1 -k 2,2n)
    [[ -z $places ]] && return
    printf '%s\n' "$places"
    return 1
}

check_types() {
    has_tool node || { say 'types: skipped, because node is missing' && return; }
    node tests/report/test_types.mjs "$root/build/report" || [[ $? -eq 77 ]]
}

# Checks our own sources only; the build folder also has foreign ones. The compile commands are
# g++'s: clang-tidy does not know all of g++'s warnings, and Asio 1.22 does not know that clang has
# coroutines. Three sources are left out: clang 19 does not compile Boost 1.81's futures, it does not
# know the option that g++ needs for tests/runtime/writer/unloaded_names.cpp, and its analyser takes
# a pointer in Boost's awaitable, as bench/asio_rows.cpp uses it, for undefined.
check_tidy() {
    local folder=$1 files
    shift
    files=$(IFS='|' && printf '%s' "$*")
    run-clang-tidy-19 -quiet -p "$folder" -j "$(nproc)" \
        -extra-arg=-Wno-unknown-warning-option \
        -extra-arg=-DASIO_HAS_CO_AWAIT=1 -extra-arg=-DASIO_HAS_STD_COROUTINE=1 \
        "${files:-^$root/(lib|tools|examples|bench|tests)/(?!asio_rows|futures/test_boost_future|runtime/writer/unloaded_names)}" 2>&1 |
        sed '/ warnings\{0,1\} generated\.$/d'
}

verb_main() {
    local quick=no folder
    local -a files=()
    while [[ $# -gt 0 ]]; do
        case $1 in
            --help | -h) lint_usage && return ;;
            --quick) quick=yes ;;
            -*) usage_error "lint: no option $1; see ./dev lint --help" ;;
            *) files+=("$1") ;;
        esac
        shift
    done
    require rules format
    check layers python3 scripts/check_layers.py
    check sources python3 scripts/check_sources.py
    check prose python3 scripts/check_prose.py
    check definitions python3 scripts/check_definitions.py
    check format check_format
    check types check_types
    if [[ $quick == no ]]; then
        require build test bench lint
        folder=$(build_folder lint)
        configure "$folder" lint -Dtools=enabled -Dexamples=enabled -Dtests=enabled \
            -Dbench=enabled
        check tidy check_tidy "$folder" "${files[@]}"
    fi
    [[ ${#failed_checks[@]} -eq 0 ]] || fail "lint: failed: ${failed_checks[*]}"
    say "lint: clean"
}
