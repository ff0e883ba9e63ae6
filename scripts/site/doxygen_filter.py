#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a header for Doxygen: the head comment below #pragma once becomes the documentation of the file, and the inline
namespace that keeps translation units with and without the profiler apart is left out."""

import pathlib
import re
import sys

HEAD = re.compile(r"#pragma once\n\n((?://(?: .*)?\n)+)")

INLINE = re.compile(r"^(inline namespace COROSCOPE_ABI \{|\}  // namespace COROSCOPE_ABI)$", re.MULTILINE)


def documented(match):
    lines = [line[2:] for line in match[1].splitlines()]
    # Doxygen takes lines that are indented by four columns for code.
    lines = [f"    {line.strip()}" if line.startswith("   ") and line.strip() else line.removeprefix(" ") for line in lines]
    return "#pragma once\n\n/// \\file\n" + "".join(f"/// {line}".rstrip() + "\n" for line in lines)


text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
print(INLINE.sub("", HEAD.sub(documented, text, count=1)), end="")
