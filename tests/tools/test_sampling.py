#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope run --sample and --budget, and of the texts about requests that are left out."""

import json
import os
import sys
import unittest

from tool import ToolTest, coroscope, environment, main

PROGRAM = os.path.abspath(sys.argv[2])
del sys.argv[2:3]


class Sampled(ToolTest):
    def record(self, *options, requests=20, scopes=3, **variables):
        done = coroscope("run", *options, "--no-summary", "--", PROGRAM, str(requests), str(scopes), cwd=self.folder,
                         env=environment(**variables))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def read(self, *arguments):
        done = coroscope(*arguments, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, *arguments):
        return json.loads(self.read(*arguments, "--json"))

    def sampling(self):
        return json.loads(self.read("info", "coroscope.cst", "--json"))["sampling"]


class Interval(Sampled):
    def test_one_of_five_requests_is_recorded_in_full(self):
        self.record("--sample", "5")
        sampling = self.sampling()
        self.assertEqual((sampling["requests"], sampling["left_out"], sampling["interval"]), (20, 16, 5))
        (kind,) = self.rows("requests", "coroscope.cst")
        self.assertEqual((kind["count"], kind["in_full"]), (20, 4))
        scopes = {each["name"]: each["count"] for each in self.rows("table", "coroscope.cst")["rows"]}
        self.assertEqual((scopes["GET"], scopes["inside"], scopes["outside"]), (20, 12, 1))

    def test_the_environment_sets_the_interval(self):
        self.record(COROSCOPE_SAMPLE="10")
        self.assertEqual(self.sampling()["left_out"], 18)

    def test_info_and_requests_name_the_requests_in_full(self):
        self.record("--sample", "5")
        sentence = "4 of 20 requests in full; one of 5 of each type on each thread"
        info = self.read("info", "coroscope.cst")
        self.assertIn("Sampling    " + sentence, info)
        self.assertIn("nothing was lost", info)
        requests = self.read("requests", "coroscope.cst")
        self.assertTrue(requests.startswith("Recorded: " + sentence), requests)
        self.assertIn("only of requests in full", requests)
        self.assertIn("Requests left out by sampling: 16", requests)

    def test_the_parts_of_a_request_that_is_left_out_are_unknown(self):
        self.record("--sample", "5")
        shown = self.read("requests", "coroscope.cst", "--request", "2")
        self.assertIn("the parts are unknown", shown)
        self.assertIn("left out: nothing but the request itself", shown)
        one = json.loads(self.read("requests", "coroscope.cst", "--request", "2", "--json"))
        self.assertEqual((one["left_out"], one["running_ns"], one["steps"]), (True, None, []))
        whole = json.loads(self.read("requests", "coroscope.cst", "--request", "6", "--json"))
        self.assertEqual((whole["left_out"], len(whole["steps"])), (False, 3))
        for row in self.rows("requests", "coroscope.cst", "--show", "slowest"):
            self.assertEqual(row["running_ns"] is None, row["recorded"] == "left out")
        for row in self.rows("requests", "coroscope.cst", "--show", "percentiles"):
            self.assertEqual((row["in_full"], row["request"] % 5), (4, 1))

    def test_without_sampling_nothing_is_said_about_it(self):
        self.record()
        self.assertNotIn("sampling", json.loads(self.read("info", "coroscope.cst", "--json")))
        requests = self.read("requests", "coroscope.cst")
        self.assertNotIn("in full", requests)
        self.assertNotIn("left out", requests)


class Budget(Sampled):
    def test_a_program_that_exceeds_the_budget_records_fewer_requests_and_says_so(self):
        self.record("--budget", "0.1%", requests=20000, scopes=200)
        sampling = self.sampling()
        self.assertEqual(sampling["budget_ppm"], 1000)
        self.assertGreater(sampling["changes"], 0)
        self.assertGreater(sampling["interval"], 1)
        self.assertGreater(sampling["left_out"], 0)
        self.assertEqual(sampling["requests"], 20000)
        first = sampling["changed"][0]
        self.assertEqual((first["before"], first["interval"]), (1, 2))
        self.assertGreater(first["cost_ppm"], 1000)
        self.assertRegex(self.read("info", "coroscope.cst"),
                         r"budget 0\.1%, estimated cost .*; the interval changed \d+ times?: 1, 2")

    def test_a_budget_that_is_kept_leaves_nothing_out(self):
        self.record("--budget", "50")
        sampling = self.sampling()
        self.assertEqual((sampling["budget_ppm"], sampling["left_out"], sampling["changes"]), (500000, 0, 0))

    def test_wrong_values_are_refused(self):
        for option, value in (("--budget", "101"), ("--budget", "-1"), ("--budget", "much"), ("--sample", "0"),
                              ("--sample", "1.5")):
            done = coroscope("run", option + "=" + value, "--", PROGRAM, "1", "1", cwd=self.folder)
            self.assertEqual(done.returncode, 2, (option, value, done.stderr))
            self.assertIn(value, done.stderr)

    def test_wrong_values_in_the_environment_are_reported(self):
        done = self.record(COROSCOPE_BUDGET="lots", COROSCOPE_SAMPLE="-3")
        self.assertIn("COROSCOPE_BUDGET is a percentage from 0 to 100", done.stderr)
        self.assertIn("COROSCOPE_SAMPLE is a number of requests from 1 to 65536", done.stderr)


if __name__ == "__main__":
    main()
