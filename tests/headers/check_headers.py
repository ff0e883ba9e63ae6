#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public header is self-contained: it compiles as the first include of a file, twice, switched on and off.

An integration header needs its own library. If that is not installed, the header is left out, and named.

Paths are those from the project's folder on, and each compilation has an output, so that ccache knows it again."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = "tests/headers/included_twice.cpp"
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c"]
SWITCH = "COROSCOPE_ENABLED"
INCLUDED = re.compile(r"^#include <(coroscope/.*)>", re.MULTILINE)
MISSING = re.compile(r"fatal error: '?([^\s':]+)'?(?:: No such file| file not found)")


def public_headers(include):
    for path in sorted(include.joinpath("coroscope").rglob("*.hpp")):
        name = path.relative_to(include).as_posix()
        if "/detail/" not in name:
            yield name


def depends_on_switch(include, header, seen):
    """Whether the header, or one that it includes, has the switch."""
    if header in seen:
        return False
    seen.add(header)
    text = include.joinpath(header).read_text(encoding="utf-8")
    return SWITCH in text or any(depends_on_switch(include, each, seen) for each in INCLUDED.findall(text))


def variants(include):
    """Yields each header with each state of the switch that it depends on."""
    for header in public_headers(include):
        for enabled in (1, 0) if depends_on_switch(include, header, set()) else (1,):
            yield header, enabled


def compile_alone(compiler, root, header, enabled):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [*compiler, *FLAGS, "-Iinclude", f"-DCOROSCOPE_HEADER=<{header}>", f"-D{SWITCH}={enabled}", SOURCE,
             "-o", f"{folder}/object"],
            cwd=root, capture_output=True, text=True)


def absent_library(header, message):
    """The foreign header that an integration header did not find, or None."""
    missing = MISSING.search(message)
    if "/integration/" in header and missing and not missing[1].startswith("coroscope/"):
        return missing[1]
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("root", type=pathlib.Path, help="the project's folder")
    arguments.add_argument("compiler", nargs="+")
    given = arguments.parse_args()

    include = given.root / "include"
    work = list(variants(include))
    if not work:
        print(f"{include}: no public header in coroscope/")
        return 1
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(
            lambda item: compile_alone(given.compiler, given.root, *item), work))

    failed, absent = [], {}
    for (header, enabled), result in zip(work, results):
        if result.returncode == 0:
            continue
        library = absent_library(header, result.stderr)
        if library:
            absent[header] = library
            continue
        failed.append(header)
        print(f"{header} does not stand alone with COROSCOPE_ENABLED={enabled}:\n{result.stderr}")
    for header, library in absent.items():
        print(f"left out: {header} (no {library} here)")
    print(f"{len(work)} compilations of {len({header for header, _ in work})} headers, "
          f"{len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
