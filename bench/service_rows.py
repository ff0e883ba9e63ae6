# SPDX-License-Identifier: Apache-2.0
"""The example service under load: with the profiler absent, compiled in but inactive, and recording everything into a
file. All three run at once and are loaded in turns, with equal requests on equal databases; now and then they are
started anew. Each turn has its ratios to the absent one. The rows service.states.* are measured in the same way: recording with
states of threads, beside recording without them. A row's ratio is the median of the turns' ratios. Its interval has the median
with 95 % confidence, by bootstrap over the starts and over the turns of each: all turns of a start share its layout of
memory."""

import contextlib
import functools
import itertools
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

import callgrind
import missing
from example_rows import lost_records
from timed_rows import run_json, void_if_lost

STARTS = 96  # unless ./dev bench has another number
CONNECTIONS = 32
REQUESTS = 1_000
COUNTED_REQUESTS = (500, 3_000)
# Under callgrind a request takes a hundred times as long. On few connections its scopes are still as short as those of
# the loaded service. The session's helper and the watcher of threads' states work by the clock, so that most of their
# work would belong to no request: the watcher is off, and the thread of the helper is left out.
COUNTED_CONNECTIONS = 2
COUNTED_OPTIONS = {"COROSCOPE_THREAD_STATES": "0"}
HELPER = "store_helper::serve"
COUNTED = {"instructions": callgrind.INSTRUCTIONS, "icache": callgrind.ICACHE}
COUNTED_UNITS = {"instructions": "instr", "icache": "misses"}
RESAMPLES = 4_000
KINDS = ("absent", "inactive", "recording")  # the first is the floor of the others
STATES = ("stateless", "recording")
LEAST_TURNS = 6
MEASURES = {"throughput": "1/s", "cpu": "µs", "p99": "ms"}


def processor_seconds(process):
    """The processor time of all threads of the process so far, in the kernel's resolution (clock_getcpuclockid(3))."""
    return time.clock_gettime((~process << 3) | 2)


def processors():
    """The processors of (the server, the client). The client has a processor of its own if there are at least two."""
    allowed = sorted(os.sched_getaffinity(0))
    return (set(allowed[:-1]), {allowed[-1]}) if len(allowed) > 1 else (set(allowed), set(allowed))


def orders_of(kinds):
    """The turns of each start. They last a sixteenth of a second each, so that all kinds run under the same conditions.
    Each kind is at each place equally often, and follows each other kind equally often."""
    orders = tuple(itertools.permutations(kinds))
    return orders * -(-LEAST_TURNS // len(orders))


def helper_seconds(process):
    """The processor time of the session's helper thread; 0 if nothing records."""
    tasks = pathlib.Path(f"/proc/{process}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()
               if (task / "comm").read_text() == "coroscope\n") / 1e9


@contextlib.contextmanager
def server(program, database, trace, *under, **variables):
    """Runs the program until the end of the block, under another program if one is given. Yields its process and its
    port."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("COROSCOPE_")}
    if trace is not None:
        environment.update(variables, COROSCOPE_TRACE=str(trace))
    process = subprocess.Popen([*under, program, "--serve", "--database", str(database)], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        os.sched_setaffinity(process.pid, processors()[0])
        port = re.search(r":(\d+)$", process.stdout.readline().strip())[1]
        yield process.pid, port
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


class Service:
    def __init__(self, folder):
        self.programs = {"absent": str(folder / "bench_service_absent"),
                         "inactive": str(folder.parent / "examples" / "http_service" / "http_service")}
        self.programs["recording"] = self.programs["stateless"] = self.programs["inactive"]
        self.client = str(folder / "bench_service_load")
        self.command = str(folder.parent / "tools" / "coroscope")

    def ask(self, port, requests, connections=CONNECTIONS):
        return run_json(self.client, port, str(requests), str(connections),
                        preexec_fn=lambda: os.sched_setaffinity(0, processors()[1]))

    def load(self, process, port):
        """One turn of one server."""
        before, helped = processor_seconds(process), helper_seconds(process)
        result = self.ask(port, REQUESTS)
        used, helped = processor_seconds(process) - before, helper_seconds(process) - helped
        return {"throughput": REQUESTS / result["seconds"], "p99": result["p99_ms"],
                "cpu": used * 1e6 / REQUESTS, "helper": helped * 1e6 / REQUESTS}

    def seed(self, database):
        """The service fills a new database before it listens."""
        with server(self.programs["absent"], database, None):
            pass

    def start(self, seeded, place, order):
        """(turns, lost records, context switches per second) of one start, in which the servers start in that order. The
        numbers of records and switches are those of the recording server."""
        with contextlib.ExitStack() as running:
            servers = {}
            for kind in order:
                database, trace = place / f"{kind}.db", place / f"{kind}.cst"
                shutil.copyfile(seeded, database)
                servers[kind] = running.enter_context(
                    server(self.programs[kind], database, trace if kind in ("recording", "stateless") else None,
                           **({"COROSCOPE_THREAD_STATES": "0"} if kind == "stateless" else {})))
                self.load(*servers[kind])  # fills caches, and creates the connections' own keys
            taken = [{kind: self.load(*servers[kind]) for kind in turn} for turn in orders_of(order)]
        trace = place / "recording.cst"
        return taken, lost_records(self.command, trace), self.switches_per_second(trace)

    def switches_per_second(self, trace):
        about = run_json(self.command, "info", "--json", str(trace))
        return about["thread_states"]["switches"] * 1e9 / about["duration_ns"]

    def counted(self, kind, seeded, place):
        """Instructions per request outside the kernel, and misses of the instruction cache, by their events, without
        the helper's. Those of a server with few requests are subtracted."""
        totals = []
        for requests in COUNTED_REQUESTS:
            output, database, trace = (place / f"{kind}{requests}{end}" for end in (".out", ".db", ".cst"))
            shutil.copyfile(seeded, database)
            with server(self.programs[kind], database, trace if kind == "recording" else None,
                        *callgrind.command(output, callgrind.SEPARATE, *callgrind.WITH_CACHES), **COUNTED_OPTIONS) as (_, port):
                self.ask(port, requests, COUNTED_CONNECTIONS)
            totals.append({event: callgrind.total_of_threads(output, event, HELPER) for event in COUNTED.values()})
        requests = COUNTED_REQUESTS[1] - COUNTED_REQUESTS[0]
        return {event: (totals[1][event] - totals[0][event]) / requests for event in totals[0]}


def drawn(dice, starts):
    """A bootstrap sample: draws as many starts as there are, and from each as many turns as it has, with
    replacement."""
    return [ratio for start in dice.choices(starts, k=len(starts))
            for ratio in dice.choices(start, k=len(start))]


def interval(starts):
    """The interval that contains the median of all turns with 95 % confidence."""
    dice = random.Random(1)
    medians = sorted(statistics.median(drawn(dice, starts)) for _ in range(RESAMPLES))
    return medians[RESAMPLES * 25 // 1000], medians[RESAMPLES * 975 // 1000 - 1]


@functools.cache
def measured(folder, count, kinds=KINDS):
    """The turns of every start, the number of lost records, and the context switches per second. All rows of the kinds
    come from the same turns."""
    service = Service(folder)
    orders = orders_of(kinds)
    starts, lost, switches = [], 0, []
    with tempfile.TemporaryDirectory() as name:
        seeded = pathlib.Path(name, "seed.db")
        service.seed(seeded)
        for number in range(count):
            with tempfile.TemporaryDirectory(dir=name) as place:
                taken, dropped, per_second = service.start(seeded, pathlib.Path(place), orders[number % len(orders)])
            starts.append(taken)
            lost += dropped
            switches.append(per_second)
    return starts, lost, statistics.median(switches)


def measure(folder, count, name, kind, what, kinds=KINDS):
    starts, lost, switches = measured(folder, count, kinds)
    beside = kinds[0]
    ratios = [[turn[kind][what] / turn[beside][what] for turn in start] for start in starts]
    low, high = interval(ratios)
    turns = list(itertools.chain(*starts))
    row = {"name": name, "unit": MEASURES[what], "instructions": None,
           "value": round(statistics.median(turn[kind][what] for turn in turns), 3),
           "floor": round(statistics.median(turn[beside][what] for turn in turns), 3),
           "ratio": round(statistics.median(itertools.chain(*ratios)), 4), "low": round(low, 4), "high": round(high, 4),
           "note": f"95 %: {low:.3f} … {high:.3f}"}
    if kinds == STATES:
        row["note"] += f", {switches:,.0f} switches/s"
    elif (kind, what) == ("recording", "cpu"):
        row["note"] += f", {statistics.median(turn[kind]['helper'] for turn in turns):.2f} µs the helper's"
    return void_if_lost(row, lost if kind == "recording" else 0)


@functools.cache
def counts_of_kinds(folder):
    service = Service(folder)
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        service.seed(place / "seed.db")
        return {kind: service.counted(kind, place / "seed.db", place) for kind in KINDS}


def measure_counted(folder, name, kind, what):
    counts = {each: events[COUNTED[what]] for each, events in counts_of_kinds(folder).items()}
    return {"name": name, "unit": COUNTED_UNITS[what], "instructions": None, "value": round(counts[kind]),
            "floor": round(counts["absent"]), "ratio": round(counts[kind] / counts["absent"], 4),
            "added": round(counts[kind] - counts["absent"]), "note": f"{100 * (counts[kind] / counts['absent'] - 1):+.1f} %"}


def lacking(folder):
    """The parts that the service lacks; None if it was built."""
    return None if (folder / "bench_service_absent").exists() else missing.ASIO + ", SQLite and CLI11"


def rows(folder, count):
    """(name, how to measure it) of each, built or not."""
    lacks = lacking(folder)
    lacks_for_counting = lacks or (None if callgrind.is_there() else missing.VALGRIND)
    for kind in KINDS[1:]:
        for what in MEASURES:
            name = f"service.{kind}.{what}"
            yield missing.row(name, lacks, functools.partial(measure, folder, count, name, kind, what))
        for what in COUNTED:
            name = f"service.{kind}.{what}"
            yield missing.row(name, lacks_for_counting, functools.partial(measure_counted, folder, name, kind, what))
    for what in MEASURES:
        name = f"service.states.{what}"
        yield missing.row(name, lacks, functools.partial(measure, folder, count, name, "recording", what, STATES))
