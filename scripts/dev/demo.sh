# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

demo_usage() {
    cat <<'TEXT'
usage: ./dev demo

Builds the example service, records it under load with `coroscope run`, prints where its time
went, and leaves demo.html (a report for the browser), demo.cst (the recording) and demo.json (the
same for a trace viewer).
TEXT
}

how_to_look() {
    cat <<TEXT

Open demo.html in a browser: it shows what is slow and why, with a timeline, flame graphs and tables.

demo.json holds the same recording for a trace viewer:
  online    open https://ui.perfetto.dev and "Open trace file" demo.json; it stays in the browser,
            nothing is uploaded
  offline   in Chromium or Chrome: Developer tools, Performance, "Load profile…", demo.json
  terminal  $1 why demo.cst       what slow requests do longer than others, and because of which work
            $1 awaits demo.cst    where tasks wait
            $1 tasks demo.cst     each task: running, queued, suspended
TEXT
}

verb_main() {
    local folder coroscope service
    case ${1:-} in
        '') ;;
        --help | -h) demo_usage && return ;;
        *) usage_error "demo: takes no argument; see ./dev demo --help" ;;
    esac
    require build
    folder=$(build_folder release)
    configure "$folder" release -Dtools=enabled -Dexamples=enabled
    coroscope=$folder/tools/coroscope
    service=$folder/examples/http_service/http_service
    ninja -C "$folder" "${coroscope#"$folder/"}" "${service#"$folder/"}"
    say "recording the example service under load"
    rm -f -- demo.cst demo.html demo.json
    "$coroscope" run -o demo.cst --html demo.html -- "$service" --requests 6000 --connections 64
    "$coroscope" export demo.cst --to chrome -o demo.json
    how_to_look "$coroscope"
}
