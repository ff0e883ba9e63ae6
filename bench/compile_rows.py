# SPDX-License-Identifier: Apache-2.0
"""The rows that the compiler decides: the costs of including and using the headers."""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent),
                str(pathlib.Path(__file__).resolve().parent.parent / "scripts")]
import callgrind  # noqa: E402
import missing  # noqa: E402
import object_code  # noqa: E402

CXX = os.environ.get("CXX", "c++").split()
UNCACHED = dict(os.environ, CCACHE_DISABLE="1")  # CXX may be "ccache g++", which compiles once

INCLUDE_ROUNDS = 9
COMPILE_ROUNDS = 3
FUNCTIONS = 1000
COUNTED_FUNCTIONS = (5, 25)  # few, because under callgrind a compiler takes fifty times as long


def compile_ms(source, *options):
    """Milliseconds of processor time of one compilation, so that the load of other programs does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*CXX, *object_code.FLAGS, *options, source], check=True, env=UNCACHED)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000


def medians(rounds, *measurements):
    """The median of each measurement. The measurements take turns, so that all of them run under the same
    conditions."""
    taken = [[measurement() for measurement in measurements] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*taken)]


def row(name, value, unit, floor=None, **more):
    return {"name": name, "value": round(value, 3), "unit": unit,
            "floor": None if floor is None else round(floor, 3),
            "ratio": round(value / floor, 3) if floor else None, "instructions": None, **more}


def write(folder, name, text):
    path = pathlib.Path(folder, name)
    path.write_text(text)
    return path


def include():
    with tempfile.TemporaryDirectory() as folder:
        sources = [write(folder, "ours.cpp", "#include <coroscope/coroscope.hpp>\n"),
                   write(folder, "floor.cpp", "#include <coroutine>\n"),
                   write(folder, "empty.cpp", "\n")]
        ours, floor, empty = medians(
            INCLUDE_ROUNDS,
            *(lambda source=source: compile_ms(source, "-fsyntax-only") for source in sources))
    return row("include", ours, "ms", floor, note=f"empty file {empty:.0f} ms")


def functions(scope, count):
    lines = ["#include <coroscope/macro.hpp>", "void work(int);"]
    for number in range(count):
        body = f'COROSCOPE("function {number}"); ' if scope else ""
        lines.append(f"void function_{number}(int value) {{ {body}work(value); work({number}); }}")
    return "\n".join(lines) + "\n"


def with_and_without(folder, count):
    """(source, object) of `count` functions with and without a scope."""
    for name, scope in ("with", True), ("without", False):
        yield write(folder, f"{name}.cpp", functions(scope, count)), pathlib.Path(folder, f"{name}.o")


def compile_per_scope():
    with tempfile.TemporaryDirectory() as folder:
        ours, floor = medians(
            COMPILE_ROUNDS,
            *(lambda source=source, output=output: compile_ms(source, "-O2", "-c", "-o", output)
              for source, output in with_and_without(folder, FUNCTIONS)))
    return row("compile.ms_per_scope", (ours - floor) / FUNCTIONS, "ms",
               note=f"a function without: {floor / FUNCTIONS:.2f} ms")


def compiler_instructions(folder, scope):
    """Instructions of the compiler per function."""
    totals = []
    for count in COUNTED_FUNCTIONS:
        source = write(folder, "counted.cpp", functions(scope, count))
        totals.append(callgrind.count_all(
            [*CXX, *object_code.FLAGS, "-O2", "-S", source, "-o", os.devnull], UNCACHED))
    return (totals[1] - totals[0]) / (COUNTED_FUNCTIONS[1] - COUNTED_FUNCTIONS[0])


def compiler_instructions_per_scope():
    name = "compile.instructions_per_scope"
    if not callgrind.is_there():
        return missing.not_measured(name, missing.VALGRIND)
    with tempfile.TemporaryDirectory() as folder:
        ours, floor = (compiler_instructions(folder, scope) for scope in (True, False))
    return row(name, ours - floor, "instr", note=f"a function without: {floor:,.0f}")


def bytes_per_scope(compiler, count):
    """The bytes of (code, unwind tables, data) that a scope adds to a function, measured with `count` functions. The
    data includes the scope's label."""
    with tempfile.TemporaryDirectory() as folder:
        ours, plain = (object_code.sections(object_code.compile_object(compiler, source, output, "-O2"))
                       for source, output in with_and_without(folder, count))

    def per_scope(*names):
        return sum(ours.get(each, 0) - plain.get(each, 0) for each in names) / count

    return per_scope(".text"), per_scope(".gcc_except_table", ".eh_frame"), per_scope(".data", ".rodata", ".bss")


def code_per_scope():
    code, tables, data = bytes_per_scope(CXX, FUNCTIONS)
    return row("code.bytes_per_scope", code, "B", note=f"unwind tables {tables:.0f} B, data {data:.0f} B")


def disassembly(folder, option):
    output = pathlib.Path(folder, "sample.o")
    return object_code.disassembly(
        object_code.compile_object(CXX, object_code.COMPILED_OUT, output, "-O2", option))


def disabled():
    with tempfile.TemporaryDirectory() as folder:
        ours = disassembly(folder, "-DCOROSCOPE_ENABLED=0")
        plain = disassembly(folder, "-DSAMPLE_WITHOUT_MACROS")
    return row("scope.disabled", object_code.differing_lines(ours, plain), "lines",
               note=f"of {len(plain)} lines of disassembly")


ROWS = {
    "scope.disabled": disabled,
    "include": include,
    "compile.ms_per_scope": compile_per_scope,
    "compile.instructions_per_scope": compiler_instructions_per_scope,
    "code.bytes_per_scope": code_per_scope,
}
