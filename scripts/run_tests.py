#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a build folder's tests and counts them: doctest cases and other tests alike.

The last line is "N passed, N failed", followed by ", N skipped" if tests were skipped. A doctest executable counts its
cases; any other Meson test counts as one. A case is skipped if it prints the reason: MESSAGE("SKIP: reason"); return;.
Another test is skipped if it exits with 77; its reason is its line that begins with "SKIP: ". A build that fails
counts as one failure.

With --second-run, the tests that failed are run once more at the end, one at a time, and the second result counts. A
test that fails on a busy machine only is listed, but does not fail the suite. A test is not run again if a sanitizer
reported a fault or if it ran out of time: such faults also come and go."""

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
FAILED_UNIT = re.compile(r"^(?:FAIL|ERROR): (.*)$", re.MULTILINE)
SANITIZER = re.compile(r"\b\w+Sanitizer: |: runtime error: ")
SKIP = re.compile(r"^(?:.*MESSAGE: )?SKIP: (.*)$", re.MULTILINE)


@dataclasses.dataclass
class Count:
    """The result of one Meson test."""

    passed: int = 0
    failed: int = 0
    skips: list = dataclasses.field(default_factory=list)


def skipped_cases(output):
    """The cases that printed SKIP and did not fail, in order: (case, reason)."""
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
        failed = 1  # the program failed after its last case: a leak report, a crash at exit
    if cases == 0:
        failed = max(failed, 1)  # an executable without a case tests nothing
    skips = skipped_cases(output)
    return Count(passed - len(skips), failed, skips)


def is_doctest(command):
    """The program contains doctest's summary format. If its output was lost, it must not count as another kind of
    test."""
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
    # A doctest executable that did not reach its summary has not passed, whatever its exit status.
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


def failed_cases(output):
    """The cases that failed, each with its first error."""
    for block in BLOCK.split(output):
        case, error = CASE_NAME.search(block), CASE_ERROR.search(block)
        if case and error:
            line = block[block.rfind("\n", 0, error.start() + 1) + 1:].split("\n", 1)[0]
            yield f"{case[1]}: {line}"
    yield from (unit[1] for unit in FAILED_UNIT.finditer(output))


def list_failures(heading, tests):
    """Prints a line for each case that failed, under a heading. CI repeats these lines at its end."""
    if not tests:
        return
    print(f"\n{heading}:")
    for test in tests:
        output = test["stdout"] + test.get("stderr", "")
        for text in list(failed_cases(output)) or [how_it_ended(test)]:
            print(f"  {test['name']}: {text}")


def report(tests, unsteady):
    counts = [(test, count(test)) for test in tests]
    failing = [test for test, result in counts if result.failed]
    for test in failing + unsteady:
        show_failure(test)
    skips = [(test["name"], case, reason) for test, result in counts for case, reason in result.skips]
    if skips:
        print("\nskipped:")
    for name, case, reason in skips:
        print(f"  {name}{': ' + case if case else ''}: {reason}")
    list_failures("passed on a second run, alone", unsteady)
    list_failures("failed", failing)
    failed = sum(result.failed for _, result in counts)
    print()
    print(summary_line(sum(result.passed for _, result in counts), failed, len(skips)), flush=True)
    return 1 if failed else 0


def introspect(folder, what):
    """Meson's description of the folder's tests or targets."""
    done = subprocess.run(["meson", "introspect", f"--{what}", folder], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def needed_files(folder, names):
    """The targets that the named tests need: all targets if there is no name, or if a name is not that of a single
    test."""
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
    # First the folder's own description: an older one may have targets that no longer exist.
    return make(folder, ["build.ninja"]) and make(folder, needed_files(folder, names))


def run(folder, names, patience, wrapper, at_a_time):
    """Runs the tests through Meson and returns the log's entry of each."""
    logs = pathlib.Path(folder, "meson-logs")
    for old in logs.glob("testlog*.json"):
        old.unlink()
    environment = dict(os.environ, MESON_TESTTHREADS=str(at_a_time))
    wrapped = ["--wrapper", wrapper] if wrapper else []
    subprocess.run(["meson", "test", "-C", folder, "--timeout-multiplier", str(patience), *wrapped, *names],
                   env=environment, stdin=subprocess.DEVNULL)
    # Meson puts the wrapper's name into the log's name.
    return [json.loads(line) for log in logs.glob("testlog*.json")
            for line in log.read_text(errors="replace").splitlines()]


def tests_at_a_time():
    # One more than there are processors: the tests wait during a third of their time.
    return int(os.environ.get("MESON_TESTTHREADS", len(os.sched_getaffinity(0)) + 1))


def may_be_unsteady(test):
    output = test["stdout"] + test.get("stderr", "")
    return count(test).failed and test["result"] != "TIMEOUT" and not SANITIZER.search(output)


def name_for_meson(test):
    """The name by which `meson test` finds the test. In the log, that of the project and its suites stand before it."""
    return test["name"].rsplit(" / ", 1)[-1]


def run_again(tests, folder, patience, wrapper):
    """Runs the tests that failed once more, one at a time. Returns all tests with the second results, and the first
    results of those that passed then."""
    first = {test["name"]: test for test in tests if may_be_unsteady(test)}
    if not first:
        return tests, []
    names = sorted({name_for_meson(test) for test in first.values()})
    again = {test["name"]: test for test in run(folder, names, patience, wrapper, 1)}
    unsteady = [test for name, test in first.items() if name in again and not count(again[name]).failed]
    return [again.get(test["name"], test) if test["name"] in first else test for test in tests], unsteady


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", help="the build folder")
    arguments.add_argument("names", nargs="*", help="Meson tests; all without one")
    arguments.add_argument("--patience", type=int, default=1, metavar="N",
                           help="wait N times as long for a test to end")
    arguments.add_argument("--wrapper", metavar="COMMAND", help="what runs each test's program")
    arguments.add_argument("--no-run", action="store_true", help="only build the tests")
    arguments.add_argument("--second-run", action="store_true", help="run the tests that failed once more, one at a time")
    given = arguments.parse_args()
    # Meson and this script write to one pipe. Line buffering keeps the order of lines.
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    if not build(given.folder, given.names):
        print("\nthe build failed (above): no test ran\n")
        print(summary_line(0, 1, 0), flush=True)
        return 1
    if given.no_run:
        return 0
    tests = run(given.folder, given.names, given.patience, given.wrapper, tests_at_a_time())
    if not tests:
        names = " ".join(given.names) or "at all"
        print(f"\nno test {names}; meson test -C {given.folder} --list shows them\n")
        print(summary_line(0, 1, 0), flush=True)
        return 1
    unsteady = []
    if given.second_run:
        tests, unsteady = run_again(tests, given.folder, given.patience, given.wrapper)
    return report(tests, unsteady)


if __name__ == "__main__":
    sys.exit(main())
