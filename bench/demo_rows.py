# SPDX-License-Identifier: Apache-2.0
"""How small the recording is that `./dev demo` makes: a service's, with its tasks and awaits."""

import pathlib
import subprocess
import tempfile

import missing
import service_rows
from timed_rows import run_json, void_if_lost

NAME = "pack.demo.bytes_per_scope"
LOAD = ("--requests", "6000", "--connections", "64")  # as scripts/dev/demo.sh


def measure(folder):
    service = service_rows.Service(folder)
    with tempfile.TemporaryDirectory() as name:
        trace, packed, database = (str(pathlib.Path(name, each)) for each in ("demo.cst", "demo.cstz", "demo.db"))
        for command in (("run", "--no-summary", "-o", trace, "--", service.programs["recording"], *LOAD,
                         "--database", database),
                        ("pack", trace, "-o", packed)):
            subprocess.run([service.command, *command], check=True, stdout=subprocess.DEVNULL)
        lost = service_rows.lost_records(service.command, trace)
        info = run_json(service.command, "info", "--json", packed)
    value, floor = info["packed_bytes_per_scope"], info["bytes_per_scope"]
    row = {"name": NAME, "value": round(value, 2), "unit": "B", "floor": round(floor, 2),
           "ratio": round(value / floor, 3), "instructions": None}
    return void_if_lost(row, lost)


def rows(folder):
    """(name, how to measure it) of the one row, the service built or not."""
    yield missing.row(NAME, service_rows.lacking(folder), lambda: measure(folder))
