#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the rows of `./dev bench`: their choice, their verdicts against budgets, and their form. The rows are made
here, and nothing is measured."""

import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from bench_program import ROOT, run  # before bench's modules: it sets their path
import budgets
import missing
import service_rows

KEPT, MISSED, FREE, LACKING, BROKEN = (
    "scope.recording.1", "pack.bytes_per_scope", "pack.write", "peer.spdlog.1", "include")


def row(name, value, **more):
    return {"name": name, "value": value, "unit": "ns", "floor": 10, "ratio": value / 10, "instructions": None, **more}


def broken():
    raise subprocess.CalledProcessError(1, ["bench_hot"])


MADE = {KEPT: lambda: row(KEPT, 10.2, instructions=38), MISSED: lambda: row(MISSED, 7), FREE: lambda: row(FREE, 1234.5),
        LACKING: lambda: missing.not_measured(LACKING, "spdlog"), BROKEN: broken}


def bench(*options):
    """The output, or the message of a usage error."""
    told = io.StringIO()
    with (mock.patch.object(run, "known_rows", lambda *_: MADE),
          mock.patch.object(sys, "argv", ["run", "build", *options]), contextlib.redirect_stdout(told)):
        run.main()
    return told.getvalue()


class Written(unittest.TestCase):
    def test_json_has_every_row_with_its_verdict(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "rows.json")
            bench("--json", str(file))
            rows = {each["name"]: each for each in json.loads(file.read_text())["rows"]}
        self.assertEqual({name: each["holds"] for name, each in rows.items()},
                         {KEPT: True, MISSED: False, FREE: None, LACKING: None, BROKEN: None})
        self.assertEqual((rows[MISSED]["value"], rows[MISSED]["floor"], rows[MISSED]["budget"]), (7, 10, "≤ 6 B"))

    def test_a_table_has_every_row_with_its_verdict(self):
        for form in ((), ("--markdown",)):
            lines = [line.split() for line in bench(*form).splitlines()]
            for name, verdict in ((KEPT, "yes"), (MISSED, "NO"), (FREE, "–")):
                words = next(words for words in lines if name in words or f"`{name}`" in words)
                self.assertIn(verdict, words[-2:])

    def test_markdown_is_a_table_with_the_columns_of_the_document(self):
        table = [line for line in bench("--markdown").splitlines() if line.startswith("|")]
        documented = (ROOT / "docs" / "contributing" / "performance.md").read_text().splitlines()
        at = documented.index(table[0])
        self.assertEqual(documented[at + 1], table[1])
        self.assertEqual(len(table), 2 + len(MADE))
        self.assertEqual({line.count("|") for line in table}, {table[0].count("|")})

    def test_a_row_that_could_not_be_measured_gives_the_reason_and_stops_no_other_row(self):
        told = bench()
        self.assertRegex(told, rf"(?m)^{re.escape(LACKING)} .* – \(not measured: needs spdlog\)$")
        self.assertRegex(told, rf"(?m)^{re.escape(BROKEN)} .* – \(bench_hot failed\)$")
        self.assertIn(KEPT, told)


class Exiting(unittest.TestCase):
    def test_a_missed_budget_is_no_failure_and_help_says_so(self):
        self.assertIn(" NO\n", bench(MISSED))  # and no SystemExit
        done = subprocess.run([ROOT / "dev", "bench", "--help"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, "(?m)^It exits with 0 also where a budget is missed")

    def test_rows_that_do_not_exist_are_a_failure_of_one_line(self):
        with self.assertRaises(SystemExit) as ended:
            bench("scope.recoding")
        self.assertEqual(ended.exception.code, "bench: no row named scope.recoding; ./dev bench --list prints them")


class Choosing(unittest.TestCase):
    NAMES = ("scope.recording.1", "scope.recording.2", "scope.sustained", "await.recording.1", "include")

    def chosen(self, *patterns):
        return [name for name in self.NAMES if run.wanted(name, patterns)]

    def test_a_row_is_chosen_by_its_name_its_beginning_up_to_a_dot_or_a_pattern(self):
        self.assertEqual(self.chosen("include"), ["include"])
        self.assertEqual(self.chosen("scope"), list(self.NAMES[:3]))
        self.assertEqual(self.chosen("scope.recording"), list(self.NAMES[:2]))
        self.assertEqual(self.chosen("*.recording.*"), ["scope.recording.1", "scope.recording.2", "await.recording.1"])
        self.assertEqual(self.chosen("scope.rec"), [])

    def test_several_patterns_choose_the_rows_of_each_and_none_chooses_all(self):
        self.assertEqual(self.chosen("await.*", "include"), ["await.recording.1", "include"])
        self.assertEqual(self.chosen(), list(self.NAMES))

    def test_only_chosen_rows_are_measured_and_a_list_measures_nothing(self):
        with mock.patch.dict(MADE, {MISSED: lambda: self.fail("measured")}):
            self.assertIn(FREE, bench(FREE))
            self.assertEqual(bench("--list", "pack").split(), [MISSED, FREE])


class Starts(unittest.TestCase):
    """The starts of the servers of service.*."""

    def started(self, *options):
        """The number of starts of a server that takes as long with the profiler as without."""
        turn = {kind: {"throughput": 1, "cpu": 1, "p99": 1, "helper": 0} for kind in service_rows.KINDS}
        service = mock.Mock(**{"start.return_value": ([turn], 0, 0)})
        count = run.parse(["build", *options]).starts
        with mock.patch.object(service_rows, "Service", lambda _: service):
            service_rows.measured.cache_clear()
            row = service_rows.measure(None, count, "service.recording.cpu", "recording", "cpu")
        self.assertEqual(row["ratio"], 1)
        self.orders = [call.args[2] for call in service.start.call_args_list]
        return len(self.orders)

    def test_the_number_of_starts_is_the_requested_one(self):
        self.assertEqual(self.started(), service_rows.STARTS)
        self.assertEqual(self.started("--starts", "3"), 3)

    def test_each_server_is_started_first_second_and_last_equally_often(self):
        self.started("--starts", "12")
        for place in range(3):
            kinds = [order[place] for order in self.orders]
            self.assertEqual({kind: kinds.count(kind) for kind in service_rows.KINDS},
                             dict.fromkeys(service_rows.KINDS, 4))

    def test_the_number_of_starts_is_at_least_one(self):
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as told:
            run.parse(["build", "--starts", "0"])
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("argument --starts: invalid", told.getvalue())


class Verdicts(unittest.TestCase):
    def holds(self, budget, **figures):
        return budgets.Budget("", **budget).holds(figures)

    def test_a_budget_is_kept_up_to_its_bound_and_missed_beyond(self):
        self.assertIs(self.holds({"ratio": budgets.at_most(1.2)}, ratio=1.2), True)
        self.assertIs(self.holds({"ratio": budgets.at_most(1.2)}, ratio=1.21), False)
        self.assertIs(self.holds({"ratio": budgets.at_least(2)}, ratio=2), True)
        self.assertIs(self.holds({"ratio": budgets.at_least(2)}, ratio=1.99), False)

    def test_a_missing_figure_leaves_the_verdict_open_unless_another_misses_its_budget(self):
        both = {"value": budgets.at_most(1), "instructions": budgets.at_most(4)}
        for unknown in (None, float("nan")):
            self.assertIs(self.holds(both, value=1, instructions=unknown), None)
            self.assertIs(self.holds(both, value=unknown, instructions=4), None)
            self.assertIs(self.holds(both, value=unknown, instructions=5), False)

    def test_an_interval_keeps_a_budget_only_if_all_of_it_does(self):
        for budget, narrow, wide in ((budgets.least(0.97), (0.975, 1.005), (0.9, 1.1)),
                                     (budgets.most(1.03), (0.995, 1.025), (0.9, 1.1))):
            for (low, high), holds in ((narrow, True), (wide, False)):
                self.assertIs(budget.holds({"ratio": 1, "low": low, "high": high}), holds)

    def test_no_budget_is_kept_by_widening_an_interval(self):
        for name, budget in budgets.BUDGETS.items():
            self.assertNotEqual(budget.limits.get("low", (">=",))[0], "<=", name)
            self.assertNotEqual(budget.limits.get("high", ("<=",))[0], ">=", name)

    def test_a_row_of_servers_is_judged_by_its_interval(self):
        for name, budget in budgets.BUDGETS.items():
            if name.startswith("service.") and not name.endswith(("instructions", "icache")):
                self.assertLessEqual(set(budget.limits), {"low", "high"}, name)

    def test_a_budget_that_only_the_width_of_the_interval_misses_says_so(self):
        name, wide = "service.inactive.cpu", "; a wide interval, more --starts make it narrower"
        for ratio, note in ((1.001, "95 %" + wide), (1.04, "95 %")):
            judged = run.judge(row(name, 10, low=0.9, high=1.1, note="95 %") | {"ratio": ratio})
            self.assertEqual((judged["holds"], judged["note"]), (False, note))

    def test_bytes_per_scope_are_not_rounded(self):
        self.assertIs(run.judge(row("memory.bytes_per_scope", 16.4))["holds"], False)

    def test_a_row_that_lost_records_keeps_no_budget(self):
        self.assertIs(run.judge(row(KEPT, 10, instructions=38, void=True))["holds"], None)


if __name__ == "__main__":
    unittest.main(verbosity=2)
