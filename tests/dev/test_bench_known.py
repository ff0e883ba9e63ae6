#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the rows that `./dev bench` knows: test_bench_known.py SOURCE BUILD, with bench_hot and bench_once built.
"""

import pathlib
import sys
import tempfile
import unittest

from bench_program import run  # before bench's modules: it sets their path
import budgets
import programs
import timed_rows

BUILD = pathlib.Path(sys.argv.pop(1))


LACKING = {
    "asio.recording": "Boost.Asio with coroutines",
    "asio.example": "Boost.Asio with coroutines and Boost's examples (libboost1.81-doc)",
    "peer.asio_tracking": "Boost.Asio with coroutines",
    "answers": "the tests (-Dtests=enabled) and the command",
    "service": "Boost.Asio with coroutines, SQLite and CLI11",
    "pack.demo": "Boost.Asio with coroutines, SQLite and CLI11",
}


class Known(unittest.TestCase):
    def setUp(self):
        """Makes a build folder with only the programs that need no other library."""
        folder = tempfile.TemporaryDirectory(prefix="coroscope-bench-")
        self.addCleanup(folder.cleanup)
        self.little = pathlib.Path(folder.name)
        (self.little / "bench").mkdir()
        for program in ("bench_hot", "bench_once"):
            (self.little / "bench" / program).symlink_to(BUILD.resolve() / "bench" / program)

    def test_every_budget_has_a_row_and_every_row_a_budget_even_in_a_small_build(self):
        for folder in (BUILD, self.little):
            self.assertEqual(list(run.known_rows(folder, 1)), list(budgets.BUDGETS))

    def test_a_row_needs_the_program_that_lists_it(self):
        for program, needed in (("bench_hot", programs.HOT), ("bench_once", programs.ONCE)):
            listed = set(timed_rows.listed(self.little / "bench" / program))
            self.assertEqual({name for name in budgets.BUDGETS if programs.needed(name) == needed}, listed)

    def test_rows_of_a_program_that_was_not_built_are_left_out(self):
        (self.little / "bench" / "bench_once").unlink()
        rows = run.known_rows(self.little, 1)
        self.assertIn("scope.recording.1", rows)
        self.assertNotIn("load.native", rows)

    def test_the_rows_of_asio_and_of_the_service_name_the_missing_libraries(self):
        rows = run.known_rows(self.little, 1)
        for group, lacking in LACKING.items():
            notes = {measure()["note"] for name, measure in rows.items() if run.wanted(name, [group])}
            self.assertEqual(notes, {f"not measured: needs {lacking}"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
