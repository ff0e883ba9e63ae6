#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`coroscope executors`: the queues of executors, and the saturated ones."""

import json

import tool
import trace_builder
from sample_traces import DataTest
from tool import coroscope


class Executors(DataTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.executors().write(self.folder / "executors.cst")

    def test_the_executor_whose_jobs_waited_for_its_threads_comes_first(self):
        resizing, other = self.rows("executors")
        self.assertEqual((resizing["name"], resizing["kind"], resizing["threads"], resizing["jobs"]),
                         ("resizing", "thread_pool", "1", "4"))
        self.assertEqual((resizing["mean_length_hundredths"], resizing["p99_length"], resizing["max_length"]),
                         ("200", "4", "4"))
        self.assertEqual((resizing["queued_ns"], resizing["p50_ns"], resizing["max_ns"]),
                         ("1000000", "200000", "400000"))
        self.assertEqual((resizing["queued_while_busy_ns"], resizing["saturated"], resizing["occupant"]),
                         ("600000", "yes", "resize"))
        self.assertEqual((other["name"], other["saturated"], other["queued_while_busy_ns"]),
                         ("thread_pool 2", "no", "0"))

    def test_json_has_numbers_and_null_for_a_context_that_runs_no_strand(self):
        first = self.data("executors")[0]
        self.assertEqual(first["busy_ns"], 400_000)
        self.assertIsNone(first["inner"])

    def test_a_line_names_the_saturated_executor_and_no_other(self):
        text = coroscope("executors", self.trace).stdout
        self.assertIn("saturated: resizing: in 60 % of the queued time of its jobs all its threads were busy; "
                      "mostly resize\n", text)
        self.assertEqual(text.count("saturated: "), 1)
        self.assertIn("2.00", text)

    def test_a_trace_without_executors_says_so(self):
        empty = trace_builder.Trace().write(self.folder / "empty.cst")
        done = coroscope("executors", empty)
        self.assert_success(done)
        self.assertEqual(done.stdout, "no executor was recorded; docs/how-to/executors.md shows which are\n")

    def test_the_export_has_a_counter_for_each_queue(self):
        exported = self.folder / "executors.json"
        self.assert_success(coroscope("export", self.trace, "--to", "chrome", "-o", exported))
        counters = [each for each in json.loads(exported.read_text())["traceEvents"] if each["ph"] == "C"]
        lengths = [(each["ts"], each["args"]["value"]) for each in counters if each["name"] == "queue of resizing (1)"]
        self.assertEqual(lengths, [(100, 4), (200, 3), (300, 2), (400, 1), (500, 0)])
        self.assertEqual({each["name"] for each in counters}, {"queue of resizing (1)", "queue of thread_pool 2"})


if __name__ == "__main__":
    tool.main()
