# SPDX-License-Identifier: Apache-2.0
"""The size of the recording that `./dev demo` makes of a service with its tasks and awaits, and of one with a tenth of
the load."""

import functools
import pathlib
import subprocess
import tempfile

import missing
import service_rows
from timed_rows import run_json, void_if_lost

REQUESTS = 6000  # as scripts/dev/demo.sh
CONNECTIONS = 64
NAMES = {"pack.demo.bytes_per_scope": REQUESTS, "pack.demo.bytes_per_scope.tenth": REQUESTS // 10}


def measure(folder, name):
    load = ("--requests", str(NAMES[name]), "--connections", str(CONNECTIONS))
    service = service_rows.Service(folder)
    with tempfile.TemporaryDirectory() as scratch:
        trace, packed, database = (str(pathlib.Path(scratch, each)) for each in ("demo.cst", "demo.cstz", "demo.db"))
        for command in (("run", "--no-summary", "-o", trace, "--", service.programs["recording"], *load,
                         "--database", database),
                        ("pack", trace, "-o", packed)):
            subprocess.run([service.command, *command], check=True, stdout=subprocess.DEVNULL)
        lost = service_rows.lost_records(service.command, trace)
        info = run_json(service.command, "info", "--json", packed)
    value, floor = info["packed_bytes_per_scope"], info["bytes_per_scope"]
    row = {"name": name, "value": round(value, 2), "unit": "B", "floor": round(floor, 2),
           "ratio": round(value / floor, 3), "instructions": None}
    return void_if_lost(row, lost)


def rows(folder):
    """(name, how to measure it) of each row, the service built or not."""
    for name in NAMES:
        yield missing.row(name, service_rows.lacking(folder), functools.partial(measure, folder, name))
