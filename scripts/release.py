#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prepares and makes a release.

    release.py --prepare VERSION DATE   writes the version into the files that name it, and dates its part of CHANGELOG.md
    release.py [--output FOLDER]        makes the source archive, its checksums, a wrap file for Meson and the notes
    release.py --uncommitted            the same from the files as they are, dated or not, to try it

The archive of a commit is the same on every machine: its files are sorted and have the commit's time."""

import argparse
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tarfile

import tree

VERSION = re.compile(r"^  version: '([0-9.]+)'", re.MULTILINE)
UNRELEASED = re.compile(r"^## Unreleased.*$", re.MULTILINE)

# The places that name the version, beside meson.build: a file, and the text around the version
NAMED = (
    ("docs/start/install.md", "/third_party/coroscope-{}.tar.xz"),
    ("docs/start/install.md", "lib/runtime/libcoroscope.so.{} "),
    ("docs/start/install.md", "lib/interpose/libcoroscope-interpose.so.{}`"),
    ("packaging/vcpkg/coroscope/vcpkg.json", '"version": "{}"'),
)
# The places that name its first two numbers
NAMED_SHORTLY = (("docs/start/install.md", "find_package(coroscope {} CONFIG REQUIRED)"),)

WRAP = """[wrap-file]
directory = coroscope-{version}
source_filename = coroscope-{version}.tar.xz
source_hash = {sha256}

[provide]
dependency_names = {names}
"""

DEPENDENCIES = ("coroscope", "coroscope-asio", "coroscope-fibers", "coroscope-trace", "coroscope-analysis", "coroscope-cuda",
                "coroscope-memory-hook")

NOTES = """# Coroscope {version}

{changes}

## Archive

`coroscope-{version}.tar.xz`, with the SHA-256 sum

```
{sha256}
```

Check the files by `sha256sum -c SHA256SUMS`. In CMake, write
`FetchContent_Declare(coroscope URL … URL_HASH SHA256=…)` with the address of the archive and this sum. With Meson, put
`coroscope.wrap` into `subprojects/` and the archive into `subprojects/packagefiles/`. All other ways are in
`docs/start/install.md`.
"""


class Failure(Exception):
    """One line: the problem, its place, the remedy."""


def read(name):
    return (tree.ROOT / name).read_text(encoding="utf-8")


def version():
    return VERSION.search(read("meson.build"))[1]


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=tree.ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"git {arguments[0]} failed: {done.stderr.strip()}; make a release in a clone of the repository")
    return done.stdout


def changes(wanted):
    """The changelog's part of a version: the text, and its date or None."""
    text = read("CHANGELOG.md")
    found = re.search(rf"^## {re.escape(wanted)} \((\d{{4}}-\d\d-\d\d)\)$", text, re.MULTILINE) or UNRELEASED.search(text)
    rest = text[found.end():]
    end = re.search(r"^## ", rest, re.MULTILINE)
    dated = found[0].startswith(f"## {wanted}")
    return rest[:end.start() if end else len(rest)].strip(), found[1] if dated else None


def prepare(new, date):
    """Writes the version and the date into all files that have them."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", new) or not re.fullmatch(r"\d{4}-\d\d-\d\d", date):
        raise Failure(f"--prepare {new} {date}: give a version as 0.2.0 and a date as 2026-01-31")
    old = version()
    shorten = lambda each: ".".join(each.split(".")[:2])
    edits = [("meson.build", f"\n  version: '{old}'", f"\n  version: '{new}'")]
    edits += [(name, text.format(old), text.format(new)) for name, text in NAMED]
    edits += [(name, text.format(shorten(old)), text.format(shorten(new))) for name, text in NAMED_SHORTLY]
    unreleased = UNRELEASED.search(read("CHANGELOG.md"))
    if not unreleased:
        raise Failure('CHANGELOG.md has no part "## Unreleased"; add it above the newest version')
    edits.append(("CHANGELOG.md", unreleased[0], f"## Unreleased\n\n## {new} ({date})"))
    for name, before, _ in edits:
        if before not in read(name):
            raise Failure(f"{name} lacks \"{before.strip()}\"; correct the file, or the list in scripts/release.py")
    for name, before, after in edits:
        (tree.ROOT / name).write_text(read(name).replace(before, after, 1), encoding="utf-8")
    print(f"release: {old} is now {new}, of {date}. Commit these files, then run ./dev release:")
    print("\n".join(sorted({f"    {name}" for name, _, _ in edits})))


def archive(path, folder, seconds, preset):
    """Writes the project's files into a compressed archive, below the folder."""
    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = seconds
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return entry

    with tarfile.open(path, "w:xz", preset=preset, format=tarfile.GNU_FORMAT) as written:
        for each in tree.files():
            written.add(each, f"{folder}/{each.relative_to(tree.ROOT)}", filter=plain)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_committed(wanted):
    if git("status", "--porcelain").strip():
        raise Failure("the folder has uncommitted changes; commit them, or try with --uncommitted")
    if changes(wanted)[1] is None:
        raise Failure(f"CHANGELOG.md has no dated part for {wanted}; run ./dev release --prepare VERSION DATE, and commit")


def make(output, uncommitted):
    name = version()
    if not uncommitted:
        check_committed(name)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or (0 if uncommitted else git("log", "-1", "--format=%ct")))
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"coroscope-{name}.tar.xz"
    sha256 = archive(path, path.name.removesuffix(".tar.xz"), seconds, 0 if uncommitted else 9)
    facts = {"version": name, "sha256": sha256, "names": ", ".join(DEPENDENCIES), "changes": changes(name)[0]}
    for file, text in ("coroscope.wrap", WRAP), (f"coroscope-{name}.md", NOTES):
        (output / file).write_text(text.format(**facts), encoding="utf-8")
    files = [path.name, "coroscope.wrap", f"coroscope-{name}.md"]
    for kind in "sha256", "sha512":
        lines = [f"{hashlib.new(kind, (output / file).read_bytes()).hexdigest()}  {file}\n" for file in files]
        (output / f"{kind.upper()}SUMS").write_text("".join(lines), encoding="utf-8")
    print(f"release: {name} in {output}: {', '.join(files)}, SHA256SUMS, SHA512SUMS")


def main():
    arguments = argparse.ArgumentParser(prog="./dev release", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--prepare", nargs=2, metavar=("VERSION", "DATE"))
    arguments.add_argument("--output", type=pathlib.Path, default=tree.ROOT / "build" / "archive")
    arguments.add_argument("--uncommitted", action="store_true")
    given = arguments.parse_args()
    try:
        if given.prepare:
            prepare(*given.prepare)
        else:
            make(given.output, given.uncommitted)
    except Failure as failure:
        print(f"release: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
