#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boost.Fiber's own examples, unmodified, print the same with and without tracking, and their fibers are
in the trace.

Addresses, thread ids and the order of lines of programs with several threads differ from run to run, and
are left out of the comparison.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CHANGING = re.compile(r"0x[0-9a-f]+|\b\d{9,}\b")
# Programs without fibers of their own: callbacks of a thread, in its main fiber.
ONE_FIBER = {"adapt_callbacks", "adapt_method_calls", "adapt_nonblocking"}


def run(program, **environment):
    done = subprocess.run([program], env={**os.environ, **environment}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=100)
    lines = CHANGING.sub("*", done.stdout).splitlines()
    return done.returncode, sorted(lines)


def fibers_in(tool, trace):
    """Returns the number of fibers, and the number of those that did not end."""
    listing = subprocess.run([tool, "tasks", trace, "--tree", "--format", "json", "--limit", "-1"],
                             capture_output=True, text=True, check=True).stdout
    states = [task["state"] for task in json.loads(listing)]
    return len(states), len(states) - states.count("finished")


def problem_of(tool, program, folder):
    name = pathlib.Path(program).name.removeprefix("boost_")
    trace = str(pathlib.Path(folder, name + ".cst"))
    plain = run(program, COROSCOPE_TEST_PLAIN="1")
    tracked = run(program, COROSCOPE_TRACE=trace)
    if plain != tracked:
        return name, f"it prints {len(plain[1])} lines plain and others, or {len(tracked[1])}, tracked", 0
    fibers, open_fibers = fibers_in(tool, trace)
    if open_fibers != 0:
        return name, f"{open_fibers} of its {fibers} fibers did not end", fibers
    if fibers == 0 or (fibers == 1) != (name in ONE_FIBER):
        return name, f"{fibers} fibers in its trace", fibers
    return name, None, fibers


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("tool")
    arguments.add_argument("programs", nargs="*")
    given = arguments.parse_args()
    if not given.programs:
        print("SKIP: Boost's examples are not installed (Debian: libboost1.81-doc), or cannot run in this build")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for program in given.programs:
            name, problem, fibers = problem_of(given.tool, program, folder)
            print(f"{name}: {problem or f'the same output, {fibers} fibers'}")
            failed += problem is not None
    print(f"{len(given.programs)} examples, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
