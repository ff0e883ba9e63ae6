# SPDX-License-Identifier: Apache-2.0
"""Instructions of locking and unlocking a free mutex, with and without the library that `coroscope run --record locks`
preloads."""

import functools
import os
import pathlib
import subprocess
import tempfile

import callgrind
import missing
from timed_rows import COUNTED_FUNCTION

PAIRS = (1_000, 11_000)
WHICH = ("free", "waited")


def per_pair(program, which, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COROSCOPE_")}
    totals = []
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "callgrind.out")
        for pairs in PAIRS:
            subprocess.run([*callgrind.command(output, f"--toggle-collect={COUNTED_FUNCTION}"), program, which, str(pairs)],
                           check=True, stderr=subprocess.DEVNULL,
                           env={**environment, "COROSCOPE_TRACE": str(pathlib.Path(folder, "locks.cst")), **variables})
            totals.append(callgrind.total(output))
    return (totals[1] - totals[0]) / (PAIRS[1] - PAIRS[0])


def measure(folder, name, which):
    program = str(folder / "bench_lock")
    library = str(folder.parent / "lib" / "interpose" / "libcoroscope-interpose.so.0")
    ours = per_pair(program, which, LD_PRELOAD=library, COROSCOPE_LOCKS="1")
    floor = per_pair(program, which)
    return {"name": name, "unit": "instr", "instructions": None, "value": round(ours, 1), "floor": round(floor, 1),
            "ratio": round(ours / floor, 3), "added": round(ours - floor, 1), "note": f"{ours - floor:+.0f}"}


def rows(folder):
    """(name, how to measure it) of each, built or not."""
    lacks = None if callgrind.is_there() else missing.VALGRIND
    for which in WHICH:
        name = f"lock.{which}.instructions"
        yield missing.row(name, lacks, functools.partial(measure, folder, name, which))
