# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Builds Debian packages by dpkg's own tools. packaging/debian describes them.

package_usage() {
    cat <<'TEXT'
usage: ./dev package

Builds Debian packages of the sources as they are, by dpkg-buildpackage, and checks them by lintian if it is installed:
libcoroscope0, libcoroscope-dev, libcoroscope-analysis0, libcoroscope-analysis-dev, coroscope, and the packages with
debug information. They are in build/packages. DEBFULLNAME and DEBEMAIL name the maintainer; by default it is the user of
git. The version of sources that CHANGELOG.md does not date ends with ~unreleased.

example: DEBFULLNAME="Ada" DEBEMAIL=ada@company.com ./dev package
TEXT
}

# maintainer: prints "NAME <ADDRESS>".
maintainer() {
    local name=${DEBFULLNAME:-} address=${DEBEMAIL:-}
    [[ -n $name ]] || name=$(git config user.name 2>/dev/null) || name=Coroscope
    [[ -n $address ]] || address=$(git config user.email 2>/dev/null) || address=coroscope@localhost
    printf '%s <%s>\n' "$name" "$address"
}

# package_version: the version, with ~unreleased behind it if the changelog has no date for it.
package_version() {
    local version
    version=$(sed -nE "s/^  version: '([0-9.]+)',$/\1/p" meson.build)
    if grep -q "^## ${version//./\\.} (" CHANGELOG.md; then
        printf '%s\n' "$version"
    else
        printf '%s~unreleased\n' "$version"
    fi
}

# describe_package SOURCES: puts debian/ into the sources, with the maintainer, the version and the date of now.
describe_package() {
    local who when version
    who=$(maintainer)
    when=$(date -R ${SOURCE_DATE_EPOCH:+--date=@"$SOURCE_DATE_EPOCH"})
    version=$(package_version)
    cp -r -- packaging/debian "$1/debian"
    # The name of the file's format is an address of the distribution.
    printf 'Format: https://www.%s.org/doc/packaging-manuals/copyright-format/1.0/\n' debian |
        cat - packaging/debian/copyright >"$1/debian/copyright"
    sed -i "s|@maintainer@|$who|" "$1/debian/control"
    cat >"$1/debian/changelog" <<TEXT
coroscope ($version) unstable; urgency=medium

  * The changes are in CHANGELOG.md.

 -- $who  $when
TEXT
}

# check_packages FOLDER: lintian must find nothing.
check_packages() {
    has_tool lintian || { say 'lintian is missing: the packages are not checked' && return; }
    local -a as=()
    [[ $EUID -ne 0 ]] || as=(--allow-root)
    lintian "${as[@]}" --fail-on error,warning -- "$1"/*.changes >&2 ||
        fail "lintian finds faults in $1 (above); correct packaging/debian"
}

verb_main() {
    case ${1:-} in
        '') ;;
        --help | -h) package_usage && return ;;
        *) usage_error "package: no argument $1; see ./dev package --help" ;;
    esac
    require build package
    local folder=$root/build/packages sources
    rm -rf -- "$folder/sources"
    rm -f -- "$folder"/*.{deb,changes,buildinfo}
    mkdir -p -- "$folder/sources"
    python3 scripts/release.py --uncommitted --output "$folder/sources" >&2
    tar -xf "$folder"/sources/*.tar.xz -C "$folder/sources"
    sources=$(printf '%s\n' "$folder"/sources/*/)
    describe_package "$sources"
    (cd -- "$sources" && dpkg-buildpackage --build=binary --unsigned-changes --no-pre-clean) >&2 ||
        fail "dpkg-buildpackage failed in $sources; see its message above"
    mv -- "$folder"/sources/*.{deb,changes,buildinfo} "$folder"
    rm -rf -- "$folder/sources"
    check_packages "$folder"
    say "built in build/packages:"
    (cd -- "$folder" && ls -- *.deb)
}
