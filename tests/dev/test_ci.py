#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of .ci/run: its last hundred lines say which test failed, in which suite and why."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_project import DOCTEST_FAILURE, HANG, ROOT, SmallProject, fails_once, printing  # noqa: E402

# ./dev of the small project: the suite's name chooses the test.
DEV = """#!/bin/sh
case "$1 $*" in
ci*) exec python3 scripts/ci.py ;;
lint*) {lint} ;;
*asio-versions*) {versions} ;;
*address*) name=address ;;
*thread*) name=thread ;;
*clang*) name=clang ;;
*) name=release ;;
esac
test "$1" = test && test "$2" != --no-run || exit 0
{before}
exec python3 scripts/run_tests.py --results "$3" build "$name"
"""
SUITES = ("release", "address", "thread", "clang")


class ContinuousIntegration(SmallProject):
    def run_ci(self, *, lint="exit 0", before="", versions='echo "2 passed, 0 failed"; exit 0', seconds=None, **scripts):
        """.ci/run over suites with one test each, and two versions of Asio. A test without a script passes."""
        self.describe(**{name: scripts.get(name, "exit 0") for name in SUITES})
        (self.project / "scripts").mkdir()
        (self.project / ".ci").mkdir()
        for file in (".ci/run", "scripts/ci.py", "scripts/run_tests.py", "scripts/failures.py", "scripts/suite_results.py"):
            shutil.copy(ROOT / file, self.project / file)
        dev = self.project / "dev"
        dev.write_text(DEV.format(lint=lint, before=before, versions=versions))
        dev.chmod(0o755)
        variables = {"COROSCOPE_CI_SECONDS": seconds} if seconds else {}
        done = subprocess.run([self.project / ".ci" / "run"], env={**os.environ, **variables}, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=600, check=False)
        return done.returncode, done.stdout.splitlines()[-100:]

    def test_a_run_without_a_failure_ends_with_a_table_of_the_suites_and_the_count(self):
        status, lines = self.run_ci()
        self.assertEqual((status, lines[-1]), (0, "6 passed, 0 failed"))
        self.assertEqual([line.split()[:5] for line in lines[-9:-3]],
                         [["suite", "passed", "failed", "unstable", "skipped"], ["lint", "0", "0", "0", "0"],
                          *[[name, "1", "0", "0", "0"] for name in SUITES]])
        self.assertEqual(lines[-3].split()[:6], ["asio", "versions", "2", "0", "0", "0"])

    def test_a_version_of_asio_that_cannot_be_downloaded_is_skipped(self):
        status, lines = self.run_ci(versions='echo "1 passed, 0 failed, 1 skipped"; exit 0')
        self.assertEqual((status, lines[-1]), (0, "5 passed, 0 failed, 1 skipped"))

    def test_a_version_of_asio_with_a_failure_is_named_by_its_last_lines(self):
        status, lines = self.run_ci(versions='echo "a.cpp:2: ERROR: CHECK( 1 == 2 )"; echo "1 passed, 1 failed"; exit 1')
        self.assertEqual((status, lines[-1]), (1, "5 passed, 1 failed"))
        self.assertTrue(any(line.startswith("---- FAILED: asio versions: exit status 1") for line in lines), lines)
        self.assertIn("    a.cpp:2: ERROR: CHECK( 1 == 2 )", lines)

    def test_versions_of_asio_that_pass_the_second_time_are_unstable(self):
        status, lines = self.run_ci(versions='if test -e again; then echo "2 passed, 0 failed"; exit 0; fi\n'
                                             'touch again; echo "1 passed, 1 failed"; exit 1')
        self.assertEqual((status, lines[-1]), (0, "6 passed, 0 failed"))
        self.assertTrue(any(line.startswith("---- UNSTABLE: asio versions: ") for line in lines), lines)

    def test_a_broken_test_a_crash_and_a_time_out_are_named_with_their_suites(self):
        status, lines = self.run_ci(release=HANG, address=printing(DOCTEST_FAILURE, 1), thread="echo late; kill -SEGV $$")
        self.assertEqual((status, lines[-1]), (1, "5 passed, 3 failed"))
        self.assertIn("---- FAILED: address: p:a / address (exit status 1)", lines)
        self.assertIn("    a.cpp:2: ERROR: CHECK( sum == 2 ) is NOT correct!", lines)
        self.assertIn("---- FAILED: thread: p:t / thread (killed by signal 11)", lines)
        self.assertTrue(any(line.startswith("---- FAILED: release: p:r / release (ran out of time") for line in lines), lines)

    def test_the_findings_of_a_check_are_named(self):
        status, lines = self.run_ci(lint='echo "dev: lint: format"; echo "a.hpp:3: not in format"; '
                                         'echo "dev: lint: failed: format"; exit 1')
        self.assertEqual((status, lines[-1]), (1, "6 passed, 1 failed"))
        self.assertIn("---- FAILED: lint: exit status 1", lines)
        self.assertIn("    a.hpp:3: not in format", lines)

    def test_a_suite_that_ends_before_its_tests_run_is_a_failure_with_its_last_lines(self):
        status, lines = self.run_ci(before='test "$name" != thread || { echo "meson.build:4: ERROR: no compiler"; exit 1; }')
        self.assertEqual((status, lines[-1]), (1, "5 passed, 1 failed"))
        self.assertIn("---- FAILED: thread: ended without a count (exit status 1)", lines)
        self.assertIn("    meson.build:4: ERROR: no compiler", lines)

    def test_a_test_that_fails_once_in_each_suite_is_one_unstable_program_and_does_not_fail_the_run(self):
        status, lines = self.run_ci(release=fails_once("exit 1"), thread=fails_once("exit 1"))
        self.assertEqual((status, lines[-1]), (0, "6 passed, 0 failed"))
        self.assertIn("---- UNSTABLE: thread: p:t / thread (exit status 1)", lines)

    def test_a_suite_that_would_not_end_in_time_is_left_out_and_does_not_fail_the_run(self):
        status, lines = self.run_ci(seconds="299")
        self.assertEqual((status, lines[-1]), (0, "0 passed, 0 failed, 5 skipped"))
        self.assertIn("thread: left out for want of time (0 min after the start)", lines)

    def test_all_that_was_printed_stays_in_a_file(self):
        self.run_ci(address="echo whole output; exit 1")
        self.assertIn("whole output\n", (self.project / "build/ci/log").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
