#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope check on services with one planted fault each, and on healthy ones.

The tests check names, never times. A busy machine can hide a fault, because requests then wait for the machine most of the
time: the test runs the program again. A finding about a healthy program fails the test if it is there each time."""

import json
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))

import tool  # noqa: E402
from busy import BusyTest  # noqa: E402
from tool import coroscope, environment  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[2])
del sys.argv[2]

LIMIT = "256KiB"  # of a trace that loses records
# The own names of Asio's waits, which name a cause if the scope around it was lost.
WAITS = ("deadline_timer.async_wait", "co_spawn")


def programs():
    """The names of all programs, each with the place of its fault: "-" if a trace does not show it, empty without a fault."""
    listed = subprocess.run([PROGRAM], capture_output=True, encoding="utf-8", check=True).stdout
    return [tuple(line.split("\t")[:2]) for line in listed.splitlines()]


def faulty_programs():
    return [(name, place) for name, place in programs() if place not in ("", "-")]


def causes(findings):
    return [each["cause"]["label"] for each in findings if each["rule"] != "recording-trouble"]


def is_named(cause, name, place):
    """Whether the cause is the place, or a wait in the source of the program, whose scope was lost."""
    return cause["label"] == place or (cause["label"] in WAITS and str(cause["file"]).endswith(f"/{name}.cpp"))


class Planted(BusyTest):
    def findings(self, trace):
        done = coroscope("check", trace, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["findings"]

    def record(self, name, *options):
        trace = self.folder / f"{name}.cst"
        done = coroscope("run", "-o", trace, "--no-summary", *options, "--", PROGRAM, name, env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace

    def try_program(self, name, is_right):
        def run():
            trace = self.record(name)
            return trace, is_right(self.findings(trace))

        self.try_on_busy_machine(run)

    def test_the_planted_place_is_a_cause(self):
        for name, place in faulty_programs():
            with self.subTest(program=name):
                self.try_program(name, lambda findings: place in causes(findings))

    def test_healthy_programs_have_no_findings(self):
        for name, place in programs():
            if place in ("", "-"):
                with self.subTest(program=name):
                    self.try_program(name, lambda findings: findings == [])


class Incomplete(Planted):
    """Traces with losses: no work but that of the fault may be a cause. On a busy machine other work can delay requests,
    too: a wrong cause fails the test if there is one each time."""

    test_the_planted_place_is_a_cause = None
    test_healthy_programs_have_no_findings = None

    def check_all(self, record, chosen):
        with ThreadPoolExecutor(4) as threads:
            traces = list(threads.map(lambda each: record(each[0]), chosen))
        for (name, place), trace in zip(chosen, traces):
            with self.subTest(program=name):
                wrong = self.wrong_findings(trace, name, place)
                if wrong:
                    self.try_on_busy_machine(lambda: self.run_again(record, name, place),
                                             f"a wrong cause, as in {wrong[0]},")

    def run_again(self, record, name, place):
        trace = record(name)
        return trace, not self.wrong_findings(trace, name, place)

    def wrong_findings(self, trace, name, place):
        return [each for each in self.findings(trace)
                if each["rule"] != "recording-trouble" and not is_named(each["cause"], name, place)]

    def killed(self, name):
        trace = self.folder / f"killed-{name}.cst"
        trace.unlink(missing_ok=True)
        with subprocess.Popen([PROGRAM, name], env=environment(COROSCOPE_TRACE=str(trace))) as running:
            while running.poll() is None and not (trace.exists() and trace.stat().st_size):
                time.sleep(0.01)
            time.sleep(0.15)
            running.kill()
        return trace

    def lossy(self, name, policy):
        trace = self.folder / f"{policy}-{name}.cst"
        done = coroscope("run", "-o", trace, "--policy", policy, "--limit", LIMIT, "--no-summary", "--", PROGRAM, name,
                         "filled", env=environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace

    def test_a_program_that_was_killed(self):
        self.check_all(self.killed, faulty_programs())

    def test_records_that_were_dropped(self):
        self.check_all(lambda name: self.lossy(name, "drop"), faulty_programs()[::2])

    def test_records_that_were_overwritten(self):
        chosen = [each for each in faulty_programs() if each[0] == "locked_call"]  # many waits for one lock
        self.check_all(lambda name: self.lossy(name, "overwrite"), faulty_programs()[1::2] + chosen)


if __name__ == "__main__":
    tool.main()
