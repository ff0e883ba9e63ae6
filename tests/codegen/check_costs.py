#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What instrumentation costs, by one compiler: a scope's bytes of code and a coroutine's of frame within their budgets
at -O2, no allocation, of the runtime neither, and symmetric transfers that stay tail calls, wherever the compiler makes
them such, labels and scopes or not.
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

FUNCTIONS = 50  # what they share, like one reference to the personality, is little of each
CODE_BYTES = budgets.BUDGETS["code.bytes_per_scope"].limits["value"][1]
STACK_BYTES = 4096  # where a call stayed a call half a million of them would need more than a stack
WAITING_FRAME = 1  # of sync_wait, below the tasks that it runs


class Compiler:
    def __init__(self, name, library, folder):
        self.name, self.library, self.folder = name, library, folder

    def run(self, options, *sources):
        """Builds a program with the library; what it prints are names and numbers."""
        program = self.folder / "program"
        subprocess.run(
            [self.name, *object_code.FLAGS, f"-I{BENCH}", *options, *sources, self.library,
             f"-Wl,-rpath,{self.library.parent}", "-pthread", "-ldl", "-o", program], check=True)
        done = subprocess.run([program], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{sources[-1].name} at {options[0]} ended with status {done.returncode}:\n{done.stdout}")
        return {name: float(number) for name, number in map(str.split, done.stdout.splitlines())}

    def has_tail_calls(self, level):
        """clang guarantees them for coroutines; g++ makes them where it makes others."""
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
