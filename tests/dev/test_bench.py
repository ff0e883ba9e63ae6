#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the choice of bursts that the benchmarks count. They depend on no time."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv.pop(1)).resolve() / "bench"))
import pairs  # noqa: E402

FULL = 4.0
QUIET = [pairs.Pair(20, 10, FULL)] * pairs.FEWEST
SLOWED = pairs.Pair(50, 11, FULL * 0.9)


class Choosing(unittest.TestCase):
    def setUp(self):
        self.chooser = pairs.Chooser()

    def test_pairs_beside_slower_additions_do_not_count(self):
        row = self.chooser.row("row", QUIET + 3 * pairs.FEWEST * [SLOWED])
        self.assertEqual((row["value"], row["floor"], row["ratio"], row["added"]), (20, 10, 2, 10))
        self.assertNotIn("note", row)

    def test_a_slow_subject_counts(self):
        slow_subject = pairs.Pair(1000, 10, FULL)
        row = self.chooser.row("row", QUIET + (len(QUIET) + 1) * [slow_subject])
        self.assertEqual(row["value"], 1000)

    def test_a_row_without_enough_good_pairs_counts_all_and_says_so(self):
        row = self.chooser.row("row", [*QUIET[1:], *(2 * pairs.FEWEST * [SLOWED])])
        self.assertEqual(row["value"], 50)
        self.assertEqual(row["note"], "a shared core: additions at 0.90 of their best rate")

    def test_the_best_rate_is_that_of_all_rows(self):
        self.chooser.row("row", QUIET)
        self.assertIn("note", self.chooser.row("other row", pairs.FEWEST * [SLOWED]))

    def test_runs_are_repeated_until_there_are_enough_good_pairs(self):
        taken = iter([[SLOWED]] * 9 + [pairs.ENOUGH * [QUIET[0]]] + [[SLOWED]] * 90)
        found, lost = self.chooser.collect(lambda: (next(taken), 2))
        self.assertEqual((len(found), lost), (9 + pairs.ENOUGH, 20))

    def test_there_is_a_least_and_a_largest_number_of_runs(self):
        found, _ = self.chooser.collect(lambda: (pairs.ENOUGH * [QUIET[0]], 0))
        self.assertEqual(len(found), pairs.FEWEST_RUNS * pairs.ENOUGH)
        found, _ = self.chooser.collect(lambda: ([SLOWED], 0))
        self.assertEqual(len(found), pairs.MOST_RUNS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
