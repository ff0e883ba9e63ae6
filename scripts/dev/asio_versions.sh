# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test --asio-versions: the tests of Asio's tracking (tests/asio) with several versions of Asio and Boost.
#
# The headers come from Debian's archive, through a separate apt configuration below the build
# folder: nothing is installed, and the system's lists stay unchanged. A version that is not
# available is skipped.

# The versions to try: the release of Debian, the package, and the folder of the headers in the
# package.
asio_version_table() {
    cat <<'TEXT'
bullseye libasio-dev usr/include
bookworm libboost1.74-dev usr/include
bookworm libasio-dev usr/include
bookworm libboost1.81-dev usr/include
trixie libasio-dev usr/include
trixie libboost1.83-dev usr/include
trixie libboost1.88-dev usr/include
TEXT
}

# The archive of this system's own packages.
debian_archive() {
    has_tool apt-get || return 0
    apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(SITE)' 'Created-By: Packages' 2>/dev/null |
        awk '$1 == "Debian" && $2 == "main" && $3 !~ /security/ { print $3; exit }'
}

# apt_apart FOLDER COMMAND…: apt-get with all its state below the folder.
apt_apart() {
    local folder=$1
    shift
    apt-get -q -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State="$folder/state" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
        -o APT::Sandbox::User="$(id -un)" -o APT::Get::List-Cleanup=false -o Acquire::Languages=none \
        -o Acquire::Retries=2 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@" </dev/null
}

# fetch_lists FOLDER RELEASE…: the package lists of these releases. A release that the archive no
# longer has is left out.
fetch_lists() {
    local folder=$1 archive release
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    shift
    archive=$(debian_archive)
    [[ -n $archive ]] || return 0
    mkdir -p "$folder"/state/lists/partial "$folder"/cache/archives/partial
    : >"$folder/status"
    for release in "$@"; do
        printf 'deb %s %s %s main\n' "$([[ ! -e $keys ]] || printf '[signed-by=%s]' "$keys")" "$archive" "$release"
    done >"$folder/sources.list"
    apt_apart "$folder" update >"$folder/update.log" 2>&1 || true
}

# headers_of FOLDER RELEASE PACKAGE: unpacks the package if necessary, and prints the folder of its
# headers.
headers_of() {
    local folder=$1 release=$2 package=$3
    local place=$folder/$release-$package
    if [[ ! -d $place ]]; then
        mkdir -p "$place.new" || return 1
        if ! (cd -- "$place.new" && apt_apart "$folder" download "$package/$release" && dpkg-deb -x ./*.deb . &&
            rm -f -- ./*.deb) >"$place.log" 2>&1; then
            rm -rf -- "$place.new"
            return 1
        fi
        mv -- "$place.new" "$place"
    fi
    printf '%s\n' "$place"
}

# has_coroutines HEADERS PACKAGE: succeeds if the compiler supports coroutines with these headers.
has_coroutines() {
    local name=boost/asio
    [[ $2 != libasio-dev ]] || name=asio
    "$(cxx)" -std=c++20 -DASIO_STANDALONE -isystem "$1" -include "$name/detail/config.hpp" -x c++ -dM -E /dev/null |
        grep -E '^#define (BOOST_)?ASIO_HAS_CO_AWAIT' >/dev/null
}

# test_asio_version FOLDER HEADERS PROGRAM PACKAGE: compiles the tests with these headers and runs them.
test_asio_version() {
    local folder=$1 headers=$2 program=$3 package=$4
    local -a options=(-DBOOST_ASIO_CUSTOM_HANDLER_TRACKING='<coroscope/integration/asio.hpp>')
    [[ $package != libasio-dev ]] ||
        options=(-DASIO_CUSTOM_HANDLER_TRACKING='<coroscope/integration/asio.hpp>' -DASIO_STANDALONE
            -DCOROSCOPE_TEST_STANDALONE_ASIO)
    "$(cxx)" -std=c++20 -O0 -w "${options[@]}" -isystem "$headers" -Iinclude -o "$program" tests/asio/all_tests.cpp \
        "$folder/tests/libdoctest-main.a" -L"$folder/lib/runtime" -L"$folder/lib/analysis" \
        -lcoroscope-analysis -lcoroscope -Wl,-rpath,"$root/$folder/lib/runtime:$root/$folder/lib/analysis" \
        -pthread >&2 &&
        "$program" --no-colors=true
}

# try_asio_version FOLDER RELEASE PACKAGE BELOW: prints "TITLE: N passed, N failed" or "TITLE: skipped, REASON".
try_asio_version() {
    local folder=$1 release=$2 package=$3 below=$4 apart headers output title
    local -a counts
    apart=$root/$folder/asio-versions
    if ! headers=$(headers_of "$apart" "$release" "$package"); then
        printf '%s of %s: skipped, it cannot be had (%s)\n' "$package" "$release" "$apart/$release-$package.log"
        return
    fi
    title="$package of $release (Asio $(asio_version "$headers/$below"))"
    if ! has_coroutines "$headers/$below" "$package"; then
        printf '%s: skipped, no coroutines with %s\n' "$title" "$(cxx)"
        return
    fi
    output=$(test_asio_version "$folder" "$headers/$below" "$headers/test_asio" "$package") || printf '%s\n' "$output" >&2
    read -ra counts <<<"$(sed -nE 's/^\[doctest\] test cases:.*\| +([0-9]+) passed \| +([0-9]+) failed.*/\1 \2/p' <<<"$output")"
    printf '%s: %d passed, %d failed\n' "$title" "${counts[0]:-0}" "${counts[1]:-1}"
}

# asio_suite FOLDER: tests the versions, as many at a time as there are processors. The last line is
# "N passed, N failed[, N skipped]".
asio_suite() {
    local folder=$1 apart release package below result
    local -i passed=0 failed=0 skipped=0 running=0 most
    local -a releases
    most=$(nproc)
    apart=$root/$folder/asio-versions
    ninja -C "$folder" tests/asio/test_asio_untried >&2 # and with it the libraries and doctest's main()
    mapfile -t releases < <(asio_version_table | cut -d " " -f 1 | sort -u)
    mkdir -p "$apart"
    fetch_lists "$apart" "${releases[@]}"
    while read -r release package below; do
        ((running < most)) || { wait -n && true; running+=-1; }
        try_asio_version "$folder" "$release" "$package" "$below" >"$apart/$release-$package.result" </dev/null &
        running+=1
    done < <(asio_version_table)
    wait
    while read -r release package below; do
        result=$(<"$apart/$release-$package.result")
        printf '%s\n' "$result"
        if [[ $result =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
            passed+=${BASH_REMATCH[1]} failed+=${BASH_REMATCH[2]}
        elif [[ $result == *': skipped, '* ]]; then
            skipped+=1
        else
            failed+=1
        fi
    done < <(asio_version_table)
    printf '\n%d passed, %d failed' "$passed" "$failed"
    [[ $skipped -eq 0 ]] || printf ', %d skipped' "$skipped"
    printf '\n'
    [[ $failed -eq 0 ]]
}

# asio_version FOLDER: the version of the Asio whose headers are in the folder.
asio_version() {
    local header=$1/asio/version.hpp
    [[ -e $header ]] || header=$1/boost/asio/version.hpp
    sed -nE 's/^#define (BOOST_)?ASIO_VERSION [0-9]+ +\/\/ *//p' "$header"
}
