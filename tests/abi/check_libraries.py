#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the effect of a shared library of Coroscope on a program: it needs no unexpected library, exports no foreign
symbol, and has no more thread-local state than fits when the library is opened late.

Takes the built libraries. Each may need the C and C++ libraries and those in MAY_NEED."""

import argparse
import pathlib
import re
import subprocess
import sys

# The name up to the first dot of every library that any program in C++ may need.
EVERYWHERE = {"libstdc++", "libc++", "libc++abi", "libm", "libgcc_s", "libc", "libpthread", "libdl", "ld-linux-x86-64",
              "ld-linux-aarch64", "libasan", "libubsan", "libtsan"}
MAY_NEED = {
    "libcoroscope": {"libxxhash", "libittnotify"},
    "libcoroscope-trace": {"libxxhash", "libzstd"},
    "libcoroscope-cuda": {"libcoroscope"},
    "libcoroscope-memory-hook": {"libcoroscope"},
    "libcoroscope-interpose": set(),
    "libcoroscope-analysis": {"libcoroscope-trace", "libfmt", "libdw", "libsimdjson", "libsqlite3", "libxxhash", "libz"},
}
REPLACED = re.compile(r"operator (new|delete)(\[\])?\(")
OURS = re.compile(r"(typeinfo (name )?for |vtable for |guard variable for )?coroscope::")
EXPORTED = {
    "libcoroscope": re.compile(rf"{OURS.pattern}|coroscope_live_root$"),
    "libcoroscope-memory-hook": REPLACED,
    # The C library's functions, some with their version.
    "libcoroscope-interpose": re.compile(r"[a-z0-9_]+(@@GLIBC_2\.3\.2)?$|GLIBC_2\.3\.2$"),
}

# The C library reserves about 512 bytes for all initial-exec variables of libraries that are opened after the
# program's start.
MOST_THREAD_LOCAL_BYTES = 128


def stem(name):
    return name.partition(".")[0]


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed_too_much(library):
    listed = output_of("readelf", "--dynamic", "--wide", library)
    allowed = EVERYWHERE | MAY_NEED[stem(library.name)]
    for each in re.findall(r"\(NEEDED\).*\[(.*)\]", listed):
        if stem(each) not in allowed:
            yield f"{library.name} needs {each}, which it should not"


def exported_too_much(library):
    expected = EXPORTED.get(stem(library.name), OURS)
    listed = output_of("nm", "--dynamic", "--defined-only", "--demangle", library).splitlines()
    symbols = [line.split(" ", 2)[2] for line in listed]
    if not symbols:
        yield f"{library.name} exports nothing"
    for each in symbols:
        if not expected.match(each):
            yield f"{library.name} exports {each}; lib/exports.map says what may be"


def thread_local_too_much(library):
    listed = output_of("readelf", "--program-headers", "--wide", library)
    # TLS, offset, virtual and physical address, bytes in the file, bytes in memory
    for segment in re.findall(r"^ *TLS +\S+ +\S+ +\S+ +\S+ +(0x\w+)", listed, re.MULTILINE):
        size = int(segment, 16)
        if size > MOST_THREAD_LOCAL_BYTES:
            yield (f"{library.name} has {size} bytes of thread-local variables, of which {MOST_THREAD_LOCAL_BYTES} are "
                   "allowed: keep them behind the thread's record, or under a pthread key")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("libraries", type=pathlib.Path, nargs="+")
    given = arguments.parse_args()
    complaints = [line for library in given.libraries
                  for check in (needed_too_much, exported_too_much, thread_local_too_much) for line in check(library)]
    print("\n".join(complaints) or f"{len(given.libraries)} libraries need, export and keep per thread what they should")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
