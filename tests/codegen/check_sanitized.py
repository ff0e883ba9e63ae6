#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""UBSan has nothing to report in compiled_out.cpp, by one compiler at several levels of optimisation.

UBSan sees the remains of a scope that is compiled out. No library of the sanitizer's is needed: a report is a trap."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import given_compiler  # noqa: E402
import object_code  # noqa: E402

LEVELS = ("-O0", "-O1", "-O2")


def trap_options(compiler):
    trap = "-fsanitize-trap=all" if "clang" in compiler else "-fsanitize-undefined-trap-on-error"
    return ["-fsanitize=undefined", trap]


def complaints(compiler, folder):
    for level in LEVELS:
        for way, option in object_code.WAYS_OUT.items():
            program = object_code.compile_object([compiler], object_code.COMPILED_OUT, folder / "sample.o", level, option,
                                                 *trap_options(compiler))
            subprocess.run([compiler, program, "-o", folder / "sample"], check=True)
            status = subprocess.run([folder / "sample"], stdout=subprocess.DEVNULL).returncode
            if status != 0:
                yield f"{way} at {level}: ended with status {status}"


def main():
    compiler = given_compiler.parse(__doc__).compiler
    with tempfile.TemporaryDirectory() as folder:
        found = list(complaints(compiler, pathlib.Path(folder)))
    print("\n".join(found) or f"nothing to report in {len(object_code.WAYS_OUT) * len(LEVELS)} programs")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
