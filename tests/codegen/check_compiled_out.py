#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instrumentation that is compiled out leaves nothing: the machine code of compiled_out.cpp, its data and
the frames of its coroutines are those of the same functions without macros, by one compiler at -O2.
"""

import difflib
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import given_compiler  # noqa: E402
import object_code  # noqa: E402

SHOWN_LINES = 20


class Sample:
    """The source compiled in one way."""

    def __init__(self, compiler, option, folder):
        compiled = object_code.compile_object(
            [compiler], object_code.COMPILED_OUT, folder / f"{option}.o", "-O2", option)
        self.code = object_code.disassembly(compiled)
        self.data = object_code.sections(compiled)
        # Linked without the library: nothing of it is used.
        program = folder / option
        subprocess.run([compiler, compiled, "-o", program], check=True)
        run = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True)
        self.frames = dict(line.split() for line in run.stdout.splitlines())


def differences(way, ours, plain):
    if object_code.differing_lines(ours.code, plain.code):
        lines = list(difflib.unified_diff(plain.code, ours.code, "without macros", way, lineterm="", n=1))
        yield f"{way}: other machine code\n" + "\n".join(lines[:SHOWN_LINES])
    if ours.data != plain.data:
        yield f"{way}: sections of {ours.data} bytes, without macros {plain.data}"
    if ours.frames != plain.frames:
        yield f"{way}: frames of {ours.frames} bytes, without macros {plain.frames}"


def main():
    compiler = given_compiler.parse(__doc__).compiler
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        plain = Sample(compiler, "-DSAMPLE_WITHOUT_MACROS", folder)
        complaints = [each for way, option in object_code.WAYS_OUT.items()
                      for each in differences(way, Sample(compiler, option, folder), plain)]
    if not plain.frames or "0" in plain.frames.values():
        complaints.append(f"no frames to compare: {plain.frames}")
    print("\n".join(complaints) or f"{len(plain.code)} lines of disassembly and {len(plain.frames)} frames are alike")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
