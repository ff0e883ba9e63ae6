#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of tools/gdb/coroscope.py, on a process that is stopped and on its core file."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from live_program_text import NAMESPACE, PLACE

SKIPPED = 77
SERVING = [
    rf"#0 task (\d+) {NAMESPACE}reads_rows {PLACE}, suspended for \d+\.\d{{3}} s at read rows {PLACE}",
    rf"#1 task (\d+) {NAMESPACE}answers {PLACE}, suspended for \d+\.\d{{3}} s at co_await in {NAMESPACE}answers {PLACE}, "
    r"awaits task (\d+)",
    rf"#2 task (\d+) {NAMESPACE}serves {PLACE}, suspended for \d+\.\d{{3}} s at co_await in {NAMESPACE}serves {PLACE}, "
    r"awaits task (\d+)",
]
SPAWNED = rf"#0 task \d+ {NAMESPACE}never_starts {PLACE}, spawned \d+\.\d{{3}} s ago"
RUNNING = rf"#0 task \d+ {NAMESPACE}blocks_its_thread {PLACE}, running for \d+\.\d{{3}} s on thread (\d+)"


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


def gdb(script, target, *commands):
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", f"source {script}"]
    for command in commands:
        words += ["-ex", command]
    done = subprocess.run([*words, *target], capture_output=True, text=True, timeout=120, check=False)
    if re.search("ptrace: (Operation not permitted|Function not implemented)", done.stderr):
        skip("this system lets nobody attach to a process")
    return done.stdout + done.stderr


def find(pattern, text):
    found = re.search(f"^{pattern}$", text, re.MULTILINE)
    assert found, f"nothing like {pattern} in:\n{text}"
    return found


def check_tasks(text):
    """All five tasks are in three stacks, and each awaiter names the task that it awaits."""
    find("5 live tasks.*", text)
    below = [find(line, text).groups() for line in SERVING]
    assert below[1][1] == below[0][0] and below[2][1] == below[1][0], below
    find(SPAWNED, text)
    find(RUNNING, text)
    assert len(re.findall(r"^#\d+ task ", text, re.MULTILINE)) == 5, text
    return below[1][0]


def check_process(script, process):
    target = ["-p", str(process.pid)]
    answers = check_tasks(gdb(script, target, "coroscope tasks"))
    one = gdb(script, target, f"coroscope stack {answers}", "coroscope stack 999999", "coroscope tasks 1")
    find(SERVING[1].replace("#1", "#0").split(", awaits")[0], one)
    find("task 999999 is not in the table of live tasks", one)
    find("coroscope tasks takes no arguments", one)
    running = gdb(script, target, "thread apply all -s coroscope stack")
    find(RUNNING, running)


def check_core(script, program, process, folder):
    name = pathlib.Path(folder, "core")
    done = subprocess.run(["gcore", "-o", str(name), str(process.pid)], capture_output=True, text=True,
                          timeout=120, check=False)
    core = f"{name}.{process.pid}"
    assert os.path.exists(core), done.stdout + done.stderr
    text = gdb(script, [program, core], "coroscope tasks")
    check_tasks(text)
    find(".*; times end with the last transition of any of them.*", text)


def start(program, **variables):
    process = subprocess.Popen([program, "wait"], env={**os.environ, **variables}, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def end(process):
    process.communicate()
    assert process.returncode == 0, "the program goes on as if nobody had looked"


def main():
    program, script = sys.argv[1:]
    if shutil.which("gdb") is None or shutil.which("gcore") is None:
        skip("there is no gdb here")
    if any(name in pathlib.Path(program).read_bytes() for name in (b"__tsan_init", b"__asan_init")):
        skip("a process under a sanitizer has terabytes of shadow memory, which gdb would look through")
    if "yes" not in gdb(script, [], "python print('yes')"):
        skip("this gdb has no Python")
    tracked = start(program, COROSCOPE_LIVE="1")
    try:
        check_process(script, tracked)
        with tempfile.TemporaryDirectory() as folder:
            check_core(script, program, tracked, folder)
    finally:
        end(tracked)
    untracked = start(program)
    try:
        find("live tasks are not tracked; turn it on with .*COROSCOPE_LIVE=1",
             gdb(script, ["-p", str(untracked.pid)], "coroscope tasks"))
    finally:
        end(untracked)
    find("there is no process and no core file", gdb(script, [program], "coroscope tasks"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
