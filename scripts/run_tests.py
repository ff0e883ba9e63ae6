#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a build folder's tests and counts them: doctest cases and other tests alike.

The last line printed is "N passed, N failed", with ", N skipped" behind it where some were. A
doctest executable counts its cases; any other Meson test counts as one. A case is skipped when it
says so: MESSAGE("SKIP: reason"); return;. Another test is skipped when it exits with 77, and its
reason is its line that begins "SKIP: ". A build that fails counts as one failure.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys

GOOD = {"OK", "EXPECTEDFAIL"}
SHOWN_LINES = 150

CASES = re.compile(
    r"^\[doctest\] test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed", re.MULTILINE)
BLOCK = re.compile(r"^={70,}$", re.MULTILINE)
CASE_NAME = re.compile(r"^TEST CASE:  (.*)$", re.MULTILINE)
CASE_ERROR = re.compile(r"(?:^|: )(?:FATAL )?ERROR: ", re.MULTILINE)
SKIP = re.compile(r"^(?:.*MESSAGE: )?SKIP: (.*)$", re.MULTILINE)


@dataclasses.dataclass
class Count:
    """What one Meson test comes to."""

    passed: int = 0
    failed: int = 0
    skips: list = dataclasses.field(default_factory=list)


def skipped_cases(output):
    """The cases that said SKIP and did not fail, in order: (case, reason)."""
    skips, failing = {}, set()
    for block in BLOCK.split(output):
        case = CASE_NAME.search(block)
        if not case:
            continue
        reason = SKIP.search(block)
        if reason:
            skips.setdefault(case[1], reason[1])
        if CASE_ERROR.search(block):
            failing.add(case[1])
    return [(case, reason) for case, reason in skips.items() if case not in failing]


def count_doctest(summary, output, good):
    cases, passed, failed = (int(number) for number in summary.groups())
    if not good and failed == 0:
        failed = 1  # it fell after its last case: a leak report, a crash at exit
    if cases == 0:
        failed = max(failed, 1)  # an executable without a case tests nothing
    skips = skipped_cases(output)
    return Count(passed - len(skips), failed, skips)


def is_doctest(command):
    """The program holds doctest's own words; its output may be lost with it."""
    try:
        return b"[doctest] " in pathlib.Path(command[0]).read_bytes()
    except OSError:
        return False


def count(test):
    output, good = test["stdout"], test["result"] in GOOD
    summaries = list(CASES.finditer(output))
    if summaries:
        return count_doctest(summaries[-1], output, good)
    if test["result"] == "SKIP":
        reason = SKIP.search(output + "\n" + test.get("stderr", ""))
        return Count(skips=[(None, reason[1] if reason else "no reason given")])
    # A doctest executable that did not reach its summary has not passed, whatever it returned.
    return Count(passed=1) if good and not is_doctest(test["command"]) else Count(failed=1)


def how_it_ended(test):
    code = test["returncode"]
    if test["result"] == "TIMEOUT":
        return f"ran out of time after {test['duration']:.0f} s"
    if test["result"] == "UNEXPECTEDPASS":
        return "passed, and should have failed"
    return f"killed by signal {-code}" if code < 0 else f"exit status {code}"


def show_failure(test):
    command = " ".join(test["command"])
    print(f"\n---- FAILED: {test['name']} ({how_it_ended(test)})\n     {command}")
    output = test["stdout"] + test.get("stderr", "")
    lines = output.rstrip().splitlines() or ["(it printed nothing)"]
    if len(lines) > SHOWN_LINES:
        print(f"     … {len(lines) - SHOWN_LINES} earlier lines are in the log that Meson names")
    print("\n".join(f"    {line}" for line in lines[-SHOWN_LINES:]))


def summary_line(passed, failed, skipped):
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def report(tests):
    counts = [(test, count(test)) for test in tests]
    for test, result in counts:
        if result.failed:
            show_failure(test)
    skips = [(test["name"], case, reason) for test, result in counts for case, reason in result.skips]
    if skips:
        print("\nskipped:")
    for name, case, reason in skips:
        print(f"  {name}{': ' + case if case else ''}: {reason}")
    failed = sum(result.failed for _, result in counts)
    print()
    print(summary_line(sum(result.passed for _, result in counts), failed, len(skips)), flush=True)
    return 1 if failed else 0


def introspect(folder, what):
    """What Meson says of the folder's tests or targets."""
    done = subprocess.run(["meson", "introspect", f"--{what}", folder], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def needed_files(folder, names):
    """What the named tests need to be built: everything where there is no name, or one that is no single test's."""
    if not names:
        return ["all"]
    tests = {test["name"]: test["depends"] for test in introspect(folder, "tests")}
    if not all(name in tests for name in names):
        return ["all"]
    needed = {target for name in names for target in tests[name]}
    files = [file for target in introspect(folder, "targets") if target["id"] in needed for file in target["filename"]]
    return [os.path.relpath(file, folder) for file in files]


def make(folder, targets):
    return subprocess.run(["ninja", "-C", folder, *targets], stdin=subprocess.DEVNULL).returncode == 0


def build(folder, names):
    # First the folder's own description: by an older one there are targets that are gone.
    return make(folder, ["build.ninja"]) and make(folder, needed_files(folder, names))


def run(folder, names, patience, wrapper):
    """Runs them through Meson and returns what its log says of each."""
    logs = pathlib.Path(folder, "meson-logs")
    for old in logs.glob("testlog*.json"):
        old.unlink()
    environment = dict(os.environ, MESON_TESTTHREADS=os.environ.get(
        "MESON_TESTTHREADS", str(len(os.sched_getaffinity(0)))))
    wrapped = ["--wrapper", wrapper] if wrapper else []
    subprocess.run(["meson", "test", "-C", folder, "--timeout-multiplier", str(patience), *wrapped, *names],
                   env=environment, stdin=subprocess.DEVNULL)
    # Meson puts the wrapper's name into the log's.
    return [json.loads(line) for log in logs.glob("testlog*.json")
            for line in log.read_text(errors="replace").splitlines()]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", help="the build folder")
    arguments.add_argument("names", nargs="*", help="Meson tests; all without one")
    arguments.add_argument("--patience", type=int, default=1, metavar="N",
                           help="wait N times as long for a test to end")
    arguments.add_argument("--wrapper", metavar="COMMAND", help="what runs each test's program")
    given = arguments.parse_args()
    # Meson and we write to one pipe; line by line keeps their order.
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    if not build(given.folder, given.names):
        print("\nthe build failed (above): no test ran\n")
        print(summary_line(0, 1, 0), flush=True)
        return 1
    tests = run(given.folder, given.names, given.patience, given.wrapper)
    if not tests:
        names = " ".join(given.names) or "at all"
        print(f"\nno test {names}; meson test -C {given.folder} --list shows them\n")
        print(summary_line(0, 1, 0), flush=True)
        return 1
    return report(tests)


if __name__ == "__main__":
    sys.exit(main())
