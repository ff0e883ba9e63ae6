#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a program that uses the runtime by one compiler, as C++20 and C++23, with exceptions and RTTI off, against
the shared and the static library.

Every public header of the runtime compiles in each way without a warning, and the program's trace has the expected
contents."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"

C20, C23 = "-std=c++20", "-std=c++2b"  # clang 16 knows C++23 by this name
NO_EXCEPTIONS, NO_RTTI = "-fno-exceptions", "-fno-rtti"
WAYS = [([C20], "shared"), ([C20], "static"), ([C23], "shared"), ([C20, NO_EXCEPTIONS], "shared"),
        ([C20, NO_RTTI], "shared"), ([C23, NO_EXCEPTIONS, NO_RTTI], "static"), ([C20, "-static"], "static")]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]

# The expected contents of the trace, in the form of describe.cpp.
EXPECTED = ["scope parent count=1 ", "scope child count=3 ", "await a child count=3 ", "total lost count=0"]
TASKS = re.compile(r"^task .*child count=3 finished=3 ", re.MULTILINE)
FOREIGN = re.compile(r"^#include <(boost|asio|tbb|oneapi|cuda|nv)", re.MULTILINE)


class Failure(Exception):
    """A step failed; the message has its output."""


def run(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def runtime_headers():
    """All headers but those of the analysis and those that include another library's, which sets its own requirements.
    """
    for path in sorted(INCLUDE.rglob("*.hpp")):
        name = path.relative_to(INCLUDE).as_posix()
        if "/analysis/" not in name and "/detail/" not in name and not FOREIGN.search(path.read_text()):
            yield name


def check_trace(describe, trace):
    said = run(describe, trace)
    for line in EXPECTED:
        if line not in said:
            raise Failure(f"the trace does not say \"{line}\", but\n{said}")
    if not TASKS.search(said):
        raise Failure(f"the trace has not three finished tasks child, but\n{said}")


def check_way(compiler, options, library, describe, folder):
    headers = folder / "headers.cpp"
    headers.write_text("".join(f"#include <{name}>\n" for name in runtime_headers()))
    command = [compiler, *options, *WARNINGS, "-O1", f"-I{INCLUDE}"]
    run(*command, "-fsyntax-only", headers)
    program, trace = folder / "consumer", folder / "consumer.cst"
    run(*command, HERE / "consumer.cpp", library, f"-Wl,-rpath,{library.parent}", "-pthread", "-ldl", "-o", program)
    run(program, trace)
    check_trace(describe, trace)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("compiler")
    arguments.add_argument("describe", type=pathlib.Path, help="the program that prints what a trace says")
    arguments.add_argument("shared", type=pathlib.Path, help="the runtime")
    arguments.add_argument("static", type=pathlib.Path, help="the same as an archive")
    given = arguments.parse_args()
    if not shutil.which(given.compiler):
        print(f"SKIP: no {given.compiler} here")
        return 77
    failed = 0
    for options, kind in WAYS:
        name = f"{' '.join(options)}, {kind} library"
        try:
            with tempfile.TemporaryDirectory() as folder:
                check_way(given.compiler, options, getattr(given, kind), given.describe, pathlib.Path(folder))
        except Failure as failure:
            failed += 1
            print(f"{name}: {failure}")
        else:
            print(f"{name}: as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
