# SPDX-License-Identifier: Apache-2.0
"""Asio's and Beast's own example servers under load: the processor time that tracking and recording add to a request,
of all threads of the server, the session's helper included. Each server was built with and without tracking; the two
take turns, and each turn has its ratio."""

import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

import missing
from timed_rows import run_json, void_if_lost

CONNECTIONS = 8
TURNS = 9
FIXED_PORT = 55555


class Example:
    def __init__(self, load, rounds, port, arguments):
        self.load = load
        self.rounds = rounds
        self.port = port
        self.arguments = arguments


EXAMPLES = {
    "asio.example.callbacks": Example("echo", 10_000, 55554, ["55554"]),
    "asio.example.coroutines": Example("echo", 10_000, FIXED_PORT, []),
    "asio.example.http": Example("http", 4_000, 55556, ["127.0.0.1", "55556", "{folder}", "1"]),
}


def wait_for(port):
    until = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
            return
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def processor_ns(program, load, example, folder, trace=None):
    """Nanoseconds of processor time per request; the time of a server without requests is subtracted."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("COROSCOPE_")}
    if trace is not None:
        environment["COROSCOPE_TRACE"] = str(trace)
    used = []
    for rounds in (example.rounds // 10, example.rounds):
        arguments = [each.format(folder=folder) for each in example.arguments]
        server = subprocess.Popen([program, *arguments], env=environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(example.port)
            subprocess.run([load, str(example.port), str(CONNECTIONS), str(rounds), example.load],
                           check=True)
        finally:
            server.send_signal(signal.SIGKILL)
            _, server.returncode, usage = os.wait4(server.pid, 0)
        used.append(usage.ru_utime + usage.ru_stime)
    requests = CONNECTIONS * (example.rounds - example.rounds // 10)
    return (used[1] - used[0]) * 1e9 / requests


def lost_records(command, trace):
    health = run_json(command, "info", "--json", str(trace))["health"]
    return health["dropped_newest"] + health["overwritten"]


def middle_pair(pairs):
    """The turn with the median ratio. A row shows the figures of one turn, because they belong together."""
    by_ratio = sorted(pairs, key=lambda pair: pair["value"] / pair["floor"])
    return by_ratio[len(by_ratio) // 2]


def measure(folder, name, example):
    programs = {which: str(folder / f"bench_{name.replace('.', '_')}_{which}")
                for which in ("plain", "tracked")}
    load = str(folder / "bench_load")
    command = str(folder.parent / "tools" / "coroscope")
    pairs = []
    lost = 0
    with tempfile.TemporaryDirectory() as place:
        pathlib.Path(place, "page.html").write_text("<p>a page</p>\n" * 16)
        trace = pathlib.Path(place, "trace.cst")
        for _ in range(TURNS):
            floor = processor_ns(programs["plain"], load, example, place)
            value = processor_ns(programs["tracked"], load, example, place, trace)
            pairs.append({"value": value, "floor": floor})
            lost += lost_records(command, trace)
            trace.unlink()
    chosen = middle_pair(pairs)
    row = {"name": name, "value": round(chosen["value"] / 1000, 3), "unit": "µs",
           "floor": round(chosen["floor"] / 1000, 3),
           "ratio": round(chosen["value"] / chosen["floor"], 3), "instructions": None}
    return void_if_lost(row, lost)


def rows(folder):
    """(name, how to measure it) of each example, built or not."""
    for name, example in EXAMPLES.items():
        built = (folder / f"bench_{name.replace('.', '_')}_tracked").exists()
        yield missing.row(name, None if built else missing.ASIO + " and Boost's examples (libboost1.81-doc)",
                          lambda name=name, example=example: measure(folder, name, example))
