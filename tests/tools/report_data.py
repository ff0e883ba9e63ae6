#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the data of a report, as its page does. docs/contributing/report_data.md describes them.

    report_data.py REPORT    prints the data as one JSON document: {"summary": …, "timeline": …, "columns": {table: {column: […]}}}
"""

import base64
import gzip
import html.parser
import json
import pathlib
import struct
import sys


class Elements(html.parser.HTMLParser):
    """The elements of a page: the text of each script by id, and the names of all tags."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.blocks = {}
        self.tags = []
        self.title = ""
        self.open = None

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open = (tag, dict(attributes).get("id"))
        if tag == "script" and self.open[1]:
            self.blocks[self.open[1]] = ""

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, text):
        if not self.open:
            return
        if self.open[0] == "title":
            self.title += text
        elif self.open[1] in self.blocks:
            self.blocks[self.open[1]] += text


def read_varints(data, at, count):
    values = []
    for _ in range(count):
        value = shift = 0
        while data[at] >= 128:
            value |= (data[at] & 127) << shift
            shift += 7
            at += 1
        values.append(value | data[at] << shift)
        at += 1
    return values, at


def decode_column(coding, data, at, rows):
    """The values of a column that begins at a place of the data, and the place after it."""
    if coding == "byte":
        return list(data[at:at + rows]), at + rows
    if coding == "double":
        return list(struct.unpack_from(f"<{rows}d", data, at)), at + 8 * rows
    raw, at = read_varints(data, at, rows)
    if coding == "count":
        return raw, at
    if coding == "maybe":
        return [value - 1 for value in raw], at
    if coding == "back":
        return [row - value if value else -1 for row, value in enumerate(raw)], at
    assert coding == "delta", coding
    values, last = [], 0
    for value in raw:
        last += value >> 1 if not value & 1 else -((value + 1) >> 1)
        values.append(last)
    return values, at


def decode_table(table, block):
    if not table["rows"]:
        return {column["name"]: [] for column in table["columns"]}
    data = gzip.decompress(base64.b64decode(block, validate=True))
    at, columns = 0, {}
    for column in table["columns"]:
        columns[column["name"]], at = decode_column(column["coding"], data, at, table["rows"])
    assert at == len(data), f"{len(data) - at} bytes are left"
    return columns


def read_elements(path):
    elements = Elements()
    elements.feed(pathlib.Path(path).read_text(encoding="utf-8"))
    elements.close()
    return elements


def read_report(path):
    """The data of the report at that path: the summary, the timeline and the columns of its tables."""
    blocks = read_elements(path).blocks
    timeline = json.loads(blocks["coroscope-timeline"])
    columns = {name: decode_table(table, blocks.get("coroscope-columns-" + name, ""))
               for name, table in timeline["tables"].items()}
    return {"summary": json.loads(blocks["coroscope-summary"]), "timeline": timeline, "columns": columns}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    json.dump(read_report(sys.argv[1]), sys.stdout)
