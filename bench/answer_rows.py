# SPDX-License-Identifier: Apache-2.0
"""The processor time and the peak memory of the commands that explain requests, on a trace of ten million records.

All rows of one run read the same trace. The rows of memory are of the same calls of the commands."""

import functools
import os
import pathlib
import subprocess
import tempfile

import missing

REQUESTS = 104_200  # of 96 records each
TESTS = "the tests (-Dtests=enabled) and the command"
SCRATCH = "a file beside the trace"
COMMANDS = {
    "answers.path": ("path",),
    "answers.path_type": ("path", "--type", "GET /item"),
    "answers.why": ("why",),
    "answers.awaits_blame": ("awaits", "--blame"),
    "answers.check": ("check",),
    "answers.requests": ("requests",),
    "answers.executors": ("executors",),
    "answers.folded": ("export", "--to", "folded", "-o", os.devnull),
    "answers.speedscope": ("export", "--to", "speedscope", "-o", os.devnull),
    "answers.firefox": ("export", "--to", "firefox", "-o", os.devnull),
    "answers.pprof": ("export", "--to", "pprof", "-o", os.devnull),
    "answers.csv": ("export", "--to", "csv", "--table", "scopes", "-o", os.devnull),
    "answers.ndjson": ("export", "--to", "ndjson", "--table", "scopes", "-o", os.devnull),
    "answers.otlp": ("export", "--to", "otlp", "-o", os.devnull),
    "answers.otlp_protobuf": ("export", "--to", "otlp-protobuf", "-o", os.devnull),
    "answers.sqlite": ("export", "--to", "sqlite", "-o", SCRATCH),
}


@functools.cache
def busy_trace(program):
    """The trace, in a folder that lasts as long as this process."""
    folder = tempfile.TemporaryDirectory(prefix="coroscope-bench-")
    trace = str(pathlib.Path(folder.name, "busy.cst"))
    subprocess.run([program, trace, str(REQUESTS)], check=True)
    return folder, trace


@functools.cache
def used(command, program, words):
    """(seconds of processor time, megabytes of peak memory) of a command on the trace."""
    _, trace = busy_trace(program)
    written = trace + ".out"
    whole = [command, words[0], trace, *(written if each is SCRATCH else each for each in words[1:])]
    with subprocess.Popen(whole, stdout=subprocess.DEVNULL) as running:
        _, status, usage = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    if running.returncode != 0:
        raise subprocess.CalledProcessError(running.returncode, whole)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def measure(command, program, name):
    seconds, megabytes = used(command, program, COMMANDS[name.removeprefix("memory.")])
    is_memory = name.startswith("memory.")
    return {"name": name, "value": round(megabytes if is_memory else seconds, 2), "unit": "MB" if is_memory else "s",
            "floor": None, "ratio": None, "instructions": None, "note": None}


def rows(folder):
    """(name, how to measure it) of each row, the programs built or not. `folder`: bench/ of the build."""
    program, command = folder / "bench_busy_service", folder.parent / "tools" / "coroscope"
    lacking = None if program.exists() and command.exists() else TESTS
    for name in COMMANDS:
        for row in (name, f"memory.{name}"):
            yield missing.row(row, lacking, functools.partial(measure, str(command), str(program), row))
