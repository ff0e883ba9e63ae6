#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bounds the cost of instrumentation, by one compiler.

A scope's bytes of code and a coroutine's bytes of frame at -O2 are within their budgets, nothing allocates, not even
the runtime, and symmetric transfers stay tail calls if the compiler makes them tail calls without labels and scopes.
"""

import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BENCH = HERE.parents[1] / "bench"
sys.path[:0] = [str(HERE.parents[1] / "scripts"), str(BENCH)]
import budgets  # noqa: E402
import compile_rows  # noqa: E402
import given_compiler  # noqa: E402
import object_code  # noqa: E402

FRAMES = ("frame.bytes_per_await", "frame.bytes_per_scope", "frame.bytes_per_task")

FUNCTIONS = 50  # many, so that shared code, such as a reference to the personality, adds little per function
CODE_BYTES = budgets.BUDGETS["code.bytes_per_scope"].limits["value"][1]
STACK_BYTES = 4096  # without tail calls, half a million calls would overflow the stack
WAITING_FRAME = 1  # the frame of sync_wait, below the tasks that it runs


class Compiler:
    def __init__(self, name, library, folder):
        self.name, self.library, self.folder = name, library, folder

    def run(self, options, *sources):
        """Builds a program with the library, runs it, and returns the numbers that it prints by their names."""
        program = self.folder / "program"
        subprocess.run(
            [self.name, *object_code.FLAGS, f"-I{BENCH}", *options, *sources, self.library,
             f"-Wl,-rpath,{self.library.parent}", "-pthread", "-ldl", "-o", program], check=True)
        done = subprocess.run([program], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{sources[-1].name} at {options[0]} ended with status {done.returncode}:\n{done.stdout}")
        return {name: float(number) for name, number in map(str.split, done.stdout.splitlines())}

    def has_tail_calls(self, level):
        """clang guarantees tail calls for coroutines; g++ makes them if it makes others."""
        return "clang" in self.name or level != "-O0"


def code_complaints(compiler):
    code, tables, data = compile_rows.bytes_per_scope([compiler], FUNCTIONS)
    print(f"code.bytes_per_scope {code:g} (at most {CODE_BYTES}), unwind tables {tables:g}, data {data:g}")
    if code > CODE_BYTES + 0.5:
        yield f"code.bytes_per_scope: {code:g}, at most {CODE_BYTES}"


def frame_complaints(frames):
    for name in FRAMES:
        bound = budgets.BUDGETS[name].limits["value"][1]
        print(f"{name} {frames[name]:g} (at most {bound})")
        if frames[name] > bound:
            yield f"{name}: {frames[name]:g}, at most {bound}"


def cost_complaints(level, costs):
    plain = costs["allocations.plain.bare"]
    if plain < 2000:
        yield f"{level}: {plain:g} allocations of two thousand plain coroutines"
    if costs.pop("start.allocations") <= 0:
        yield f"{level}: what the runtime allocates is not counted"
    for name, figure in costs.items():
        if name.startswith("stack.") and figure > STACK_BYTES:
            yield f"{level}: {name} {figure:g} bytes, at most {STACK_BYTES}"
        extra = WAITING_FRAME if name.startswith("allocations.task") else 0
        if name.startswith("allocations.") and not plain <= figure <= plain + extra:
            yield f"{level}: {name} {figure:g}, plain {plain:g}"


def main():
    given = given_compiler.parse(__doc__, library="the runtime")
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(given.compiler, pathlib.Path(given.library), pathlib.Path(folder))
        complaints = list(code_complaints(given.compiler))
        complaints += frame_complaints(
            compiler.run(["-O2"], BENCH / "frame_rows.cpp", HERE / "frames.cpp"))
        for level in filter(compiler.has_tail_calls, ("-O2", "-O0")):
            costs = compiler.run([level], HERE / "allocations.cpp", HERE / "costs.cpp")
            print(level, costs)
            complaints += cost_complaints(level, costs)
    print("\n".join(complaints))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
