# SPDX-License-Identifier: Apache-2.0
"""Instructions and misses of a simulated instruction cache as valgrind's callgrind counts them: the same in each run of
the same program."""

import pathlib
import re
import shutil
import subprocess
import tempfile


def is_there():
    return shutil.which("valgrind") is not None


def command(output, *options):
    """The command that must precede a program, so that its instructions are counted into `output`."""
    return ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={output}", *options]


# One cache on all machines, so that their figures can be compared. Only its first level is counted.
WITH_CACHES = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")
INSTRUCTIONS, ICACHE = "Ir", "I1mr"
SEPARATE = "--separate-threads=yes"


def total(output, event=INSTRUCTIONS):
    text = output.read_text()
    names, counts = (re.search(rf"^{word}: (.*)", text, re.MULTILINE)[1].split() for word in ("events", "totals"))
    return int(counts[names.index(event)])


def total_of_threads(output, event, without):
    """The events of a program's threads, which were counted with SEPARATE, except of those that ran the function
    `without`."""
    counted = output.parent.glob(output.name + "-*")
    return sum(total(thread, event) for thread in counted if without not in thread.read_text())


def count_all(program, environment):
    """The instructions of a program and of all programs that it starts."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command(pathlib.Path(folder, "%p"), "--trace-children=yes"), *program],
                       check=True, env=environment, stderr=subprocess.DEVNULL)
        return sum(map(total, pathlib.Path(folder).iterdir()))
