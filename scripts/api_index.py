#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/reference/api.md: the public headers, with the first sentence of each one's head comment.

`scripts/api_index.py --write` writes the page. `./dev docs` makes the pages of the classes and functions by Doxygen."""

import re
import sys

import tree

PAGE = tree.ROOT / "docs" / "reference" / "api.md"
INCLUDE = tree.ROOT / "include" / "coroscope"
HEAD = re.compile(r"#pragma once\n\n((?://(?: .*)?\n)+)")
FOLDERS = (
    (".", "The runtime: scopes, tasks, sessions", "`coroscope/coroscope.hpp` includes those that nearly every program "
     "needs; include the others by their names. They include no library, and little of the standard library."),
    ("integration", "Integrations", "Each includes the one library that it is for."),
    ("analysis", "The analysis: reading traces", "Link `coroscope-analysis`. Functions that can fail return `result<T>`."),
    ("trace", "The trace format", "Shared by the runtime and the analysis. Link `coroscope-trace` to read traces record by "
     "record."),
)
TOP = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# API: the public headers

Each header has one concept. Its head comment has the contract and an example, and each function's comment its
requirements, effects and thread-safety. `./dev docs` makes pages of all classes and functions from these comments
(`build/docs/api/index.html`). Headers in `coroscope/detail/` are not part of the API.

`scripts/api_index.py --write` makes this page.
"""


def first_sentence(text):
    """The first sentence of the head comment, in one line."""
    match = HEAD.search(text)
    if not match:
        return ""
    lines = [line[2:].strip() for line in match[1].splitlines()]
    paragraph = " ".join(lines[:lines.index("")] if "" in lines else lines)
    sentence = re.match(r"(.+?\.)(?=\s|$)", paragraph)
    return (sentence[1] if sentence else paragraph).rstrip(".:").replace("|", "\\|").replace("<", "&lt;")


def page():
    parts, faults = [TOP], []
    for folder, title, note in FOLDERS:
        parts.append(f"\n## {title}\n\n{note}\n\n| header | concept |\n|---|---|\n")
        for header in sorted((INCLUDE / folder).glob("*.hpp")):
            name = header.relative_to(INCLUDE.parent).as_posix()
            sentence = first_sentence(header.read_text(encoding="utf-8"))
            if not sentence:
                faults.append(f"include/{name}: no head comment below #pragma once")
            parts.append(f"| [`{name}`](../../include/{name}) | {sentence} |\n")
    return "".join(parts), faults


def main():
    text, faults = page()
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        faults.append("docs/reference/api.md: not as the headers; scripts/api_index.py --write writes it")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
