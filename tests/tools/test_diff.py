#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope diff."""

import csv
import io
import json

import tool
from tool import ToolTest, coroscope
from trace_builder import Trace, scope


def program(**lengths_ns):
    """A thread that calls each scope 100 times, for that time."""
    trace = Trace(duration_ns=100_000_000)
    sites = {name: trace.site(name.encode(), b"src/service.cpp", 10 + at) for at, name in enumerate(lengths_ns)}
    records, now = [], 1_000
    for _ in range(100):
        for name, length_ns in lengths_ns.items():
            records.append(scope(sites[name], now, now + length_ns))
            now += length_ns + 1_000
    trace.thread(1, b"main", records)
    return trace


class Diff(ToolTest):
    def setUp(self):
        super().setUp()
        self.old = program(parse=10_000, send=50_000, old=2_000).write(self.folder / "old.cst")
        self.new = program(parse=11_000, send=50_000, new=2_000).write(self.folder / "new.cst")

    def diff(self, *arguments):
        done = coroscope("diff", *arguments)
        self.assert_success(done)
        return done.stdout

    def verdicts(self, *arguments):
        rows = json.loads(self.diff(*arguments, "--json"))["rows"]
        return {row["name"]: row["verdict"] for row in rows if row["kind"] == "scope"}

    def test_one_trace_for_each_side(self):
        self.assertEqual(self.verdicts(self.old, self.new), {"parse": "slower", "send": "same", "old": "gone", "new": "new"})
        self.assertEqual(self.verdicts(self.new, self.old)["parse"], "faster")

    def test_json_has_the_documented_fields(self):
        document = json.loads(self.diff(self.old, self.new, "--json"))
        self.assertEqual((document["before"], document["after"]), ([str(self.old)], [str(self.new)]))
        row = next(row for row in document["rows"] if row["name"] == "parse")
        self.assertEqual((row["kind"], row["file"], row["line"], row["verdict"]), ("scope", "src/service.cpp", 10, "slower"))
        self.assertAlmostEqual(row["change"], 0.1)
        self.assertTrue(0 < row["low"] < 0.1 < row["high"])
        gone = next(row for row in document["rows"] if row["name"] == "old")
        self.assertEqual((gone["change"], gone["low"], gone["high"]), (None, None, None))

    def test_several_traces_for_each_side(self):
        self.assertEqual(self.verdicts(self.old, self.old, "--", self.new, self.new, self.new)["parse"], "slower")
        self.assertEqual(self.verdicts(self.old, self.old, "--against", self.new)["parse"], "slower")
        text = self.diff(self.old, self.old, self.old, "--", self.new, self.new, self.new)
        self.assertIn("Certainty: 3 runs before and 3 after.", text)

    def test_text_says_how_weak_one_run_a_side_is(self):
        text = self.diff(self.old, self.new)
        self.assertIn("slower   +10.0 %", text)
        self.assertIn("Certainty: weak, because there is one run a side.", text)
        self.assertNotIn("scope send", text)
        self.assertIn("scope send", self.diff(self.old, self.new, "--all"))

    def test_csv_has_one_line_for_each_row(self):
        rows = list(csv.DictReader(io.StringIO(self.diff(self.old, self.new, "--format", "csv"))))
        self.assertEqual([row["verdict"] for row in rows if row["name"] == "parse"], ["slower"])

    def test_markdown_is_a_table(self):
        text = self.diff(self.old, self.new, "--markdown")
        self.assertTrue(text.startswith("**Coroscope:** 1 is slower, none is faster;"), text)
        self.assertIn("| **slower** | +10.0 % |", text)

    def test_fail_on_a_regression_exits_with_3(self):
        for limit, code in (("regression", 3), ("regression=5%", 3), ("regression=5", 3), ("regression=20%", 0)):
            done = coroscope("diff", self.old, self.new, "--fail-on", limit)
            self.assertEqual(done.returncode, code, limit)
            self.assertIn("slower", done.stdout)
        self.assert_success(coroscope("diff", self.old, self.old, "--fail-on", "regression"))

    def test_wrong_usage_is_one_line(self):
        usage = r".*; see coroscope diff --help"
        for arguments in ([], [self.old, self.new, self.new, "--fail-on", "regression"], [self.old, "--", self.new, "--", self.new],
                          [self.old, self.new, "--fail-on", "slower"], [self.old, self.new, "--fail-on", "regression=x%"]):
            with self.subTest(arguments):
                self.assert_one_error(coroscope("diff", *arguments), 2, usage)

    def test_a_trace_that_cannot_be_read_is_one_line(self):
        for arguments in ([self.old, self.folder / "none.cst"], [self.folder / "none.cst", self.old, "--fail-on", "regression"]):
            self.assert_one_error(coroscope("diff", *arguments), 1, r".*none\.cst: .*")

    def test_lost_records_leave_rows_unclear(self):
        lost = Trace(duration_ns=100_000_000)
        site = lost.site(b"parse", b"src/service.cpp", 10)
        lost.thread(1, b"main", [scope(site, 1_000 + at * 30_000, 21_000 + at * 30_000) for at in range(100)], dropped=500)
        path = lost.write(self.folder / "lost.cst")
        self.assertEqual(set(self.verdicts(self.old, path).values()), {"unclear"})
        self.assertIn("lost.cst lost 500 records", " ".join(self.diff(self.old, path).split()))


if __name__ == "__main__":
    tool.main()
