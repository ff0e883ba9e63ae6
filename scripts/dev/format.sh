# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

verb_main() {
    case ${1:-} in
        '') ;;
        --help | -h) echo 'usage: ./dev format: formats the C++ sources in place (.clang-format)' && return ;;
        *) usage_error "format: takes no argument" ;;
    esac
    require format
    cpp_sources | xargs -0 -r clang-format-19 -i
}
