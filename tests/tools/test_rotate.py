#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope run --rotate and --keep."""

import json
import os
import sys

from tool import ToolTest, coroscope, environment, main

PROGRAM = os.path.abspath(sys.argv[2])
del sys.argv[2:3]

REQUESTS = 300
SCOPES = 1000
ALL_SCOPES = REQUESTS * (SCOPES + 1) + 1


class Series(ToolTest):
    def record(self, *options, **variables):
        return coroscope("run", "--summary-to", "-", *options, "--policy", "wait", "--", PROGRAM, str(REQUESTS), str(SCOPES), cwd=self.folder,
                         env=environment(**variables))

    def numbers(self, name="coroscope"):
        found = [each.name.split(".") for each in self.folder.iterdir()]
        return sorted(int(each[1]) for each in found if each[0] == name and len(each) == 3 and each[2] == "cst")

    def scopes(self, number, name="coroscope"):
        done = coroscope("table", f"{name}.{number}.cst", "--json", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sum(row["count"] for row in json.loads(done.stdout)["rows"])

    def test_every_scope_is_in_one_of_the_files(self):
        done = self.record("--rotate", "1MiB", "--keep", "1000")
        self.assertEqual(done.returncode, 0, done.stderr)
        numbers = self.numbers()
        self.assertGreaterEqual(len(numbers), 2)
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        self.assertEqual(sum(self.scopes(number) for number in numbers), ALL_SCOPES)
        self.assertFalse((self.folder / "coroscope.cst").exists())

    def test_each_file_has_the_name_of_the_process(self):
        self.record("--rotate", "1MiB", "--keep", "1000")
        names = [json.loads(coroscope("info", f"coroscope.{number}.cst", "--json", cwd=self.folder).stdout)["process"]
                 for number in self.numbers()]
        self.assertEqual(set(names), {os.path.basename(PROGRAM)[:15]})

    def test_the_summary_is_about_the_newest_file_that_has_work_and_lists_all(self):
        done = self.record("--rotate", "1MiB", "-o", "named.cst")
        listed = [line.removeprefix("trace: ") for line in done.stdout.splitlines() if line.startswith("trace: ")]
        self.assertEqual(listed, [f"named.{number}.cst" for number in self.numbers("named")])
        self.assertIn("Self running time total: ", done.stdout)

    def test_only_the_newest_files_stay_and_the_numbers_go_on(self):
        self.record("--rotate", "1MiB", "--keep", "1")
        (first,) = self.numbers()
        self.record(COROSCOPE_ROTATE="1M", COROSCOPE_KEEP="2")
        numbers = self.numbers()
        self.assertEqual(len(numbers), 2)
        self.assertGreater(numbers[0], first)

    def test_a_trace_without_a_number_is_left_alone(self):
        self.record()
        before = (self.folder / "coroscope.cst").read_bytes()
        self.record("--rotate", "1MiB")
        self.assertEqual((self.folder / "coroscope.cst").read_bytes(), before)

    def test_wrong_values_are_named(self):
        for options in (["--rotate", "1KiB"], ["--rotate", "-5"], ["--rotate", "1MiB", "--keep", "0"], ["--keep", "3"]):
            done = self.record(*options)
            self.assertNotEqual(done.returncode, 0, options)
            self.assertIn(options[-2], done.stderr)
        done = self.record(COROSCOPE_ROTATE="12Q")
        self.assertIn("COROSCOPE_ROTATE", done.stderr)
        self.assertTrue((self.folder / "coroscope.1.cst").exists() or (self.folder / "coroscope.cst").exists())


if __name__ == "__main__":
    main()
