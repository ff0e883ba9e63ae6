#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the rows that `./dev bench` knows: test_bench_known.py SOURCE BUILD, with bench_hot and bench_once built."""

import pathlib
import sys
import tempfile
import unittest

from bench_program import run  # before bench's modules: it says where they are
import budgets

BUILD = pathlib.Path(sys.argv.pop(1))


LACKING = {
    "asio.recording": "Boost.Asio with coroutines",
    "asio.example": "Boost.Asio with coroutines and Boost's examples (libboost1.81-doc)",
    "peer.asio_tracking": "Boost.Asio with coroutines",
    "service": "Boost.Asio with coroutines, SQLite and CLI11",
    "pack.demo": "Boost.Asio with coroutines, SQLite and CLI11",
}


class Known(unittest.TestCase):
    def setUp(self):
        """A build of the programs that need nothing."""
        folder = tempfile.TemporaryDirectory(prefix="coroscope-bench-")
        self.addCleanup(folder.cleanup)
        self.little = pathlib.Path(folder.name)
        (self.little / "bench").mkdir()
        for program in ("bench_hot", "bench_once"):
            (self.little / "bench" / program).symlink_to(BUILD.resolve() / "bench" / program)

    def test_every_budget_is_a_rows_and_every_row_has_one_also_where_little_was_built(self):
        for folder in (BUILD, self.little):
            self.assertEqual(list(run.known_rows(folder, 1)), list(budgets.BUDGETS))

    def test_the_rows_of_asio_and_of_the_service_say_what_they_need_where_it_is_not_there(self):
        rows = run.known_rows(self.little, 1)
        for group, lacking in LACKING.items():
            notes = {measure()["note"] for name, measure in rows.items() if run.wanted(name, [group])}
            self.assertEqual(notes, {f"not measured: needs {lacking}"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
