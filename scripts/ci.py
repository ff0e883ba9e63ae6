#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The run of continuous integration: the quick checks, then the suites of the tests (docs/contributing/suites.md).

The last lines, at most a hundred, are a table of the suites, a block for each failure with its place, and the count
"N passed, N failed". Everything that was printed is in build/ci/log, too. The exit status is 0 if nothing failed.

While the tests of a suite run, the programs of the next suite are built: tests wait during a third of their time.

With a limit, COROSCOPE_CI_SECONDS, a suite is left out, with a line that says so, if it would not end within it: the
script assumes the time of the longest suite before it, and five minutes more."""

import math
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import failures  # noqa: E402
import suite_results  # noqa: E402
from suite_results import Suite  # noqa: E402

# The suites and the arguments of ./dev test. docs/contributing/suites.md says which folders of tests each one runs, and why it
# leaves out the others: a sanitizer's suite runs what it can find a fault in, clang's what compilers differ in.
SUITES = {
    "release": (),
    "address": ("--sanitize", "address"),
    "thread": ("--sanitize", "thread"),
    "clang": ("--compiler", "clang++-19", "--differing"),
}
VERSIONS = "asio versions"  # the suite of ./dev test --asio-versions, the last one; it downloads headers from Debian
COUNTS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?")
SPARE = 300  # seconds


class BuildAhead:
    """A build of a suite's programs in the background, with the processor time that is left. A failure shows again in
    the suite itself."""

    def __init__(self, log, arguments):
        self.log, self.seconds = log, 0
        with log.open("w") as output:
            self.process = subprocess.Popen(["nice", "-n", "19", "./dev", "test", "--no-run", *arguments],
                                            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        # It must be waited for at once, so that others see its end.
        self.thread = threading.Thread(target=self._wait, daemon=True)
        self.thread.start()

    def _wait(self):
        begin = time.monotonic()
        self.process.wait()
        self.seconds = time.monotonic() - begin

    def end(self):
        """Waits for the end, and returns the output."""
        self.thread.join()
        return self.log.read_text(errors="replace")


class Run:
    """The run so far. Its output goes into its log, too."""

    def __init__(self, folder, limit):
        self.folder, self.limit = folder, limit
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log = (self.folder / "log").open("w")
        self.begin = time.monotonic()
        self.longest = 0
        self.suites = []
        self.ahead = None

    def tell(self, text):
        for stream in (sys.stdout, self.log):
            stream.write(text)
            stream.flush()

    def command(self, *words):
        """Runs a command. Returns its exit status and its output, which is also printed as it comes."""
        lines = []
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace") as running:
            for line in running.stdout:
                self.tell(line)
                lines.append(line)
        return running.returncode, "".join(lines)

    def lint(self):
        begin = time.monotonic()
        status, output = self.command("./dev", "lint", "--quick")
        suite = Suite("lint", test_seconds=time.monotonic() - begin)
        if status:
            suite.failed, suite.blocks = 1, [failures.of_lint(output, status)]
        self.suites.append(suite)

    def has_time(self):
        """Whether a suite that starts now is expected to end within the limit."""
        return time.monotonic() - self.begin + self.longest + SPARE <= self.limit

    def suite(self, name, arguments, following):
        """Runs a suite, and builds the one with the following arguments."""
        if not self.has_time():
            self.leave_out(name)
            return
        begin = time.monotonic()
        seconds_ahead = self.end_build() if self.ahead else 0
        if following is not None and not seconds_ahead:
            self.command("./dev", "test", "--no-run", *arguments)  # before the next one's build
        after = []
        if following is not None and self.has_time():
            self.ahead = BuildAhead(self.folder / "build-ahead.log", following)
            after = ["--second-tries-after", str(self.ahead.process.pid)]
        results = self.folder / f"{name}.json"
        results.unlink(missing_ok=True)
        status, output = self.command("./dev", "test", "--results", str(results), *after, *arguments)
        taken = time.monotonic() - begin
        self.longest = max(self.longest, taken)
        suite = self.read(name, results, status, output, taken)
        suite.build_seconds += seconds_ahead
        self.suites.append(suite)

    def leave_out(self, name):
        minutes = (time.monotonic() - self.begin) / 60
        self.suites.append(Suite(name, skipped=1, left_out=f"for want of time ({minutes:.0f} min after the start)"))

    def versions(self):
        """Runs the tests of Asio's tracking with each version of Asio, and once more if one failed. A version that cannot
        be downloaded is skipped."""
        if not self.has_time():
            self.leave_out(VERSIONS)
            return
        begin = time.monotonic()
        suite, first = self.read_versions(), None
        if suite.failed:
            suite, first = self.read_versions(), suite.blocks[0]
            if not suite.failed:
                suite.unstable, suite.blocks = [VERSIONS], [{**first, "unstable": True}]
        suite.test_seconds = time.monotonic() - begin
        self.suites.append(suite)

    def read_versions(self):
        status, output = self.command("./dev", "test", "--asio-versions")
        counts = COUNTS.fullmatch((output.splitlines() or [""])[-1])
        passed, failed, skipped = (int(count or 0) for count in counts.groups()) if counts else (0, 0, 0)
        suite = Suite(VERSIONS, passed, failed, skipped)
        if status or not counts:
            suite.failed = max(failed, 1)
            block = failures.of_command(output, status)
            suite.blocks = [{**block, "heading": f"exit status {status}"} if counts else block]
        return suite

    def end_build(self):
        """Waits for the build in the background. Returns its time in seconds."""
        ahead, self.ahead = self.ahead, None
        self.tell(ahead.end())
        return ahead.seconds

    @staticmethod
    def read(name, results, status, output, taken):
        """The suite's results. It has none if it ended before its tests were built."""
        if not results.exists():
            return Suite(name, failed=1, build_seconds=taken, blocks=[failures.of_command(output, status)])
        suite = suite_results.load(results)
        suite.name = name
        suite.build_seconds = taken - suite.test_seconds
        if status and suite_results.is_passed([suite]):
            suite.failed += 1
            suite.blocks.append(failures.of_command(output, status))
        return suite


def limit_seconds():
    text = os.environ.pop("COROSCOPE_CI_SECONDS", "")
    return int(text) if text.isdecimal() else math.inf


def main():
    # The output of tests may hold any bytes.
    sys.stdout.reconfigure(errors="replace")
    run = Run(pathlib.Path("build/ci"), limit_seconds())
    run.lint()
    following = [*SUITES.values()][1:] + [None]
    for (name, arguments), next_arguments in zip(SUITES.items(), following):
        run.suite(name, arguments, next_arguments)
    if run.ahead:
        run.end_build()
    run.versions()
    run.tell("\n".join(suite_results.closing_lines(run.suites, run.folder / "log")) + "\n")
    return 0 if suite_results.is_passed(run.suites) else 1


if __name__ == "__main__":
    sys.exit(main())
