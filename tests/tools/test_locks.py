#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope run --record locks and of coroscope locks."""

import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import unittest

from tool import ToolTest, coroscope, environment, main
import trace_builder

PROGRAM, FORKS, LIBRARY = (os.path.abspath(each) for each in sys.argv[2:5])
del sys.argv[2:5]

HAS_THREAD_SANITIZER = b"__tsan_init" in pathlib.Path(PROGRAM).read_bytes()


def messages(done):
    """Standard error without the lines of LeakSanitizer."""
    return "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("=="))


class Recorded(ToolTest):
    def record(self, features, *command):
        return coroscope("run", "--record", features, "--no-summary", "--", *command, cwd=self.folder, env=environment())

    def rows(self, trace="coroscope.cst"):
        done = coroscope("locks", trace, "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def row(self, scope, trace="coroscope.cst", kind=""):
        found = [each for each in self.rows(trace) if each["scope"] == scope and kind in each["kind"]]
        self.assertEqual(len(found), 1, (scope, found))
        return found[0]


class Program(Recorded):
    def setUp(self):
        super().setUp()
        done = self.record("locks", PROGRAM)
        self.assertEqual((done.returncode, done.stdout, messages(done)), (0, "", ""))

    def test_a_wait_names_the_lock_its_kind_its_length_and_the_holders_scope(self):
        row = self.row("waits for the mutex")
        self.assertEqual((row["kind"], row["seen"], row["waits"]), ("mutex", "each wait", 1))
        self.assertEqual(row["holder_scope"], "holds the mutex")
        self.assertRegex(row["lock"], "^0x[0-9a-f]+$")
        self.assertGreater(row["total_ns"], 0)
        self.assertRegex(row["worst"], "in scope waits for the mutex waited for thread .* in scope holds the mutex, released after")

    def test_both_tasks_are_named(self):
        row = self.row("waits in a task")
        self.assertRegex(row["task"], "wait_in_a_task")
        self.assertRegex(row["holder"], "hold_in_a_task")
        self.assertEqual(row["holder_scope"], "holds in a task")

    def test_timed_out_waits_are_counted_as_given_up(self):
        row = self.row("times out")
        self.assertEqual((row["waits"], row["gave_up"]), (2, 2))
        self.assertGreater(row["total_ns"], 0)
        self.assertIn("gave up", row["worst"])

    def test_kinds_of_mutexes_are_recorded_with_their_holders(self):
        for waiter, holder in (("waits for a recursive mutex", "holds twice"),
                               ("waits for an inheriting mutex", "holds and inherits"),
                               ("waits for a shared mutex", "holds a shared mutex"),
                               ("waits for C's mutex", "holds C's mutex"),
                               ("is interrupted", "holds against the handler")):
            with self.subTest(waiter=waiter):
                row = self.row(waiter)
                self.assertEqual(row["kind"], "mutex")
                self.assertEqual(row["holder_scope"], holder)

    def test_a_mutex_shared_with_other_processes_has_no_release(self):
        self.assertNotIn("released after", self.row("waits for a shared mutex")["worst"])

    def test_readers_and_writers_are_told_apart(self):
        read = self.row("waits to read")
        self.assertEqual((read["kind"], read["holder_scope"]), ("rwlock, to read", "writes"))
        self.assertEqual((read["waits"], read["gave_up"]), (2, 1))
        write = self.row("waits to write")
        self.assertEqual((write["kind"], write["waits"], write["holder_scope"]), ("rwlock, to write", 1, "reads"))

    def test_a_notified_thread_waits_for_the_mutex_that_the_notifier_keeps(self):
        row = self.row("waits for a condition", kind="mutex, notified")
        self.assertEqual((row["waits"], row["holder_scope"]), (1, "notifies too early"))
        self.assertGreater(row["total_ns"], 0)

    def test_a_spin_lock_has_the_thread_that_released_it(self):
        row = self.row("spins")
        self.assertEqual((row["kind"], row["holder_scope"]), ("spin lock", "holds a spin lock"))

    def test_a_handler_may_wait_within_a_wait(self):
        rows = [each for each in self.rows() if each["scope"] == "waits twice"]
        self.assertIn("holds the outer one", [each["holder_scope"] for each in rows])

    @unittest.skipIf(HAS_THREAD_SANITIZER, "SKIP: ThreadSanitizer starts no thread in a forked child")
    def test_a_forked_child_records_its_own_waits(self):
        [child] = self.folder.glob("coroscope.cst.*")
        self.assertEqual(self.row("waits in the child", child)["holder_scope"], "holds in the child")

    def test_locks_of_the_recorder_are_left_out(self):
        planned = {"waits for the mutex", "waits in a task", "times out", "waits for a recursive mutex", "waits for the dead",
                   "waits for an inheriting mutex", "waits for a shared mutex", "waits to read", "waits to write",
                   "waits for a condition", "waits for C's mutex", "spins", "is interrupted", "waits twice", "in the crowd",
                   "holds in a task", "notifies too early", None}
        self.assertLessEqual({each["scope"] for each in self.rows()}, planned)

    def test_the_listing_is_the_same_in_all_forms(self):
        text = coroscope("locks", "coroscope.cst", cwd=self.folder)
        self.assert_success(text)
        for word in ("Lock", "Holder's scope", "Worst wait", "holds the mutex"):
            self.assertIn(word, text.stdout)
        table = coroscope("locks", "coroscope.cst", "--format", "csv", "--sort-by", "max", cwd=self.folder)
        rows = list(csv.DictReader(io.StringIO(table.stdout)))
        self.assertEqual(len(rows), len(self.rows()))
        longest = [int(each["max_ns"]) for each in rows]
        self.assertEqual(longest, sorted(longest, reverse=True))


class Forks(Recorded):
    def test_a_child_that_is_forked_while_threads_wait_for_locks_records_and_ends(self):
        done = self.record("locks", FORKS)
        if done.returncode == 77:
            self.skipTest(done.stdout)
        self.assertEqual((done.returncode, done.stdout, messages(done)), (0, "the child ended with 0\n", ""))
        [child] = self.folder.glob("coroscope.cst.*")
        self.assert_success(coroscope("info", child))


class Together(Recorded):
    def test_blocking_calls_and_locks_are_recorded_together(self):
        done = self.record("blocking,locks", PROGRAM)
        self.assertEqual((done.returncode, done.stdout, messages(done)), (0, "", ""))
        self.assertEqual(self.row("waits for the mutex")["holder_scope"], "holds the mutex")
        calls = json.loads(coroscope("blocking", "coroscope.cst", "--json", cwd=self.folder).stdout)
        self.assertIn(("nanosleep", "holds the mutex"), [(each["call"], each["scope"]) for each in calls])

    def test_blocking_calls_alone_record_no_locks(self):
        self.assertEqual(self.record("blocking", PROGRAM).returncode, 0)
        self.assertEqual([each for each in self.rows() if each["seen"] == "each wait"], [])


class Variables(Recorded):
    def test_the_variable_without_the_library_is_reported(self):
        done = subprocess.run([PROGRAM], cwd=self.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
                              env=environment(COROSCOPE_TRACE="coroscope.cst", COROSCOPE_LOCKS="1"))
        self.assertRegex(messages(done), r"\Acoroscope: not all is recorded: COROSCOPE_LOCKS needs LD_PRELOAD=.*--record locks\n\Z")
        self.assertEqual(done.returncode, 0)

    def test_the_library_alone_changes_nothing(self):
        done = subprocess.run([PROGRAM], cwd=self.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
                              env=environment(LD_PRELOAD=LIBRARY, ASAN_OPTIONS="verify_asan_link_order=0"))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_an_older_trace_says_that_locks_were_not_recorded(self):
        trace_builder.service().write(self.folder / "old.cst")
        done = coroscope("locks", "old.cst", cwd=self.folder)
        self.assert_success(done)
        self.assertIn("waits for locks were not recorded; use coroscope run --record locks", done.stdout)


if __name__ == "__main__":
    main()
