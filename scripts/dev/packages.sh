# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Finds the missing packages of scripts/dev/packages.txt and, on Debian 12, installs them. Probes
# look for the needed object (a header, a tool), not for a package, so that any system that has it
# will do. Each installation is announced, and no package is ever removed.

# Read by configure.sh: after an installation, parts that an earlier configuration missed may be
# found.
packages_installed=no

# ---- probes ---------------------------------------------------------------------------------

cxx() { printf '%s\n' "${CXX:-c++}"; }

# Runs the compiler on standard input; CXX may hold arguments ("ccache g++").
compile() {
    local -a command
    read -ra command <<<"$(cxx)"
    has_tool "${command[0]}" && "${command[@]}" -std=c++20 -x c++ "$@" >/dev/null 2>&1
}

probe_compiler() {
    compile -fsyntax-only - <<<'#include <coroutine>
std::suspend_never probe();'
}

# probe_header SPELLING[,SPELLING…]: one of them is enough; packagers install under different names.
# The file is tried first: this works even without a compiler, and Meson looks into BOOST_ROOT.
probe_header() {
    local folder header
    local -a spellings folders=(/usr/local/include /usr/include)
    [[ -z ${BOOST_ROOT:-} ]] || folders+=("$BOOST_ROOT/include" "$BOOST_ROOT")
    IFS=, read -ra spellings <<<"$1"
    for header in "${spellings[@]}"; do
        for folder in "${folders[@]}"; do
            [[ -e $folder/$header ]] && return 0
        done
        compile -E - <<<"#include <$header>" && return 0
    done
    return 1
}

# Sources that Meson has fetched (meson subprojects download NAME) are as good as a package.
probe_wrap() {
    compgen -G "subprojects/$1-[0-9]*" >/dev/null
}

# probe_folder PATTERN: succeeds if there is a folder of that name.
probe_folder() {
    compgen -G "$1/" >/dev/null
}

# probe_link FLAG…: succeeds if an empty program links with these.
probe_link() {
    local scratch status=0
    scratch=$(mktemp)
    compile -o "$scratch" - "$@" <<<'int main() {}' || status=1
    rm -f -- "$scratch"
    return "$status"
}

# tool:NAME, or tool:NAME>=VERSION if the output of NAME --version begins with its number.
probe_tool() {
    local name=${1%%>=*} wanted=${1#*>=} found
    has_tool "$name" || return 1
    [[ $wanted != "$1" ]] || return 0
    found=$("$name" --version 2>/dev/null) || return 1
    [[ $(printf '%s\n%s\n' "$wanted" "$found" | sort -V | head -n 1) == "$wanted" ]]
}

probe() {
    local argument=${1#*:}
    case $1 in
        compiler) probe_compiler ;;
        folder:*) probe_folder "$argument" ;;
        header:*) probe_header "${argument%|*}" || probe_wrap "${argument#*|}" ;;
        library:*) probe_link "-l$argument" ;;
        sanitizer:*) probe_link "-fsanitize=$argument" ;;
        pkg:*) has_tool pkg-config && pkg-config --exists "$argument" ;;
        tool:*) probe_tool "$argument" ;;
        *) fail "scripts/dev/packages.txt: no probe \"$1\"" ;;
    esac
}

# Prints "package<TAB>probe<TAB>description" for the parts that the named sets need and the system
# lacks.
missing_packages() {
    local wanted=" $* " set check package what
    while read -r set check package what; do
        [[ $set == [a-z]* && $wanted == *" $set "* ]] || continue
        probe "$check" || printf '%s\t%s\t%s\n' "$package" "$check" "$what"
    done <scripts/dev/packages.txt
}

# ---- Boost ----------------------------------------------------------------------------------

# Debian 12 has two Boosts whose headers exclude each other: 1.74, its default, and 1.81. The
# installed one stays. If none is installed, dev takes the newer one.
boost_version() {
    local header version=
    for header in /usr/local/include/boost/version.hpp /usr/include/boost/version.hpp; do
        [[ -r $header ]] || continue
        version=$(sed -n 's/^#define BOOST_LIB_VERSION "\([0-9]*\)_\([0-9]*\).*/\1.\2/p' "$header")
        break
    done
    printf '%s\n' "${version:-1.81}"
}

# ---- Debian ---------------------------------------------------------------------------------

# Succeeds on Debian 12 and on systems whose os-release names it as their base. A subshell:
# os-release sets variables.
is_debian_12() (
    has_tool apt-get && [[ -r /etc/os-release ]] || return 1
    # shellcheck source=/dev/null
    source /etc/os-release
    [[ ${VERSION_CODENAME:-} == bookworm || ${DEBIAN_CODENAME:-} == bookworm ]] ||
        [[ ${ID:-} == debian && ${VERSION_ID:-} == 12 ]]
)

system_name() (
    [[ -r /etc/os-release ]] || { uname -s && return; }
    # shellcheck source=/dev/null
    source /etc/os-release
    printf '%s\n' "${PRETTY_NAME:-${NAME:-$(uname -s)}}"
)

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif [[ -t 0 ]]; then
        sudo -- "$@"
    else
        sudo --non-interactive -- "$@"
    fi
}

# Recommended packages are not needed. With --no-remove apt refuses to remove a package. The command
# waits for another apt, such as a system's own upgrade. Its pages of progress are shown only if it
# fails.
apt_install() {
    local log status=0
    log=$(mktemp)
    as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get install -qq --assume-yes \
        --no-install-recommends --no-remove -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 -- "$@" \
        </dev/null >"$log" 2>&1 || status=1
    [[ $status -eq 0 ]] || tail -n 30 "$log" | sed 's/^/    /' >&2
    rm -f -- "$log"
    return "$status"
}

apt_update() {
    say "fetching Debian's package lists (apt-get update)"
    as_root apt-get update -qq </dev/null >&2 || fail "apt-get update failed; see its message above"
}

# Prints what apt would do, without doing it; needs no root.
apt_plan() {
    LC_ALL=C apt-get install --print-uris --assume-yes --no-install-recommends --no-remove \
        -- "$@" 2>&1 </dev/null
}

# Prints the plan by which the packages can be installed together. If there is none, the package
# lists may be too old: fetches them and tries again.
resolved_plan() {
    local plan
    if ! plan=$(apt_plan "$@"); then
        apt_update
        plan=$(apt_plan "$@") || {
            awk '/REMOVED:$|unmet dependencies:$|^E: / { show = 1 } show { print "    " $0 }' \
                <<<"$plan" >&2
            fail "apt can't install $* beside what is there (its words above)." \
                "dev removes no package: settle the conflict, then run this again"
        }
    fi
    printf '%s\n' "$plan"
}

# want SET…: installs the packages of the sets if there is no conflict. The build leaves out parts
# that are still missing, and their tests.
want() {
    local missing plan
    local -a packages
    is_debian_12 || return 0
    missing=$(missing_packages "$@")
    [[ -n $missing ]] || return 0
    mapfile -t packages < <(cut -f 1 <<<"${missing//@/$(boost_version)}" | sort -u)
    if [[ $EUID -ne 0 ]] && ! has_tool sudo; then
        say "without ${packages[*]}: not root and no sudo; what needs them is left out"
    elif plan=$(resolved_plan "${packages[@]}" 2>/dev/null) && announce "$plan" "${packages[@]}" &&
        apt_install "${packages[@]}"; then
        # shellcheck disable=SC2034
        packages_installed=yes
        hash -r
    else
        say "without ${packages[*]}: apt can't install them; what needs them is left out"
    fi
}

# The CUDA toolkit is no Debian package, so dev does not install it.
tell_cuda() {
    local folder
    folder=$(scripts/cuda_toolkit.sh)
    [[ -e $folder/include/cupti.h || -e /usr/include/cupti.h ]] ||
        say "without the CUDA toolkit (no cupti.h below $folder): coroscope-cuda and its tests are left out"
}

announce() {
    local plan=$1 count download disk
    shift
    count=$(sed -n 's/.* \([0-9]*\) newly installed.*/\1/p' <<<"$plan")
    download=$(sed -n 's/^Need to get \([^/]*\)\(\/.*\)\{0,1\} of archives.*/\1/p' <<<"$plan")
    disk=$(sed -n 's/^After this operation, \(.*\) of additional.*/\1/p' <<<"$plan")
    say "needed and not found: $*"
    say "installing them, with what they need: ${count:-some} Debian packages," \
        "${download:-0 B} to download, ${disk:-0 B} on disk"
}

install_packages() {
    local plan
    if [[ $EUID -ne 0 ]] && ! has_tool sudo; then
        fail "not root and no sudo: as root, run: apt-get install --no-install-recommends $*"
    fi
    # A separate assignment, so that a failure in the command ends dev here.
    plan=$(resolved_plan "$@")
    announce "$plan" "$@"
    if ! apt_install "$@"; then
        # Lists that are older than the archive name files that no longer exist.
        apt_update
        apt_install "$@" || fail "apt-get install failed; see its message above"
    fi
    # shellcheck disable=SC2034
    packages_installed=yes
}

# ---- the rule -------------------------------------------------------------------------------

name_missing() {
    local package check what
    while IFS=$'\t' read -r package check what; do
        check=${check/,*|/|}
        printf '    %-42s %s (in Debian: %s)\n' "${check%|*}" "$what" "$package" >&2
        [[ $check != *'|'* ]] ||
            printf '    %-42s or: meson subprojects download %s\n' '' "${check#*|}" >&2
    done <<<"$1"
}

# require SET…: installs the packages of the sets. If a part is still missing, dev names it and
# ends.
require() {
    local missing
    local -a packages
    missing=$(missing_packages "$@")
    [[ -n $missing ]] || return 0
    missing=${missing//@/$(boost_version)}
    if ! is_debian_12; then
        say "not found on $(system_name):"
        name_missing "$missing"
        fail "install these and run this again; dev installs packages on Debian 12 only"
    fi
    mapfile -t packages < <(cut -f 1 <<<"$missing" | sort -u)
    install_packages "${packages[@]}"
    hash -r
    missing=$(missing_packages "$@")
    [[ -z $missing ]] && return 0
    say "installed, and still not found:"
    name_missing "${missing//@/$(boost_version)}"
    fail "see why these are not found (CXX is $(cxx)), then run this again"
}
