#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: apply_edit.py SHOP.CPP TUTORIAL.MD OUTPUT

Makes the edit that the tutorial asks for, its one block of a diff. A #line gives the result the name of the program
that a reader edits, so that its scopes have the same places."""

import pathlib
import re
import sys

BLOCK = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def edited(source, page):
    blocks = BLOCK.findall(page)
    if len(blocks) != 1:
        raise SystemExit(f"the tutorial has {len(blocks)} blocks of a diff, 1 expected")
    lines = blocks[0].splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -")
    after = "".join(line[1:] for line in lines if line[0] in " +")
    if source.count(before) != 1:
        raise SystemExit("the lines of the tutorial's diff are not in the program")
    return source.replace(before, after)


def main():
    source, page, output = map(pathlib.Path, sys.argv[1:])
    text = edited(source.read_text(encoding="utf-8"), page.read_text(encoding="utf-8"))
    output.write_text(f'#line 1 "{source}"\n{text}', encoding="utf-8")


if __name__ == "__main__":
    main()
