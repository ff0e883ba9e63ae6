#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of a resource that nobody waits for, counted in the machine code of resources.cpp by one compiler at -O2: the
instructions of an acquisition and of a release while no session records, and while one does, which stores one word. With
COROSCOPE_ENABLED=0 nothing remains.
"""

import collections
import pathlib
import platform
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
import check_inactive  # noqa: E402
import given_compiler  # noqa: E402
import object_code  # noqa: E402

# The return is not counted. g++ needs one instruction less than clang in all rows but the first.
BOUNDS = {("acquire", "inactive"): 4, ("acquire", "recording"): 11,
          ("release", "inactive"): 7, ("release", "recording"): 8}
PADDING = ("nop", "data16", "cs", "xchg")
# A store to memory that is not the stack: its address is relative, or the object's address is in a register.
STORE = re.compile(r"^mov[ql]? .*,(0x[0-9a-f]+)?\(%r(?!sp)\w+\)")


def shortest(body, start, is_end):
    """The address of the nearest end, and the instructions before it."""
    ahead, seen = collections.deque([(start, 0)]), {start}
    while ahead:
        address, count = ahead.popleft()
        if is_end(body[address]):
            return address, count
        for successor in body[address].successors():
            if successor in body and successor not in seen:
                seen.add(successor)
                ahead.append((successor, count + 1))
    raise LookupError("no such instruction")


def is_return(instruction):
    return instruction.name.startswith("ret")


def is_store(instruction):
    return bool(STORE.match(f"{instruction.name} {instruction.operands.split('#')[0]}"))


def real_ones(body):
    return sum(not each.name.startswith(PADDING) for each in body.values())


def counts(body):
    start = min(body)
    yield "inactive", shortest(body, start, is_return)[1]
    store, before = shortest(body, start, is_store)
    yield "recording", before + shortest(body, store, is_return)[1]


def compiled(compiler, folder, *options):
    return check_inactive.functions(object_code.compile_object(
        [compiler], HERE / "resources.cpp", pathlib.Path(folder, "resources.o"), "-O2", *options))


def main():
    compiler = given_compiler.parse(__doc__).compiler
    if platform.machine() != "x86_64":
        given_compiler.skip("it reads the machine code of x86-64")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        ours = compiled(compiler, folder)
        for name in ("acquire", "release"):
            for state, count in counts(ours[name]):
                bound = BOUNDS[name, state]
                verdict = "" if 0 < count <= bound else f": at most {bound}"
                failed |= bool(verdict)
                print(f"{name}, {state}: {count} instructions{verdict}")
        disabled = compiled(compiler, folder, "-DCOROSCOPE_ENABLED=0")
        for name in ("acquire", "release", "acquire_after_wait"):
            left = real_ones(disabled[name]) - real_ones(disabled["nothing"])
            failed |= left > 0
            print(f"{name}, disabled: {left} instructions")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
