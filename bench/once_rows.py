# SPDX-License-Identifier: Apache-2.0
"""The rows of bench_once, and the Asio row, whose subject and floor are two programs."""

import subprocess

import missing
from pairs import Pair, chooser
from timed_rows import listed, run_json, void_if_lost

TURNS = 31


def measure(program, name):
    """Sizes are exact. Rates come from the processor time of the median of three runs."""
    result = run_json(program, name)
    value, floor = result["value"], result["floor"]
    return {"name": name, "value": value, "unit": result["unit"], "floor": floor,
            "ratio": round(value / floor, 3) if floor else None, "instructions": None,
            "note": result["note"] or None}


class Bursts:
    """A program that does one burst on request."""

    def __init__(self, program, **options):
        self.running = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, **options)

    def next_burst(self):
        """(nanoseconds per operation, rate of additions around it)"""
        self.running.stdin.write("\n")
        return tuple(float(word) for word in self.running.stdout.readline().split())

    def end(self):
        """The number of records that it lost."""
        return int(self.running.communicate()[0])


def measure_pair(name, subject, beside, **options):
    """Runs two programs that take turns, burst by burst, so that a disturbance of the machine slows both."""
    def run():
        programs = Bursts(beside, **options), Bursts(subject, **options)
        turns = [[program.next_burst() for program in programs] for _ in range(TURNS)]
        pairs = [Pair(value, floor, min(rate, beside_rate)) for (floor, beside_rate), (value, rate) in turns]
        return pairs, sum(program.end() for program in programs)

    pairs, lost = chooser.collect(run)
    return void_if_lost(chooser.row(name, pairs), lost)


def rows(folder):
    """(name, how to measure it) of every row here, the Asio row built or not."""
    tracked, plain = folder / "bench_asio_tracked", folder / "bench_asio_plain"
    yield missing.row("asio.recording", None if tracked.exists() and plain.exists() else missing.ASIO,
                      lambda: measure_pair("asio.recording", str(tracked), str(plain)))
    program = str(folder / "bench_once")
    for name in listed(program):
        yield name, lambda name=name: measure(program, name)
