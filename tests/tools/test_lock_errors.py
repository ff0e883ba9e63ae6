#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that each misuse of a lock has the same result behind the preloaded library as without it."""

import json
import os
import subprocess
import sys

from tool import ToolTest, coroscope, environment, main

PROGRAM = os.path.abspath(sys.argv[2])
LIBRARY = os.path.abspath(sys.argv[3])
del sys.argv[2:4]


class LockErrors(ToolTest):
    def run_program(self, **variables):
        done = subprocess.run([PROGRAM], cwd=self.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
                              env=environment(**variables))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def record(self):
        done = coroscope("run", "--record", "locks", "--no-summary", "--", PROGRAM, cwd=self.folder, env=environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_the_program_meets_each_error(self):
        words = set(" ".join(self.run_program()).split())
        self.assertLessEqual({"EOWNERDEAD", "ENOTRECOVERABLE", "EDEADLK", "EPERM", "EINVAL", "ETIMEDOUT", "EBUSY", "cancelled"},
                             words)

    def test_the_results_stay_if_the_library_is_preloaded(self):
        self.assertEqual(self.run_program(LD_PRELOAD=LIBRARY), self.run_program())

    def test_the_results_stay_if_waits_are_recorded(self):
        self.assertEqual(self.record(), self.run_program())

    def test_waits_for_robust_mutexes_name_their_holders_also_after_the_death_of_an_owner(self):
        self.record()
        listed = coroscope("locks", "coroscope.cst", "--json", cwd=self.folder)
        rows = [each for each in json.loads(listed.stdout) if each["scope"] == "waits for a robust mutex"]
        self.assertEqual([(each["kind"], each["waits"]) for each in rows], [("mutex", 2)] * 2)
        self.assertEqual(sum(each["unknown_holders"] for each in rows), 0, rows)
        self.assertLessEqual({each["holder_scope"] for each in rows}, {"holds a robust mutex", "holds a dead thread's mutex"})


if __name__ == "__main__":
    main()
