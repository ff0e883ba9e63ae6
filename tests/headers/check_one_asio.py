#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""asio.hpp compiles with the definitions for both libraries if only Asio or only Boost.Asio is installed."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEADER = "<coroscope/integration/asio.hpp>"
DEFINITIONS = [f"-D{library}_CUSTOM_HANDLER_TRACKING={HEADER}" for library in ("BOOST_ASIO", "ASIO")]
SOURCE = f"#include {HEADER}\nint main() {{ return coroscope::asio::coroscope_asio_tracked - 1; }}\n"


def system_folders(compiler):
    """The folders that the compiler searches, in order."""
    told = subprocess.run([*compiler, "-x", "c++", "-E", "-v", "-"], input="", capture_output=True, text=True, check=True)
    listed = re.search(r"search starts here:\n(.*?)End of search list", told.stderr, re.DOTALL)[1]
    return [pathlib.Path(line.strip()) for line in listed.splitlines() if line.startswith(" ")]


def without(folder, names, scratch):
    """A new folder with links to all entries of `folder`, except for these names."""
    copy = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    for each in folder.iterdir():
        if each.name not in names:
            os.symlink(each, copy / each.name)
    return copy


def compile_without(compiler, include, names, scratch):
    folders = [without(folder, names, scratch) if any((folder / name).exists() for name in names) else folder
               for folder in system_folders(compiler)]
    search = [word for folder in folders for word in ("-isystem", str(folder))]
    return subprocess.run([*compiler, "-std=c++20", "-nostdinc", f"-I{include}", *search, *DEFINITIONS, "-fsyntax-only",
                           "-x", "c++", "-"], input=SOURCE, capture_output=True, text=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("include", help="the folder that holds coroscope/")
    arguments.add_argument("compiler", nargs="+")
    given = arguments.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for names in ("asio", "asio.hpp"), ("boost",):
            done = compile_without(given.compiler, given.include, names, scratch)
            if done.returncode != 0:
                failed = True
                print(f"without {names[0]}:\n{done.stderr}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
