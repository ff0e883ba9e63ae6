#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No header calls a function of the user's namespace instead of its own: hostile/ compiles.

The hostile namespace has a greedy template for every name that the headers declare. The script collects the names, so
that new functions are included."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import header_names  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "hostile"
FLAGS = ["-std=c++20", "-fsyntax-only"]
# Names that libraries look up by argument-dependent lookup, so that a namespace must not take them.
CUSTOMISATIONS = {"begin", "end", "swap"}
SWITCHES = {"libraries.cpp": (1,)}  # values of COROSCOPE_ENABLED: only one, because foreign headers compile slowly
SKIPPED = 77


def names_of(include):
    headers = {path.relative_to(include).as_posix(): path.read_text(encoding="utf-8")
               for path in sorted(include.rglob("*.hpp"))}
    return sorted(set(header_names.Names(headers).functions) - CUSTOMISATIONS)


def write_names(folder, names):
    declared = " ".join(f"declare({name})" for name in names)
    pathlib.Path(folder, "hostile_names.hpp").write_text(f"#define HOSTILE_NAMES(declare) {declared}\n",
                                                         encoding="utf-8")


def compiles(given, folder, enabled):
    command = [*given.compiler, *FLAGS, f"-I{given.include}", f"-I{folder}", f"-DCOROSCOPE_ENABLED={enabled}",
               str(HERE / given.source)]
    return subprocess.run(command, check=False).returncode == 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("include", type=pathlib.Path, help="the folder that holds coroscope/")
    arguments.add_argument("source", help="a file of hostile/")
    arguments.add_argument("compiler", nargs="+")
    given = arguments.parse_args()
    if shutil.which(given.compiler[0]) is None:
        print(f"SKIP: no {given.compiler[0]} here")
        return SKIPPED
    names = names_of(given.include)
    with tempfile.TemporaryDirectory() as folder:
        write_names(folder, names)
        switches = SWITCHES.get(given.source, (1, 0))
        refused = [enabled for enabled in switches if not compiles(given, folder, enabled)]
    for enabled in refused:
        print(f"{given.source} does not compile with COROSCOPE_ENABLED={enabled}")
    print(f"{given.source}: {len(names)} names taken, {len(switches)} compilations, {len(refused)} failed")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
