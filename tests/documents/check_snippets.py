#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every C++ snippet of the documents, as a user compiles a copy.

A snippet that includes a header is a program of its own. Any other snippet is put into a program that includes all of
Coroscope. Each is compiled with the switches of the project, and warnings are errors. A snippet is left out, and
named, if this compiler refuses the headers of its libraries even without ours, or if it needs the CUDA toolkit, which
no package of the system installs, and the toolkit is missing.

Paths are relative to the build's folder, and each compilation has an output, so that ccache knows it again."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import zlib

SNIPPET = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"^#include <(.*)>", re.MULTILINE)
FOREIGN = re.compile(r"^#include <(?:boost|asio|tbb|oneapi)/.*", re.MULTILINE)
NO_TOOLKIT = re.compile(r"fatal error: '?cuda\w*\.h'?(?:: No such file| file not found)")
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


def file_name(code):
    return f"snippet_{zlib.crc32(code.encode()):08x}.cpp"


class Checker:
    def __init__(self, root, folder, compiler):
        self.include, self.folder, self.compiler = root / "include", folder, compiler
        self.folder.mkdir(parents=True, exist_ok=True)

    def compiles(self, source, name):
        self.folder.joinpath(name).write_text(source, encoding="utf-8")
        flags = ["-std=c++20", "-c", "-Wall", "-Wextra", "-Werror", "-Wno-unused", f"-I{os.path.relpath(self.include, self.folder)}"]
        done = subprocess.run([*self.compiler, *flags, name, "-o", f"{name}.o"], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        return done.returncode == 0, done.stderr

    def is_refused(self, code, name):
        """Whether the snippet's libraries are installed, and the compiler refuses their headers."""
        good, errors = self.compiles(libraries_of(code, self.include), name)
        return not good and not re.search("No such file|file not found", errors)

    def check(self, code, name):
        """None, or whether the snippet is left out, and what is wrong with it."""
        good, errors = self.compiles(source_of(code), name)
        if good:
            return None
        if NO_TOOLKIT.search(errors):
            return True, "there is no CUDA toolkit"
        if self.is_refused(code, f"libraries_of_{name}"):
            return True, "the compiler refuses the headers of its libraries"
        return False, errors


def main():
    root, folder, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    checker = Checker(root, folder, compiler)
    work = [(document, line, code) for document in [root / "README.md", *sorted((root / "docs").glob("**/*.md"))]
            for line, code in snippets(document)]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(lambda item: checker.check(item[2], file_name(item[2])), work))
    failed = left_out = 0
    for (document, line, _), result in zip(work, results):
        if result is None:
            continue
        is_left_out, reason = result
        left_out += is_left_out
        failed += not is_left_out
        what = f"left out: {reason}" if is_left_out else f"the snippet does not compile\n{reason}"
        print(f"{document.name}:{line}: {what}")
    print(f"{len(work)} snippets, {failed} do not compile, {left_out} left out")
    return 1 if failed or len(work) == left_out else 0


if __name__ == "__main__":
    sys.exit(main())
