# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

docs_usage() {
    cat <<'TEXT'
usage: ./dev docs

Makes a site of the documents in build/docs, and checks all its links. It needs no server: open build/docs/index.html.
The pages of the classes and functions are in build/docs/api.
TEXT
}

verb_main() {
    local folder=build/docs
    case ${1:-} in
        '') ;;
        --help | -h) docs_usage && return ;;
        *) usage_error "docs: takes no argument; see ./dev docs --help" ;;
    esac
    require docs
    python3 scripts/site/build_site.py "$folder"
    python3 scripts/site/check_site.py "$folder" ||
        fail "docs: $folder has the broken links above; correct them in the documents"
    say "open $folder/index.html"
}
