#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instrumentation that is compiled out leaves nothing.

The machine code of compiled_out.cpp, its data and the frames of its coroutines are the same as without macros, by one
compiler at -O2. The same holds in instrumented coroutines with labelled awaits."""

import collections
import difflib
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import given_compiler  # noqa: E402
import object_code  # noqa: E402

SHOWN_LINES = 20


WITHOUT_MACROS = "-DSAMPLE_WITHOUT_MACROS"


class Sample:
    """The source compiled in one way, and linked with the libraries in `links`."""

    def __init__(self, compiler, options, folder, links=()):
        compiled = object_code.compile_object([compiler], object_code.COMPILED_OUT, folder / "sample.o", "-O2", *options)
        self.code = object_code.disassembly(compiled)
        self.data = object_code.sections(compiled)
        subprocess.run([compiler, compiled, *links, "-o", folder / "sample"], check=True)
        run = subprocess.run([folder / "sample"], check=True, stdout=subprocess.PIPE, text=True)
        self.frames = dict(line.split() for line in run.stdout.splitlines())


def instruction_names(code):
    """The number of occurrences of each instruction, whatever its operands."""
    return collections.Counter(line.split("\t")[1].split()[0] for line in code if ":\t" in line)


def no_more_instructions(ours, plain):
    """There are as many of each kind of instruction, except of those that do nothing, and no more moves: a register
    that is free saves some."""
    mine, theirs = instruction_names(ours.code), instruction_names(plain.code)
    kinds = {name for name in mine | theirs if not name.startswith("nop")}
    return mine["mov"] <= theirs["mov"] and all(mine[name] == theirs[name] for name in kinds - {"mov"})


def no_more_bytes(ours, plain):
    return ours.data.keys() == plain.data.keys() and all(
        size <= plain.data[name] if name == ".text" else size == plain.data[name] for name, size in ours.data.items())


def differences(way, ours, plain, in_order=True):
    """`in_order`: the machine code must be equal. Otherwise it may have fewer moves, and so fewer bytes, because clang
    chooses other registers without the scopes' variables."""
    if in_order:
        alike = not object_code.differing_lines(ours.code, plain.code)
        same_data = ours.data == plain.data
    else:
        alike, same_data = no_more_instructions(ours, plain), no_more_bytes(ours, plain)
    if not alike:
        lines = list(difflib.unified_diff(plain.code, ours.code, "without macros", way, lineterm="", n=1))
        yield f"{way}: other machine code\n" + "\n".join(lines[:SHOWN_LINES])
    if not same_data:
        yield f"{way}: sections of {ours.data} bytes, without macros {plain.data}"
    if ours.frames != plain.frames:
        yield f"{way}: frames of {ours.frames} bytes, without macros {plain.frames}"


def plain_complaints(compiler, folder):
    # Linked without the library, because no symbol of it is used.
    plain = Sample(compiler, [WITHOUT_MACROS], folder)
    if not plain.frames or "0" in plain.frames.values():
        yield f"no frames to compare: {plain.frames}"
    for way, option in object_code.WAYS_OUT.items():
        yield from differences(way, Sample(compiler, [option], folder), plain)
    print(f"{len(plain.code)} lines of disassembly and {len(plain.frames)} frames in {len(object_code.WAYS_OUT)} ways")


def instrumented_complaints(compiler, folder, library):
    """Scopes that their category or level excludes, in coroutines whose awaits and promises stay instrumented."""
    links = [library, f"-Wl,-rpath,{library.parent}"]
    instrumented = Sample(compiler, ["-DSAMPLE_INSTRUMENTED", WITHOUT_MACROS], folder, links)
    if not any("task_state" in line for line in instrumented.code):
        yield "the promises are not instrumented"
    for way, option in object_code.SWITCHED_OUT.items():
        sample = Sample(compiler, ["-DSAMPLE_INSTRUMENTED", option], folder, links)
        yield from differences(f"{way}, instrumented", sample, instrumented, in_order="clang" not in compiler)
    print(f"{len(instrumented.code)} lines of disassembly and {len(instrumented.frames)} frames, instrumented, "
          f"in {len(object_code.SWITCHED_OUT)} ways")


def main():
    given = given_compiler.parse(__doc__, library="the runtime")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        complaints = [*plain_complaints(given.compiler, folder),
                      *instrumented_complaints(given.compiler, folder, pathlib.Path(given.library))]
    print("\n".join(complaints) or "are alike")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
