#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that a scope adds while no session runs, in the machine code of inactive.cpp by one compiler
at -O2.

It compares the shortest path of one turn of a loop with a scope with that of the same loop without one. A scope in a
coroutine is open while the coroutine may suspend."""

import collections
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "scripts"), str(HERE.parents[1] / "bench")]
import budgets  # noqa: E402
import given_compiler  # noqa: E402
import object_code  # noqa: E402


def bound_of(row):
    return budgets.BUDGETS[row].limits["instructions"][1]


# Instructions that each macro adds. Arguments are passed by reference, so a variable that was in a register is then
# read and written in memory.
MACROS = {"scope": 0, "function": 0, "category": 0, "arguments": 0, "local_arguments": 3}
MARKS = {"nothing": re.compile(r"^hlt"), "call": re.compile(r"_Z4worki"), "await": re.compile(r"_Z5readyv")}
# Around an await, variables in use are in the coroutine's frame, so each turn also loads the address of the gate from
# memory.
BOUNDS = {"nothing": bound_of("scope.inactive.empty"), "call": bound_of("scope.inactive.call"), "await": 8}

# The resumed part of a coroutine, by g++'s name and then by clang's.
FUNCTION = re.compile(r"^[0-9a-f]+ <(\w+|_Z\d+(\w+?_around_await)(?:\w+\.Frame\.actor|\w\.resume))>:$")
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(\S+) *(.*)$")
RELOCATION = re.compile(r"^\t+ *[0-9a-f]+: R_\S+\t(\S+)")
ENDS = ("ret", "jmp", "ud2")


class Instruction:
    def __init__(self, words, following):
        self.name, self.operands = words
        self.following = following  # the address of the next one
        self.relocation = ""

    def successors(self):
        """The addresses at which the processor may continue. An instruction with a relocation leaves the function's
        section."""
        if not self.name.startswith(ENDS):
            yield self.following
        if self.name.startswith("j") and not self.relocation:
            yield int(self.operands.split()[0], 16)

    def shows(self, mark):
        return mark.search(f"{self.name} {self.relocation}")


def functions(compiled):
    """The instructions of each function by their addresses."""
    listed = subprocess.run(["objdump", "--disassemble", "--reloc", "--no-show-raw-insn", str(compiled)],
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    found, body, last = {}, {}, None
    for line in listed.splitlines():
        if name := FUNCTION.match(line):
            body, last = found.setdefault(name[2] or name[1], {}), None
        elif relocation := RELOCATION.match(line):
            last.relocation = relocation[1]
        elif words := INSTRUCTION.match(line):
            address = int(words[1], 16)
            if last:
                last.following = address
            last = body[address] = Instruction(words.groups()[1:], None)
    return found


def turn(body, mark):
    """The number of instructions on the shortest path from the marked one back to it."""
    start = next(address for address, each in body.items() if each.shows(mark))
    ahead, seen = collections.deque([(start, 0)]), set()
    while ahead:
        address, count = ahead.popleft()
        for successor in body[address].successors():
            if successor == start:
                return count + 1
            if successor in body and successor not in seen:
                seen.add(successor)
                ahead.append((successor, count + 1))
    raise LookupError("no loop around the mark")


def added(compiler):
    """(macro, surrounded code, instructions that the macro adds) of every loop."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = (functions(object_code.compile_object(
            [compiler], HERE / "inactive.cpp", pathlib.Path(folder, "inactive.o"), "-O2", *options))
            for options in ([], ["-DSAMPLE_WITHOUT_MACROS"]))
    for macro in MACROS:
        for around, mark in MARKS.items():
            name = f"{macro}_around_{around}"
            yield macro, around, turn(ours[name], mark) - turn(plain[name], mark)


def main():
    compiler = given_compiler.parse(__doc__).compiler
    if platform.machine() != "x86_64":
        given_compiler.skip("it reads the machine code of x86-64")
    failed = False
    for macro, around, count in added(compiler):
        bound = BOUNDS[around] + MACROS[macro]
        verdict = "" if 0 < count <= bound else f": budget {bound}"
        failed |= bool(verdict)
        print(f"{macro} around {around} adds {count} instructions{verdict}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
