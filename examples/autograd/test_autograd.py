#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the example named by the first argument; checks its table, its arrows and its usage."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

EXAMPLE = None  # the executable, set by main

CALLS = {"mul": 2, "pow": 2, "PowBackward0": 1, "torch::autograd::AccumulateGrad": 1,
         "torch::autograd::GraphRoot": 1}


def run(*arguments):
    return subprocess.run([EXAMPLE, *arguments], capture_output=True, text=True, check=False)


def rows(table):
    """Name and number of calls of each row, in order."""
    found = []
    for line in table.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) > 3 and cells[-1].isdigit():
            found.append((cells[0], int(cells[-1])))
    return found


class Autograd(unittest.TestCase):
    def test_the_table_has_the_calls_of_torchs_documentation(self):
        done = run()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(dict(rows(done.stdout)), {name: 100 * n for name, n in CALLS.items()})
        header = next(line for line in done.stdout.splitlines() if "Name" in line)
        self.assertEqual([word for word in ("Self CPU %", "Self CPU", "CPU total %", "CPU total",
                                            "CPU time avg", "# of Calls") if word not in header], [])
        self.assertIn("Self CPU time total: ", done.stdout)

    def test_an_arrow_leads_from_each_operation_to_its_backward_on_another_thread(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.json")
            done = run("--rounds", "7", "--trace", path)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            with open(path, encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
        arrows = [each for each in events if each.get("cat") == "fwdbwd"]
        starts = {each["id"]: each for each in arrows if each["ph"] == "s"}
        ends = {each["id"]: each for each in arrows if each["ph"] == "f"}
        self.assertEqual(len(starts), 7)
        self.assertEqual(starts.keys(), ends.keys())
        named = {(each["tid"], each["ts"]): each["name"] for each in events if each["ph"] == "X"}
        for key, start in starts.items():
            self.assertNotEqual(start["tid"], ends[key]["tid"])
            self.assertEqual(named[start["tid"], start["ts"]], "pow")
            self.assertEqual(named[ends[key]["tid"], ends[key]["ts"]], "PowBackward0")
        numbers = [each["args"]["Sequence number"] for each in events
                   if each.get("name") == "PowBackward0"]
        self.assertEqual(numbers, list(range(7)))

    def test_operations_on_vectors_have_their_own_backwards(self):
        done = run("--rounds", "3", "--elements", "50")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        calls = dict(rows(done.stdout))
        for name in ("sum", "SumBackward0", "MulBackward0", "PowBackward0",
                     "torch::autograd::AccumulateGrad"):
            self.assertEqual(calls[name], 3, name)
        # One forward; two in MulBackward0, two in PowBackward0.
        self.assertEqual(calls["mul"], 3 * 5)

    def test_wrong_usage_is_one_line_and_exit_code_2(self):
        for arguments in (["--rounds"], ["--rounds", "0"], ["--rounds", "x"], ["more", "words"]):
            done = run(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_a_trace_that_cannot_be_written_is_one_line_and_exit_code_1(self):
        done = run("--trace", "/nowhere/run.json")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    EXAMPLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
