#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the shared libraries with the recorded ABI of the last release (tests/abi/recorded/), or records it anew.

The parts of the ABI against which a program was built must not disappear or change; additions are allowed. Types are
compared if the libraries have g++'s debug information and abidiff (abigail-tools) is installed. Otherwise only the
exported symbols are compared; their names include the parameters of functions."""

import argparse
import lzma
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
WRITE = ["abidw", "--headers-dir", INCLUDE, "--drop-private-types", "--drop-undefined-syms",
         "--exported-interfaces-only", "--no-comp-dir-path", "--no-corpus-path", "--no-parameter-names", "--no-show-locs", "--no-write-default-sizes"]
ADVICE = ("the recorded ABI no longer holds: if it was released, raise abi_version in meson.build, and in any case run "
          "./dev abi --record")
SHOWN_LINES = 40


def record_of(library):
    return HERE / "recorded" / platform.machine() / f"{library.name.partition('.')[0]}.xml.xz"


def write_dump(library, output):
    subprocess.run([*WRITE, "--out-file", output, library], check=True)
    return output


def has_types(library):
    """Whether the library has debug information of g++, as the recorded ABI has: clang describes some types
    differently."""
    listed = subprocess.run(["readelf", "--section-headers", "--string-dump=.comment", "--wide", library],
                            check=True, stdout=subprocess.PIPE, text=True)
    return ".debug_info" in listed.stdout and "clang version" not in listed.stdout


def missing_symbols(recorded, library):
    """Exported symbols that are gone, demangled. Weak symbols, of inline functions and template instances, are left
    out: a program that uses one has its own copy, and its presence in a library depends on optimisation."""
    listed = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", library],
                            check=True, stdout=subprocess.PIPE, text=True)
    present = {line.split()[0].partition("@")[0] for line in listed.stdout.splitlines()}  # without the version
    expected = {each.get("name") for each in xml.etree.ElementTree.fromstring(recorded).iter("elf-symbol")
                if each.get("binding") != "weak-binding"}
    gone = sorted(expected - present)
    shown = subprocess.run(["c++filt"], input="\n".join(gone), check=True, stdout=subprocess.PIPE, text=True)
    return [f"{library.name} no longer exports {name}" for name in shown.stdout.split("\n") if name]


def changed_types(recorded, library, folder):
    """abidiff's description of the changes."""
    before = folder / "recorded.xml"
    before.write_bytes(recorded)
    now = write_dump(library, folder / "now.xml")
    done = subprocess.run(["abidiff", "--no-added-syms", before, now],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout.splitlines()[:SHOWN_LINES] if done.returncode else []


def compare(libraries):
    complaints, bare = [], []
    for library in libraries:
        recorded = lzma.decompress(record_of(library).read_bytes())
        found = missing_symbols(recorded, library)
        if not found and has_types(library) and shutil.which("abidiff"):
            with tempfile.TemporaryDirectory() as folder:
                found = changed_types(recorded, library, pathlib.Path(folder))
        elif not found:
            bare.append(library.name)
        if found:
            complaints += [f"{library.name}: {ADVICE}", *found]
    if bare:
        print(f"symbols alone, for want of g++'s debug information or of abidiff: {', '.join(bare)}")
    print("\n".join(complaints) or f"{len(libraries)} libraries have the ABI that was recorded")
    return 1 if complaints else 0


def record(libraries):
    for library in libraries:
        output = record_of(library)
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            dump = write_dump(library, pathlib.Path(folder, "now.xml"))
            output.write_bytes(lzma.compress(dump.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
        print(f"recorded {output.relative_to(HERE.parents[1])}")
    return 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--record", action="store_true", help="write what the libraries have now")
    arguments.add_argument("libraries", type=pathlib.Path, nargs="+")
    given = arguments.parse_args()
    if given.record:
        return record(given.libraries)
    if not record_of(given.libraries[0]).parent.is_dir():
        print(f"SKIP: no ABI is recorded for {platform.machine()}")
        return 77
    return compare(given.libraries)


if __name__ == "__main__":
    sys.exit(main())
