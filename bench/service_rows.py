# SPDX-License-Identifier: Apache-2.0
"""The example service under load: with the profiler absent, compiled in but inactive, and recording
everything into a file. All three run at once and take turns in being loaded, with equal requests on equal
databases; now and then they are started anew. Each turn has its ratios to the absent one; a row's ratio is
their median, and its interval is where that median lies with 95 % confidence, by bootstrap over the starts
and over the turns of each: what a start decides, where its memory lies, all its turns share."""

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

STARTS = 96  # unless ./dev bench is told another number
CONNECTIONS = 32
REQUESTS = 1_000
COUNTED_REQUESTS = (1_000, 6_000)
RESAMPLES = 4_000
KINDS = ("absent", "inactive", "recording")
# The turns of each start, a sixteenth of a second each, so that all see the same machine: each kind is first, second
# and last equally often, and comes after each of the others equally often.
ORDERS = tuple(itertools.permutations(KINDS))
MEASURES = {"throughput": "1/s", "cpu": "µs", "p99": "ms"}


def processor_seconds(process):
    """What all its threads have used so far, in the kernel's own resolution (clock_getcpuclockid(3))."""
    return time.clock_gettime((~process << 3) | 2)


def processors():
    """(the server's, the client's): the client has one of its own where there are two."""
    allowed = sorted(os.sched_getaffinity(0))
    return (set(allowed[:-1]), {allowed[-1]}) if len(allowed) > 1 else (set(allowed), set(allowed))


def helper_seconds(process):
    """What the session's helper thread has used of that; 0 where nothing records."""
    tasks = pathlib.Path(f"/proc/{process}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()
               if (task / "comm").read_text() == "coroscope\n") / 1e9


@contextlib.contextmanager
def server(program, database, trace, *under):
    """Runs the program, under another where one is given, until the end of the block: its process and port."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("COROSCOPE_")}
    if trace is not None:
        environment["COROSCOPE_TRACE"] = str(trace)
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
        self.programs["recording"] = self.programs["inactive"]
        self.client = str(folder / "bench_service_load")
        self.command = str(folder.parent / "tools" / "coroscope")

    def ask(self, port, requests):
        return run_json(self.client, port, str(requests), str(CONNECTIONS),
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
        """The turns of one start, the servers started in that order, and how many records the recording one lost."""
        trace = place / "service.cst"
        with contextlib.ExitStack() as running:
            servers = {}
            for kind in order:
                database = place / f"{kind}.db"
                shutil.copyfile(seeded, database)
                servers[kind] = running.enter_context(
                    server(self.programs[kind], database, trace if kind == "recording" else None))
                self.load(*servers[kind])  # caches are warm, the connections' own keys are there
            taken = [{kind: self.load(*servers[kind]) for kind in order} for order in ORDERS]
        return taken, lost_records(self.command, trace)

    def counted(self, kind, seeded, place):
        """Instructions of a request outside the kernel, those of a server of few requests taken off."""
        totals = []
        for requests in COUNTED_REQUESTS:
            output, database, trace = (place / f"{kind}{requests}{end}" for end in (".out", ".db", ".cst"))
            shutil.copyfile(seeded, database)
            with server(self.programs[kind], database, trace if kind == "recording" else None,
                        *callgrind.command(output)) as (_, port):
                self.ask(port, requests)
            totals.append(callgrind.total(output))
        return (totals[1] - totals[0]) / (COUNTED_REQUESTS[1] - COUNTED_REQUESTS[0])


def drawn(dice, starts):
    """As many turns of as many starts as there were, each drawn from all."""
    return [ratio for start in dice.choices(starts, k=len(starts))
            for ratio in dice.choices(start, k=len(start))]


def interval(starts):
    """Where the median of all turns lies with 95 % confidence."""
    dice = random.Random(1)
    medians = sorted(statistics.median(drawn(dice, starts)) for _ in range(RESAMPLES))
    return medians[RESAMPLES * 25 // 1000], medians[RESAMPLES * 975 // 1000 - 1]


@functools.cache
def measured(folder, count):
    """The turns of every start, and how many records were lost: all rows come from the same turns."""
    service = Service(folder)
    starts, lost = [], 0
    with tempfile.TemporaryDirectory() as name:
        seeded = pathlib.Path(name, "seed.db")
        service.seed(seeded)
        for number in range(count):
            with tempfile.TemporaryDirectory(dir=name) as place:
                taken, dropped = service.start(seeded, pathlib.Path(place), ORDERS[number % len(ORDERS)])
            starts.append(taken)
            lost += dropped
    return starts, lost


def measure(folder, count, name, kind, what):
    starts, lost = measured(folder, count)
    ratios = [[turn[kind][what] / turn["absent"][what] for turn in start] for start in starts]
    low, high = interval(ratios)
    turns = list(itertools.chain(*starts))
    row = {"name": name, "unit": MEASURES[what], "instructions": None,
           "value": round(statistics.median(turn[kind][what] for turn in turns), 3),
           "floor": round(statistics.median(turn["absent"][what] for turn in turns), 3),
           "ratio": round(statistics.median(itertools.chain(*ratios)), 4), "low": round(low, 4), "high": round(high, 4),
           "note": f"95 %: {low:.3f} … {high:.3f}"}
    if (kind, what) == ("recording", "cpu"):
        row["note"] += f", {statistics.median(turn[kind]['helper'] for turn in turns):.2f} µs the helper's"
    return void_if_lost(row, lost if kind == "recording" else 0)


@functools.cache
def instructions(folder):
    service = Service(folder)
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        service.seed(place / "seed.db")
        return {kind: service.counted(kind, place / "seed.db", place) for kind in KINDS}


def measure_instructions(folder, name, kind):
    counts = instructions(folder)
    return {"name": name, "unit": "instr", "instructions": None, "value": round(counts[kind]),
            "floor": round(counts["absent"]), "ratio": round(counts[kind] / counts["absent"], 4),
            "note": f"{100 * (counts[kind] / counts['absent'] - 1):+.1f} %"}


def lacking(folder):
    """What the service needs and has not; None where it was built."""
    return None if (folder / "bench_service_absent").exists() else missing.ASIO + ", SQLite and CLI11"


def rows(folder, count):
    """(name, how to measure it) of each, built or not."""
    lacks = lacking(folder)
    lacks_for_counting = lacks or (None if callgrind.is_there() else missing.VALGRIND)
    for kind in KINDS[1:]:
        for what in MEASURES:
            name = f"service.{kind}.{what}"
            yield missing.row(name, lacks, functools.partial(measure, folder, count, name, kind, what))
        name = f"service.{kind}.instructions"
        yield missing.row(name, lacks_for_counting, functools.partial(measure_instructions, folder, name, kind))
