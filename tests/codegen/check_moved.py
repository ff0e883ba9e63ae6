#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A coroutine that continues on another thread has its scopes and its transitions there: no compiler keeps the address
of the first thread's variables (moved.cpp), at any level of optimisation."""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
import given_compiler  # noqa: E402
import object_code  # noqa: E402

LEVELS = ("-O0", "-O1", "-O2", "-O3")
EXPECTED = "loop 9\nsequence 2\ntask 10\n"


def main():
    given = given_compiler.parse(__doc__, library="the runtime")
    library = pathlib.Path(given.library)
    failed = False
    for level in LEVELS:
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "moved")
            subprocess.run([given.compiler, *object_code.FLAGS, level, HERE / "moved.cpp", library,
                            f"-Wl,-rpath,{library.parent}", "-pthread", "-o", program], check=True)
            printed = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout
        print(level, printed.split())
        failed |= printed != EXPECTED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
