#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The USDT probes: as the library's notes name them, and as gdb counts them.

usage: test_usdt.py PROGRAM LIBRARY
"""

import os
import re
import shutil
import subprocess
import sys

SKIPPED = 77
PROBES = {  # how often the program reaches each: 7 + 1 + 5 scopes; answers() and five tasks that it awaits
    "scope__begin": 13,
    "scope__end": 13,
    "task__spawn": 6,
    "task__resume": 11,
    "task__suspend": 5,
    "task__finish": 6,
}


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


def run(words, **options):
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **options}  # a traced process cannot look for leaks
    return subprocess.run(words, capture_output=True, text=True, timeout=240, check=False, env=environment)


def check_notes(library):
    """Each probe has a note of our provider, with a semaphore that is in the file."""
    if shutil.which("readelf") is None:
        skip("no readelf")
    notes = run(["readelf", "-n", "-W", library]).stdout
    found = re.findall(r"Provider: coroscope\s+Name: (\S+)\s+Location: (\S+), Base: \S+, Semaphore: (\S+)", notes)
    assert {name for name, _, _ in found} == set(PROBES), notes
    for name, place, semaphore in found:
        assert int(place, 16) != 0 and int(semaphore, 16) != 0, name


def hits(program, probes, words=(), environment=None):
    """Returns how often gdb reaches each of these probes while the program runs."""
    command = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set breakpoint pending on",
               "-ex", "set startup-with-shell off"]
    for number, probe in enumerate(probes, 1):
        command += ["-ex", f"break -probe-stap coroscope:{probe}", "-ex", f"ignore {number} 1000000"]
    command += ["-ex", "run", "-ex", "info breakpoints", "--args", program, *words]
    done = run(command, **(environment or {}))
    text = done.stdout + done.stderr
    if re.search("ptrace: (Operation not permitted|Function not implemented)|Couldn't (get|write) registers", text):
        skip("this system lets nobody trace a process")
    assert "exited normally" in text, text
    counts = {}
    for number, probe in enumerate(probes, 1):
        block = re.search(rf"^{number}\s.*?(?=^\d+\s|\Z)", text[text.rindex("Num "):], re.MULTILINE | re.DOTALL)
        found = block and re.search(r"already hit (\d+) time", block[0])
        counts[probe] = int(found[1]) if found else 0
    return counts


def first_arguments(program):
    """The name that the first scope's probe shows."""
    done = run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "set breakpoint pending on",
                "-ex", "set startup-with-shell off", "-ex", "break -probe-stap coroscope:scope__begin", "-ex", "run",
                "-ex", "printf \"name %s kind %d\\n\", (const char*)$_probe_arg0, (int)$_probe_arg1",
                "--args", program], COROSCOPE_USDT="1")
    return re.search(r"^name (.*) kind (\d+)$", done.stdout, re.MULTILINE)


def main():
    program, library = sys.argv[1:]
    check_notes(library)
    if shutil.which("gdb") is None:
        skip("no gdb")
    by_code = hits(program, PROBES, ["code"])
    assert by_code == PROBES, by_code
    by_environment = hits(program, PROBES, environment={"COROSCOPE_USDT": "1"})
    assert by_environment == PROBES, by_environment
    switched_off = hits(program, PROBES)
    assert switched_off == dict.fromkeys(PROBES, 0), switched_off
    only_ends = hits(program, ["scope__end"], ["code"])
    assert only_ends == {"scope__end": 13}, only_ends
    shown = first_arguments(program)
    assert shown and shown.groups() == ("on stack", "0"), shown
    print("notes, and the counts of", len(PROBES), "probes")


if __name__ == "__main__":
    main()
