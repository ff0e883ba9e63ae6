#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope why."""

import csv
import io
import json

import tool
import trace_builder
from tool import ToolTest, coroscope


class Why(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.service().write(self.folder / "service.cst")

    def why(self, *options):
        done = coroscope("why", self.trace, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_first_difference_is_the_wait_that_grew(self):
        found = json.loads(self.why("--json"))
        self.assertEqual((found["name"], found["requests"], found["slow"], found["differ"]),
                         ("session", 20, [20, 19, 18, 17, 16], True))
        first = found["differences"][0]
        self.assertEqual([first[key] for key in ("kind", "label", "file", "line")],
                         ["suspended", "db.query", "../src/store.cpp", 42])
        self.assertEqual(first["slow_ns"], 180_000)
        self.assertEqual(first["scope"], {"label": "handle", "file": "../src/server.cpp", "line": 12})
        self.assertEqual((first["cause"]["label"], first["cause"]["role"]), ("handle", "waited"))
        self.assertAlmostEqual(first["share"], 1)

    def test_the_text_names_the_groups_and_the_unexplained_share(self):
        lines = self.why().splitlines()
        self.assertTrue(lines[0].startswith("the slowest 5 of 20 requests session: "), lines[0])
        self.assertIn("suspended  db.query", lines[5])
        self.assertIn("unexplained: 0.0 % of the difference", lines)

    def test_csv_has_one_row_per_part(self):
        rows = list(csv.DictReader(io.StringIO(self.why("--format", "csv"))))
        self.assertEqual((rows[0]["kind"], rows[0]["label"]), ("suspended", "db.query"))

    def test_one_request_is_compared(self):
        self.assertEqual(json.loads(self.why("--request", "19", "--json"))["slow"], [19])

    def test_requests_that_do_not_differ_have_no_differences(self):
        found = json.loads(self.why("--request", "11", "--json"))
        self.assertEqual((found["differ"], found["differences"]), (False, []))
        self.assertEqual(self.why("--request", "11", "--format", "csv").count("\n"), 1)

    def test_an_unfinished_request_is_named_as_such(self):
        trace = trace_builder.service(last_ends=False).write(self.folder / "unfinished.cst")
        done = coroscope("why", trace, "--request", "20")
        self.assert_one_error(done, 1, r".*request 20 had not ended when the session ended, or its end was lost; only a whole "
                                       r"request can be compared.*")

    def test_too_few_requests_are_one_line(self):
        for arguments in (["--type", "no such type"], ["--request", "99"]):
            done = coroscope("why", self.trace, *arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


if __name__ == "__main__":
    tool.main()
