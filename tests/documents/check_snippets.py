#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every C++ snippet of the documents, as a user compiles a copy.

A snippet that includes a header is a program of its own. Any other snippet is put into a program that includes all of
Coroscope. Each is compiled with the switches of the project, and warnings are errors. A snippet is left out, and
named, if this compiler refuses the headers of its libraries even without ours."""

import pathlib
import re
import subprocess
import sys
import tempfile

SNIPPET = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"^#include <(.*)>", re.MULTILINE)
FOREIGN = re.compile(r"^#include <(?:boost|asio|tbb|oneapi)/.*", re.MULTILINE)
PRELUDE = "#include <coroscope/coroscope.hpp>\nnamespace user {\n"
CLOSING = "\n}\n"


def snippets(document):
    text = document.read_text(encoding="utf-8")
    for match in SNIPPET.finditer(text):
        yield text.count("\n", 0, match.start()) + 2, match[1]


def source_of(code):
    return code if "#include" in code else PRELUDE + code + CLOSING


def libraries_of(code, include):
    """The snippet's definitions, and the headers of other libraries that it includes itself or through headers of
    ours."""
    headers = [include / name for name in INCLUDED.findall(code)]
    texts = [code, *(header.read_text(encoding="utf-8") for header in headers if header.exists())]
    return "\n".join(re.findall("^#define.*", code, re.MULTILINE) + [line for text in texts
                                                                     for line in FOREIGN.findall(text)])


def compiles(compiler, include, source, folder):
    path = pathlib.Path(folder) / "snippet.cpp"
    path.write_text(source, encoding="utf-8")
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused", f"-I{include}"]
    done = subprocess.run([*compiler, *flags, str(path)], capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr


def is_refused(compiler, include, code, folder):
    """Whether the snippet's libraries are installed, and the compiler refuses their headers."""
    good, errors = compiles(compiler, include, libraries_of(code, include), folder)
    return not good and not re.search("No such file|file not found", errors)


def main():
    root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    include = root / "include"
    checked, failed, left_out = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for document in [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]:
            for line, code in snippets(document):
                checked += 1
                good, errors = compiles(compiler, include, source_of(code), folder)
                if good:
                    continue
                if is_refused(compiler, include, code, folder):
                    left_out += 1
                    print(f"{document.name}:{line}: left out: the compiler refuses the headers of its libraries")
                    continue
                failed += 1
                print(f"{document.name}:{line}: the snippet does not compile\n{errors}")
    print(f"{checked} snippets, {failed} do not compile, {left_out} left out")
    return 1 if failed or checked == left_out else 0


if __name__ == "__main__":
    sys.exit(main())
