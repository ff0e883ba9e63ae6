#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a build folder's tests and counts them: doctest cases and other tests alike.

The last line is "N passed, N failed", followed by ", N skipped" if tests were skipped. A doctest executable counts its
cases; any other Meson test counts as one. A case is skipped if it prints the reason: MESSAGE("SKIP: reason"); return;.
Another test is skipped if it exits with 77; its reason is its line that begins with "SKIP: ". A build that fails
counts as one failure. The lines before the last one name the failures (suite_results.py).

A test program that failed is run once more at the end, alone. If it passes, its cases count as passed, and the program is
listed as unstable; with more than three such programs the suite fails. A sanitizer's report and a signal that ended the
program are failures, whatever the second run says: races come and go."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import failures  # noqa: E402
from suite_results import Suite, closing_lines, is_passed  # noqa: E402

GOOD = {"OK", "EXPECTEDFAIL"}
SHOWN_LINES = 150

CASES = re.compile(
    r"^\[doctest\] test cases: +(\d+) \| +(\d+) passed \| +(\d+) failed", re.MULTILINE)
CASE_ERROR = re.compile(r"(?:^|: )(?:FATAL )?ERROR: ", re.MULTILINE)
SKIP = re.compile(r"^(?:.*MESSAGE: )?SKIP: (.*)$", re.MULTILINE)

# No test may depend on settings of a user's shell.
REMOVED_VARIABLES = re.compile(r"COROSCOPE_|LC_|(?:LANGUAGE|COLUMNS|LINES|NO_COLOR|CLICOLOR\w*|FORCE_COLOR)$")
SET_VARIABLES = {"LANG": "C.UTF-8", "TERM": "dumb"}


@dataclasses.dataclass
class Count:
    """The result of one Meson test."""

    passed: int = 0
    failed: int = 0
    skips: list = dataclasses.field(default_factory=list)


def skipped_cases(output):
    """The cases that printed SKIP and did not fail, in order: (case, reason)."""
    skips, failing = {}, set()
    for block in failures.RULE.split(output):
        case = failures.DOCTEST_CASE.search(block)
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
        program = pathlib.Path(command[0]).read_bytes()
        return program.startswith(b"\x7fELF") and b"[doctest] " in program
    except OSError:
        return False


def output_of(test):
    return test["stdout"] + "\n" + test.get("stderr", "")


def count(test):
    output, good = test["stdout"], test["result"] in GOOD
    summaries = list(CASES.finditer(output))
    if summaries:
        return count_doctest(summaries[-1], output, good)
    if test["result"] == "SKIP":
        reason = SKIP.search(output_of(test))
        return Count(skips=[(None, reason[1] if reason else "no reason given")])
    # A doctest executable that did not reach its summary has not passed, whatever its exit status.
    return Count(passed=1) if good and not is_doctest(test["command"]) else Count(failed=1)


def show_output(test):
    print(f"\noutput of {test['name']} ({failures.how_it_ended(test)}):\n     {' '.join(test['command'])}")
    lines = output_of(test).rstrip().splitlines() or ["(it printed nothing)"]
    if len(lines) > SHOWN_LINES:
        print(f"     … {len(lines) - SHOWN_LINES} earlier lines are in the log that Meson names")
    print("\n".join(f"    {line}" for line in lines[-SHOWN_LINES:]))


def introspect(folder, what):
    """Meson's description of the folder's tests or targets."""
    done = subprocess.run(["meson", "introspect", f"--{what}", folder], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def needed_files(folder, names):
    """The targets that the named tests need: all targets if there is no name, if a name is not that of a single
    test, or if a test installs the build, whose folder is then one of its arguments."""
    if not names:
        return ["all"]
    tests = {test["name"]: test for test in introspect(folder, "tests")}
    if not all(name in tests and os.path.abspath(folder) not in tests[name]["cmd"] for name in names):
        return ["all"]
    needed = {target for name in names for target in tests[name]["depends"]}
    files = [file for target in introspect(folder, "targets") if target["id"] in needed for file in target["filename"]]
    return [os.path.relpath(file, folder) for file in files]


def make(folder, targets):
    """Builds. Returns whether it succeeded, and the output, which is printed as it comes."""
    lines = []
    with subprocess.Popen(["ninja", "-C", folder, *targets], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as ninja:
        for line in ninja.stdout:
            print(line, end="")
            lines.append(line)
    return ninja.returncode == 0, "".join(lines)


def build(folder, names):
    # First the folder's own description: an older one may have targets that no longer exist.
    good, output = make(folder, ["build.ninja"])
    return make(folder, needed_files(folder, names)) if good else (False, output)


def test_environment(at_a_time):
    kept = {name: value for name, value in os.environ.items() if not REMOVED_VARIABLES.match(name)}
    return {**kept, **SET_VARIABLES, "MESON_TESTTHREADS": str(at_a_time)}


def run(folder, names, patience, wrapper, at_a_time):
    """Runs the tests through Meson and returns the log's entry of each."""
    logs = pathlib.Path(folder, "meson-logs")
    for old in logs.glob("testlog*.json"):
        old.unlink()
    wrapped = ["--wrapper", wrapper] if wrapper else []
    subprocess.run(["meson", "test", "-C", folder, "--timeout-multiplier", str(patience), *wrapped, *names],
                   env=test_environment(at_a_time), stdin=subprocess.DEVNULL)
    # Meson puts the wrapper's name into the log's name.
    return [json.loads(line) for log in logs.glob("testlog*.json")
            for line in log.read_text(errors="replace").splitlines()]


def tests_at_a_time():
    # One more than there are processors: the tests wait during a third of their time.
    return int(os.environ.get("MESON_TESTTHREADS", len(os.sched_getaffinity(0)) + 1))


def name_for_meson(test):
    """The name by which `meson test` finds the test. In the log, that of the project and its suites stand before it."""
    return test["name"].rsplit(" / ", 1)[-1]


def may_be_unstable(test):
    return count(test).failed > 0 and not failures.is_fatal(test, output_of(test))


def wait_for_end(process):
    """Returns when the process with this number has ended."""
    while process and pathlib.Path(f"/proc/{process}").exists():
        time.sleep(0.2)


def run_again(tests, folder, patience, wrapper, process):
    """Runs the tests that failed once more, one at a time, when the process has ended. Returns all tests with the second
    results, and the first results of those that passed then."""
    first = {test["name"]: test for test in tests if may_be_unstable(test)}
    if not first:
        return tests, []
    wait_for_end(process)
    print(f"\na second try, one at a time: {', '.join(first)}")
    names = sorted({name_for_meson(test) for test in first.values()})
    again = {test["name"]: test for test in run(folder, names, patience, wrapper, 1)}
    unstable = [test for name, test in first.items() if name in again and not count(again[name]).failed]
    return [again.get(test["name"], test) if test["name"] in first else test for test in tests], unstable


def fill(suite, tests, unstable):
    """Puts the results into the suite, and prints what its last lines leave out."""
    counts = [(test, count(test)) for test in tests]
    failing = [test for test, result in counts if result.failed]
    for test in failing + unstable:
        show_output(test)
    skips = [(test["name"], case, reason) for test, result in counts for case, reason in result.skips]
    if skips:
        print("\nskipped:")
    for name, case, reason in skips:
        print(f"  {name}{': ' + case if case else ''}: {reason}")
    suite.passed = sum(result.passed for _, result in counts)
    suite.failed = sum(result.failed for _, result in counts)
    suite.skipped = len(skips)
    suite.unstable = [name_for_meson(test) for test in unstable]
    suite.blocks = [failures.of_test(test) for test in failing]
    suite.blocks += [failures.of_test(test, unstable=True) for test in unstable]


def try_all(suite, given):
    begin = time.monotonic()
    good, output = build(given.folder, given.names)
    suite.build_seconds = time.monotonic() - begin
    if not good:
        suite.failed, suite.blocks = 1, [failures.of_build(output)]
    if given.no_run or not good:
        return
    begin = time.monotonic()
    tests = run(given.folder, given.names, given.patience, given.wrapper, tests_at_a_time())
    if not tests:
        names = " ".join(given.names) or "at all"
        suite.failed = 1
        suite.blocks = [failures.block(f"no test {names}", [f"meson test -C {given.folder} --list shows them"])]
        return
    tests, unstable = run_again(tests, given.folder, given.patience, given.wrapper, given.second_tries_after)
    suite.test_seconds = time.monotonic() - begin
    fill(suite, tests, unstable)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("folder", help="the build folder")
    arguments.add_argument("names", nargs="*", help="Meson tests; all without one")
    arguments.add_argument("--patience", type=int, default=1, metavar="N",
                           help="wait N times as long for a test to end")
    arguments.add_argument("--wrapper", metavar="COMMAND", help="what runs each test's program")
    arguments.add_argument("--no-run", action="store_true", help="only build the tests")
    arguments.add_argument("--second-tries-after", type=int, metavar="PID",
                           help="run second tries when this process has ended")
    arguments.add_argument("--results", metavar="FILE", help="also write the results, as JSON")
    given = arguments.parse_args()
    # Meson and this script write to one pipe. Line buffering keeps the order of lines.
    sys.stdout.reconfigure(line_buffering=True, errors="replace")
    suite = Suite(pathlib.Path(given.folder).resolve().name)
    try_all(suite, given)
    if given.results:
        suite.save(given.results)
    if given.no_run and not suite.failed:
        return 0
    print("\n".join(closing_lines([suite], f"{given.folder}/meson-logs/testlog.txt")), flush=True)
    return 0 if is_passed([suite]) else 1


if __name__ == "__main__":
    sys.exit(main())
