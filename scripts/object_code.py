# SPDX-License-Identifier: Apache-2.0
"""The result of a compilation: disassembly and sections. For benchmarks and tests."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A source of scopes, and the options that each compile all of them out.
COMPILED_OUT = ROOT / "tests" / "codegen" / "compiled_out.cpp"
SWITCHED_OUT = {
    "a disabled category": "-DSAMPLE_CATEGORY",
    "a disabled level": "-DSAMPLE_LEVEL",
    "every level disabled": "-DSAMPLE_EVERY_LEVEL",
}
WAYS_OUT = {"COROSCOPE_ENABLED=0": "-DCOROSCOPE_ENABLED=0", **SWITCHED_OUT}

FLAGS = ["-std=c++20", f"-I{ROOT / 'include'}"]

# Names with a number of the compiler: those of local lambdas and of its labels. They differ between the builds, because
# the compiler also counts code that was compiled out.
COUNTED_NAMES = re.compile(r"(?<=Ul)(\w*?)E\d*_|\$_\d+|\.L[.\w]*")

# objdump prints the nearest symbol for an address. If a relocation is still to come, this is any symbol, and the line
# of the relocation has the right one.
NEIGHBOUR = re.compile(r" <[^>]*>$")

# Sections with a compiler's notes on itself are left out.
SECTION = re.compile(r"^(\.\S+)\s+(\d+)", re.MULTILINE)
NO_CODE = (".comment", ".note")


def compile_object(compiler, source, output, *options):
    """`compiler` is a command, a list of words."""
    subprocess.run([*compiler, *FLAGS, *options, "-c", str(source), "-o", str(output)], check=True)
    return output


def disassembly(compiled):
    """The lines of the disassembly with relocations, without names that a compiler numbers and without nearest
    symbols."""
    listed = subprocess.run(["objdump", "--disassemble", "--reloc", "--no-show-raw-insn", str(compiled)],
                            check=True, stdout=subprocess.PIPE, text=True)
    return [COUNTED_NAMES.sub("counted", NEIGHBOUR.sub("", line)) for line in listed.stdout.splitlines()[3:]]


def differing_lines(ours, plain):
    """The number of lines at which two disassemblies differ."""
    return sum(a != b for a, b in zip(ours, plain)) + abs(len(ours) - len(plain))


def sections(compiled):
    """The bytes of each section. Sections of one function each (.text.name) are added up."""
    listed = subprocess.run(["size", "-A", str(compiled)], check=True, stdout=subprocess.PIPE, text=True)
    sizes = {}
    for name, size in SECTION.findall(listed.stdout):
        if not name.startswith(NO_CODE):
            kind = "." + name.split(".")[1]
            sizes[kind] = sizes.get(kind, 0) + int(size)
    return sizes
