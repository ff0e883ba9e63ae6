# SPDX-License-Identifier: Apache-2.0
"""The rows that the compiler decides: what including and using the headers costs."""

import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include"
COMPILER = [*os.environ.get("CXX", "c++").split(), "-std=c++20", f"-I{INCLUDE}"]

INCLUDE_ROUNDS = 9
COMPILE_ROUNDS = 3
FUNCTIONS = 1000


def compile_ms(source, *options):
    """Processor milliseconds of one compilation: other programs' load does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*COMPILER, *options, source], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000


def medians(rounds, *measurements):
    """Each measurement's median; they take turns, so that all see the same machine."""
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


def functions(scope):
    lines = ["#include <coroscope/macro.hpp>", "void work(int);"]
    for number in range(FUNCTIONS):
        body = f'COROSCOPE("function {number}"); ' if scope else ""
        lines.append(f"void function_{number}(int value) {{ {body}work(value); work({number}); }}")
    return "\n".join(lines) + "\n"


def section_bytes(program, names):
    listed = subprocess.run(["size", "-A", program], check=True, stdout=subprocess.PIPE, text=True)
    return sum(int(size) for name, size in re.findall(r"^(\.\S+)\s+(\d+)", listed.stdout, re.MULTILINE)
               if name.startswith(names))


def with_and_without(folder):
    """(source, object) of the thousand functions with and without a scope."""
    for name, scope in ("with", True), ("without", False):
        yield write(folder, f"{name}.cpp", functions(scope)), pathlib.Path(folder, f"{name}.o")


def compile_per_scope():
    with tempfile.TemporaryDirectory() as folder:
        ours, floor = medians(
            COMPILE_ROUNDS,
            *(lambda source=source, output=output: compile_ms(source, "-O2", "-c", "-o", output)
              for source, output in with_and_without(folder)))
    return row("compile.ms_per_scope", (ours - floor) / FUNCTIONS, "ms",
               note=f"a function without: {floor / FUNCTIONS:.2f} ms")


def code_per_scope():
    with tempfile.TemporaryDirectory() as folder:
        objects = []
        for source, output in with_and_without(folder):
            compile_ms(source, "-O2", "-c", "-o", output)
            objects.append(output)
        code = [section_bytes(each, (".text",)) for each in objects]
        tables = [section_bytes(each, (".gcc_except_table", ".eh_frame")) for each in objects]
    return row("code.bytes_per_scope", (code[0] - code[1]) / FUNCTIONS, "B",
               note=f"unwind tables {(tables[0] - tables[1]) / FUNCTIONS:.0f} B")


def disassembly(folder, option):
    output = pathlib.Path(folder, "sample.o")
    compile_ms(HERE / "disabled_sample.cpp", "-O2", "-c", option, "-o", output)
    listed = subprocess.run(["objdump", "-dr", output], check=True, stdout=subprocess.PIPE, text=True)
    return listed.stdout.splitlines()


def disabled():
    with tempfile.TemporaryDirectory() as folder:
        ours = disassembly(folder, "-DCOROSCOPE_ENABLED=0")
        plain = disassembly(folder, "-DBENCH_WITHOUT_MACROS")
    differing = sum(a != b for a, b in zip(ours, plain)) + abs(len(ours) - len(plain))
    return row("scope.disabled", differing, "lines", note=f"of {len(plain)} lines of disassembly")


ROWS = {
    "scope.disabled": disabled,
    "include": include,
    "compile.ms_per_scope": compile_per_scope,
    "code.bytes_per_scope": code_per_scope,
}
