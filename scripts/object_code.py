# SPDX-License-Identifier: Apache-2.0
"""What a compiler made of a source: its disassembly, its sections. For benchmarks and tests."""

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

# Names that a compiler counts up: those of local lambdas and of its own labels. Both count what was compiled out.
COUNTED_NAMES = re.compile(r"(?<=Ul)(\w*?)E\d*_|\$_\d+|\.L[.\w]*")

# The symbol that objdump takes to be next to an address: any one where a relocation is still to come, whose line names
# the right one.
NEIGHBOUR = re.compile(r" <[^>]*>$")

# A compiler's notes on itself are no part of what it made.
SECTION = re.compile(r"^(\.\S+)\s+(\d+)", re.MULTILINE)
NO_CODE = (".comment", ".note")


def compile_object(compiler, source, output, *options):
    """`compiler` is a command, a list of words."""
    subprocess.run([*compiler, *FLAGS, *options, "-c", str(source), "-o", str(output)], check=True)
    return output


def disassembly(compiled):
    """Its lines, relocations among them, without the names that a compiler counts up and those of neighbours."""
    listed = subprocess.run(["objdump", "--disassemble", "--reloc", "--no-show-raw-insn", str(compiled)],
                            check=True, stdout=subprocess.PIPE, text=True)
    return [COUNTED_NAMES.sub("counted", NEIGHBOUR.sub("", line)) for line in listed.stdout.splitlines()[3:]]


def differing_lines(ours, plain):
    """How many lines of two disassemblies differ, place by place."""
    return sum(a != b for a, b in zip(ours, plain)) + abs(len(ours) - len(plain))


def sections(compiled):
    """The bytes of each section, those of one function each (.text.name) added up."""
    listed = subprocess.run(["size", "-A", str(compiled)], check=True, stdout=subprocess.PIPE, text=True)
    sizes = {}
    for name, size in SECTION.findall(listed.stdout):
        if not name.startswith(NO_CODE):
            kind = "." + name.split(".")[1]
            sizes[kind] = sizes.get(kind, 0) + int(size)
    return sizes
