#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope run --record blocking and of coroscope blocking."""

import csv
import io
import json
import os
import platform
import shutil
import stat
import struct
import subprocess
import sys
import unittest

from tool import ToolTest, coroscope, environment, main
import trace_builder

PROGRAM = os.path.abspath(sys.argv[2])
LIBRARY = os.path.abspath(sys.argv[3])
del sys.argv[2:4]

MS = 1_000_000


def messages(done):
    """Standard error without the lines of LeakSanitizer."""
    return "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("=="))


class Recorded(ToolTest):
    def record(self, *command, **variables):
        """Runs the command in the test's folder under coroscope run --record blocking. A file that is no program goes to the
        shell, which may quote its bytes."""
        return coroscope("run", "--record", "blocking", "--no-summary", "--", *command, cwd=self.folder,
                         env=environment(**variables), errors="replace")

    def rows(self, trace="coroscope.cst"):
        done = coroscope("blocking", trace, "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def row(self, rows, scope, call):
        found = [each for each in rows if each["scope"] == scope and each["call"] == call]
        self.assertEqual(len(found), 1, (scope, call, rows))
        return found[0]


class Program(Recorded):
    def setUp(self):
        super().setUp()
        done = self.record(PROGRAM)
        self.assertEqual((done.returncode, done.stdout, messages(done)), (0, "", ""))

    def test_each_planned_call_has_its_scope_and_the_kind_of_its_descriptor(self):
        rows = self.rows()
        naps = self.row(rows, "naps", "nanosleep")
        self.assertEqual((naps["count"], naps["descriptor"]), (2, None))
        self.assertGreaterEqual(naps["p50_ns"], 19 * MS)
        self.assertGreaterEqual(naps["max_ns"], 29 * MS)
        self.assertGreaterEqual(naps["total_ns"], naps["p50_ns"] + naps["max_ns"])
        self.assertEqual(self.row(rows, "reads a pipe", "read")["descriptor"], "pipe")
        received = self.row(rows, "receives with a limit", "recv")
        self.assertEqual(received["descriptor"], "socket")
        self.assertGreaterEqual(received["total_ns"], 9 * MS)
        polls = self.row(rows, "polls", "poll")
        self.assertGreaterEqual(polls["total_ns"], 11 * MS)
        self.assertRegex(polls["task"], "polls")
        self.assertGreaterEqual(self.row(rows, "is interrupted", "usleep")["total_ns"], 3 * MS)
        self.assertGreaterEqual(self.row(rows, "waits for the child", "waitpid")["total_ns"], 5 * MS)

    def test_a_forked_child_records_its_own_calls_and_one_that_becomes_another_program_leaves_no_trace(self):
        [child] = [each for each in self.folder.glob("coroscope.cst.*")]
        self.assertEqual(self.row(self.rows(child), "in the child", "nanosleep")["count"], 1)

    def test_calls_of_the_recorder_are_left_out(self):
        planned = {"naps", "reads a pipe", "receives with a limit", "polls", "after the jump", "is interrupted",
                   "waits for the child", None}
        self.assertLessEqual({each["scope"] for each in self.rows()}, planned)

    def test_the_listing_is_the_same_in_all_forms(self):
        text = coroscope("blocking", "coroscope.cst", cwd=self.folder)
        self.assert_success(text)
        for word in ("Call", "Descriptor", "nanosleep", "reads a pipe", "socket"):
            self.assertIn(word, text.stdout)
        table = coroscope("blocking", "coroscope.cst", "--format", "csv", "--sort-by", "max", cwd=self.folder)
        rows = list(csv.DictReader(io.StringIO(table.stdout)))
        self.assertEqual(len(rows), len(self.rows()))
        longest = [int(each["max_ns"]) for each in rows]
        self.assertEqual(longest, sorted(longest, reverse=True))


class Variables(Recorded):
    def preloaded(self, **variables):
        done = subprocess.run([PROGRAM], cwd=self.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
                              env=environment(COROSCOPE_TRACE="coroscope.cst", LD_PRELOAD=LIBRARY,
                                              ASAN_OPTIONS="verify_asan_link_order=0", **variables))
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done

    def test_variables_record_without_the_command(self):
        self.assertEqual(messages(self.preloaded(COROSCOPE_BLOCKING="1")), "")
        self.assertEqual(self.row(self.rows(), "naps", "nanosleep")["count"], 2)

    def test_the_threshold_is_in_microseconds(self):
        self.preloaded(COROSCOPE_BLOCKING="1", COROSCOPE_BLOCKING_US="100000000")
        self.assertEqual(self.rows(), [])
        self.assertIn("no call lasted as long as the threshold", coroscope("blocking", "coroscope.cst", cwd=self.folder).stdout)
        self.preloaded(COROSCOPE_BLOCKING="1", COROSCOPE_BLOCKING_US="0")
        self.assertIn("write", {each["call"] for each in self.rows()})

    def test_a_wrong_threshold_is_reported_and_a_millisecond_used(self):
        done = self.preloaded(COROSCOPE_BLOCKING="1", COROSCOPE_BLOCKING_US="-5")
        self.assertEqual(messages(done), "coroscope: COROSCOPE_BLOCKING_US is a number of microseconds; 1000 is used instead of "
                                      "-5\n")
        self.assertEqual(self.row(self.rows(), "naps", "nanosleep")["count"], 2)

    def test_a_preloaded_library_without_the_variable_records_nothing(self):
        self.assertEqual(messages(self.preloaded()), "")
        self.assertEqual(self.rows(), [])
        self.assertIn("use coroscope run --record blocking", coroscope("blocking", "coroscope.cst", cwd=self.folder).stdout)

    def test_the_variable_without_the_library_is_reported(self):
        done = subprocess.run([PROGRAM], cwd=self.folder, capture_output=True, encoding="utf-8", check=False, timeout=60,
                              env=environment(COROSCOPE_TRACE="coroscope.cst", COROSCOPE_BLOCKING="1"))
        self.assertRegex(messages(done), r"\Acoroscope: not all is recorded: COROSCOPE_BLOCKING needs LD_PRELOAD=.*\n\Z")
        self.assertEqual(done.returncode, 0)

    def test_a_program_without_coroscope_runs_as_before_behind_the_library(self):
        done = self.record(sys.executable, "-c", "import os, time; time.sleep(0.01); print(os.environ['LD_PRELOAD'])",
                           LD_PRELOAD="")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.strip(), os.path.realpath(LIBRARY))

    def test_a_library_that_the_user_preloads_stays(self):
        done = self.record("sh", "-c", "echo $LD_PRELOAD", LD_PRELOAD="libm.so.6")
        if "ASan runtime does not come first" in done.stderr:
            self.skipTest("SKIP: a command with AddressSanitizer does not start behind a preloaded library")
        self.assertEqual(done.stdout.strip(), os.path.realpath(LIBRARY) + ":libm.so.6")


def static_program():
    """A static x86-64 program that exits with 7."""
    code = b"\xb8\x3c\x00\x00\x00\xbf\x07\x00\x00\x00\x0f\x05"
    base, start = 0x400000, 64 + 56
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, base + start, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, start + len(code), start + len(code), 4096) + code


class Obstacles(Recorded):
    def program(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        path.chmod(0o755)
        return path

    def assert_left_out(self, done, reason):
        self.assertIn(f"{reason}, so --record blocking cannot see its calls; the rest is recorded\n", done.stderr)

    @unittest.skipUnless(platform.machine() == "x86_64", "SKIP: the static program is for x86-64")
    def test_a_static_program_is_named_and_runs(self):
        done = self.record(self.program("static", static_program()))
        self.assertEqual(done.returncode, 7)
        self.assert_left_out(done, "it is statically linked")

    def test_a_program_of_another_architecture_is_named(self):
        header = bytearray(static_program())
        header[18] = 8  # MIPS
        self.assert_left_out(self.record(self.program("foreign", bytes(header))), "it is built for another architecture")

    @unittest.skipUnless(os.getuid() == 0, "SKIP: only root can give a file away")
    def test_a_set_user_id_program_is_named(self):
        path = shutil.copy(shutil.which("true"), self.folder / "raised")
        os.chown(path, 65534, 65534)
        os.chmod(path, 0o755 | stat.S_ISUID)
        self.assert_left_out(self.record(path), "it is set-user-ID")

    def test_cut_and_damaged_headers_stop_nothing(self):
        whole = static_program()
        for size in (0, 3, 16, 63, 100):
            with self.subTest(size=size):
                self.assertNotIn("terminate", self.record(self.program(f"cut{size}", whole[:size])).stderr)
        wild = bytearray(whole)
        wild[32:40] = b"\xff" * 8  # the place of the program headers
        self.assert_left_out(self.record(self.program("wild", bytes(wild))), "it is statically linked")

    def test_an_older_trace_says_that_blocking_calls_were_not_recorded(self):
        trace_builder.service().write(self.folder / "old.cst")
        done = coroscope("blocking", "old.cst", cwd=self.folder)
        self.assert_success(done)
        self.assertIn("blocking calls were not recorded; use coroscope run --record blocking", done.stdout)


if __name__ == "__main__":
    main()
