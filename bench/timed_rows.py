# SPDX-License-Identifier: Apache-2.0
"""The rows of bench_hot: each runs in several processes, and callgrind counts its instructions."""

import json
import pathlib
import re
import subprocess
import tempfile

import callgrind
from pairs import Pair, chooser

COUNTED_OPERATIONS = 20440  # ten full chunks of scopes
COUNTED_FUNCTION = "bench::(anonymous namespace)::counted*"
COUNTED = re.compile(r"(?!.*\.2$)(?!peer\.lttng\.recording)"
                     r"(peer\.|(scope|await|task|observer)\..*(inactive|recording|shared|none|noop|sampled|dropped))")


def run_json(*command, **options):
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options)
    return json.loads(done.stdout)


def void_if_lost(row, lost):
    """Marks a row whose session dropped records as void: the session did less than it should."""
    if lost:
        row["note"] = f"dropped {lost} records: does not count"
        row["void"] = True
    return row


def count(program, name, which):
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "callgrind.out")
        subprocess.run(
            [*callgrind.command(output, f"--toggle-collect={COUNTED_FUNCTION}"),
             program, "--count", which, name, str(COUNTED_OPERATIONS)],
            check=True, stderr=subprocess.DEVNULL)
        return callgrind.total(output) / COUNTED_OPERATIONS


def instructions(program, name):
    """Instructions per operation, minus those of the same program without the profiler."""
    if not COUNTED.match(name) or not callgrind.is_there():
        return None
    return round(count(program, name, "subject") - count(program, name, "plain"), 1)


def measure(program, name):
    def run():
        result = run_json(program, name)
        return [Pair(*each) for each in result["pairs"]], result["lost_records"]

    pairs, lost = chooser.collect(run)
    row = chooser.row(name, pairs)
    row["instructions"] = instructions(program, name)
    return void_if_lost(row, lost)


def listed(program):
    """The rows of the program. There are none if ./dev bench did not need to build it."""
    if not pathlib.Path(program).exists():
        return []
    return subprocess.run([program, "--list"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def rows(folder):
    """(name, how to measure it) of every row that bench_hot knows."""
    program = str(folder / "bench_hot")
    for name in listed(program):
        yield name, lambda name=name: measure(program, name)
