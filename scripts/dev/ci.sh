# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

ci_usage() {
    cat <<'TEXT'
usage: ./dev ci

Runs what continuous integration runs: the quick checks, then every suite of the tests (scripts/ci.py). The
last lines, at most a hundred, are a table of the suites, a block for each failure, and "N passed, N failed".
Exits 0 when nothing failed.

COROSCOPE_CI_SECONDS is the time that it may take. A suite that would not end by then is left out.
TEXT
}

verb_main() {
    case ${1:-} in
        --help | -h) ci_usage && return ;;
        ?*) usage_error "ci: no argument $1; see ./dev ci --help" ;;
    esac
    require rules
    exec python3 scripts/ci.py
}
