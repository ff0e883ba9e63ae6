# SPDX-License-Identifier: Apache-2.0
"""The rows of bench_once, and the Asio row, whose subject and floor are two programs."""

import subprocess

from timed_rows import PROCESSES, middle_process, run_json, void_if_lost


def measure(program, name):
    """Sizes are exact. Rates come from the processor time of the median of three runs."""
    result = run_json(program, name)
    value, floor = result["value"], result["floor"]
    return {"name": name, "value": value, "unit": result["unit"], "floor": floor,
            "ratio": round(value / floor, 3) if floor else None, "instructions": None,
            "whole": round(value), "note": result["note"] or None}


def measure_pair(name, subject, beside, **options):
    """Two programs that take turns."""
    pairs = []
    lost = 0
    for _ in range(PROCESSES):
        results = run_json(beside, **options), run_json(subject, **options)
        lost += sum(result["lost_records"] for result in results)
        pairs.append({"value": results[1]["value"], "floor": results[0]["value"]})
    chosen = middle_process(pairs)
    row = {"name": name, "value": round(chosen["value"], 3), "unit": "ns",
           "floor": round(chosen["floor"], 3),
           "ratio": round(chosen["value"] / chosen["floor"], 3),
           "added": round(chosen["value"] - chosen["floor"], 3), "instructions": None}
    return void_if_lost(row, lost)


def rows(folder):
    """(name, how to measure it) of every row here that was built."""
    tracked, plain = folder / "bench_asio_tracked", folder / "bench_asio_plain"
    if tracked.exists() and plain.exists():
        yield "asio.recording", lambda: measure_pair("asio.recording", str(tracked), str(plain))
    program = str(folder / "bench_once")
    listed = subprocess.run([program, "--list"], check=True, stdout=subprocess.PIPE, text=True)
    for name in listed.stdout.split():
        yield name, lambda name=name: measure(program, name)
