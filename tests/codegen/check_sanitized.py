#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""UBSan, which sees what is left of a scope that is compiled out, has nothing to report in compiled_out.cpp, by one
compiler at several levels of optimisation. It needs no library of the sanitizer's: a report is a trap.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import object_code  # noqa: E402

WAYS = ("-DCOROSCOPE_ENABLED=0", "-DSAMPLE_CATEGORY", "-DSAMPLE_LEVEL")
LEVELS = ("-O0", "-O1", "-O2")


def trap_options(compiler):
    trap = "-fsanitize-trap=all" if "clang" in compiler else "-fsanitize-undefined-trap-on-error"
    return ["-fsanitize=undefined", trap]


def complaints(compiler, folder):
    for level in LEVELS:
        for way in WAYS:
            program = object_code.compile_object([compiler], object_code.COMPILED_OUT, folder / "sample.o", level, way,
                                                 *trap_options(compiler))
            subprocess.run([compiler, program, "-o", folder / "sample"], check=True)
            status = subprocess.run([folder / "sample"], stdout=subprocess.DEVNULL).returncode
            if status != 0:
                yield f"{way} at {level}: ended with status {status}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("compiler")
    compiler = arguments.parse_args().compiler
    if not shutil.which(compiler):
        print(f"SKIP: no {compiler} here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        found = list(complaints(compiler, pathlib.Path(folder)))
    print("\n".join(found) or f"nothing to report in {len(WAYS) * len(LEVELS)} programs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
