#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope why, and of the last sentence of coroscope run, on services with one planted fault each.

The tests check names, never times. A busy machine can slow down requests more than a fault does. `why` then says that the
threads had no processor, and the test runs the program again. A wrong name fails the test at once."""

import json
import os
import pathlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))

import tool  # noqa: E402
from busy import BusyTest  # noqa: E402
from tool import ToolTest, coroscope, environment  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[2])
del sys.argv[2]

LIMIT = "256KiB"  # of a trace that loses records
SENTENCE = re.compile(r" longer than the median: .*")


def programs():
    """The names of the programs for coroscope why, each with the place of its fault."""
    listed = subprocess.run([PROGRAM], capture_output=True, encoding="utf-8", check=True).stdout
    rows = [line.split("\t") for line in listed.splitlines()]
    return [(name, place) for name, place, command in rows if command == "why"]


def faulty_programs():
    """The programs whose fault a trace shows."""
    return [(name, place) for name, place in programs() if place not in ("", "-")]


def places(difference):
    """The names in a difference: its own, its scope, its cause."""
    return [each["label"] for each in (difference, difference["scope"], difference["cause"]) if each]


def blames(difference):
    """Whether a difference names work of the program as its cause."""
    return difference["cause"] is not None and difference["cause"]["label"] is not None


def is_noise(difference):
    """Whether the machine causes the difference: the threads had no processor, or no work ran on them."""
    return difference["kind"] == "preempted" or (difference["kind"] == "queued" and not blames(difference))


class Planted(BusyTest):
    def record(self, name, *options):
        trace = self.folder / f"{name}.cst"
        done = coroscope("run", "--summary-to", "-", "-o", trace, *options, "--", PROGRAM, name, env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        found = SENTENCE.search(done.stdout)
        return trace, found[0] if found else ""

    def why(self, trace, *options):
        done = coroscope("why", trace, "--json", *options)
        self.assert_success(done)
        return json.loads(done.stdout)

    def check_shares(self, found):
        self.assertGreaterEqual(found["unexplained_share"], 0)
        self.assertLessEqual(found["unexplained_share"], 1)
        parts = found["differences"]
        if found["differ"]:
            self.assertAlmostEqual(sum(each["share"] for each in parts), 1)
            self.assertEqual(sum(each["slow_ns"] for each in parts), found["slow_wall_ns"])
            self.assertEqual(sum(each["median_ns"] for each in parts), found["median_wall_ns"])
        else:
            self.assertEqual(parts, [])

    def names_the_place(self, name, place):
        """Runs the program once. Returns the trace, and False if the machine was too busy for an answer."""
        trace, sentence = self.record(name)
        found = self.why(trace)
        self.check_shares(found)
        if not found["differ"]:
            return trace, False
        first = found["differences"][0]
        if place not in places(first):
            self.assertTrue(is_noise(first), found)
            return trace, False
        return trace, place in sentence

    def test_the_first_difference_and_the_sentence_of_run_name_the_planted_place(self):
        for name, place in faulty_programs():
            with self.subTest(program=name):
                self.try_on_busy_machine(lambda: self.names_the_place(name, place))

    def names_no_cause(self, name):
        trace, sentence = self.record(name)
        found = self.why(trace)
        self.check_shares(found)
        return trace, sentence == "" and not any(blames(each) for each in found["differences"])

    def test_no_cause_is_named_if_nothing_is_slow_or_the_trace_does_not_show_it(self):
        for name, _ in set(programs()) - set(faulty_programs()):
            with self.subTest(program=name):
                self.try_on_busy_machine(lambda: self.names_no_cause(name))

    def test_the_big_tenant_is_named_as_an_attribute_of_the_slow_requests(self):
        def names_the_tenant():
            trace, _ = self.record("big_tenant")
            return trace, ("tenant", "big") in [(each["key"], each["value"]) for each in self.why(trace)["attributes"]]

        self.try_on_busy_machine(names_the_tenant)


class Incomplete(ToolTest):
    """Traces with losses. No work but that of the fault may be named as the cause."""

    def check(self, trace, place):
        done = coroscope("why", trace, "--json")
        if done.returncode != 0:  # too few requests are left
            self.assertEqual(done.stdout, "")
            return
        for each in json.loads(done.stdout)["differences"][:1]:
            if blames(each) and not is_noise(each):
                self.assertIn(place, places(each), each)

    def check_all(self, record, chosen):
        """Records several programs at a time, because delays of requests do no harm here."""
        with ThreadPoolExecutor(4) as threads:
            traces = list(threads.map(lambda each: record(each[0]), chosen))
        for (name, place), trace in zip(chosen, traces):
            with self.subTest(program=name):
                self.check(trace, place)

    def killed(self, name):
        trace = self.folder / f"killed-{name}.cst"
        with subprocess.Popen([PROGRAM, name], env=environment(COROSCOPE_TRACE=str(trace))) as running:
            while running.poll() is None and not (trace.exists() and trace.stat().st_size):
                time.sleep(0.01)
            time.sleep(0.15)
            running.kill()
        return trace

    def test_a_program_that_was_killed(self):
        self.check_all(self.killed, faulty_programs())

    def lossy(self, name, policy):
        trace = self.folder / f"{policy}-{name}.cst"
        done = coroscope("run", "-o", trace, "--policy", policy, "--limit", LIMIT, "--no-summary", "--", PROGRAM, name,
                         "filled", env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(coroscope("info", trace).stdout, r"dropped|overwritten")
        return trace

    def test_records_that_were_dropped(self):
        self.check_all(lambda name: self.lossy(name, "drop"), faulty_programs()[::2])

    def test_records_that_were_overwritten(self):
        self.check_all(lambda name: self.lossy(name, "overwrite"), faulty_programs()[1::2])


if __name__ == "__main__":
    tool.main()
