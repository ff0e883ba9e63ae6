# SPDX-License-Identifier: Apache-2.0
"""Instructions as valgrind's callgrind counts them: the same in each run of the same program."""

import pathlib
import re
import shutil
import subprocess
import tempfile


def is_there():
    return shutil.which("valgrind") is not None


def command(output, *options):
    """What to start a program with, so that its instructions are counted into `output`."""
    return ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={output}", *options]


def total(output):
    return int(re.search(r"^totals: (\d+)", output.read_text(), re.MULTILINE)[1])


def count_all(program, environment):
    """Of a program and all that it starts."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*command(pathlib.Path(folder, "%p"), "--trace-children=yes"), *program],
                       check=True, env=environment, stderr=subprocess.DEVNULL)
        return sum(map(total, pathlib.Path(folder).iterdir()))
