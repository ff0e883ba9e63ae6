#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public header is self-contained: it compiles as the first include of a file, twice, switched on and off.

An integration header needs its own library. If that is not installed, the header is left out, and named."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

SOURCE = "#include COROSCOPE_HEADER\n#include COROSCOPE_HEADER\n"
FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c++"]
MISSING = re.compile(r"fatal error: '?([^\s':]+)'?(?:: No such file| file not found)")


def public_headers(include):
    for path in sorted(pathlib.Path(include, "coroscope").rglob("*.hpp")):
        name = path.relative_to(include).as_posix()
        if "/detail/" not in name:
            yield name


def variants(headers):
    """Yields each header with each state of the switch. The analysis has no switch, so one compilation is enough."""
    for header in headers:
        for enabled in (1,) if "/analysis/" in header else (1, 0):
            yield header, enabled


def compile_alone(compiler, include, header, enabled):
    return subprocess.run(
        [*compiler, *FLAGS, f"-I{include}", f"-DCOROSCOPE_HEADER=<{header}>",
         f"-DCOROSCOPE_ENABLED={enabled}", "-"],
        input=SOURCE, capture_output=True, text=True)


def absent_library(header, message):
    """The foreign header that an integration header did not find, or None."""
    missing = MISSING.search(message)
    if "/integration/" in header and missing and not missing[1].startswith("coroscope/"):
        return missing[1]
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("include", help="the folder that holds coroscope/")
    arguments.add_argument("compiler", nargs="+")
    given = arguments.parse_args()

    work = list(variants(public_headers(given.include)))
    if not work:
        print(f"{given.include}: no public header in coroscope/")
        return 1
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(
            lambda item: compile_alone(given.compiler, given.include, *item), work))

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
