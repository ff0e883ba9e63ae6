#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the decisions in docs/decisions and their index, docs/decisions/README.md.

A decision is docs/decisions/NNNN-words.md with the title "# N. …" and, below it, a line
"Status: accepted, YYYY-MM-DD." or "Status: replaced by [N](NNNN-words.md), YYYY-MM-DD." (or "replaced in part by").
The index is made from these lines and from the links between decisions. `scripts/decisions.py --write` writes it."""

import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "decisions"
NAME = re.compile(r"(\d{4})-[a-z0-9-]+\.md")
TITLE = re.compile(r"^# (\d+)\. (.+)$", re.MULTILINE)
STATUS = re.compile(r"^Status: (accepted|replaced (?:in part )?by \[\d+\]\(\d{4}-[a-z0-9-]+\.md\)), (\d{4}-\d\d-\d\d)\.$",
                    re.MULTILINE)
LINK = re.compile(r"\]\((?:\.\./decisions/)?(\d{4})-[a-z0-9-]+\.md[)#]")
HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# Decisions

Each page has the reasons for one decision, the alternatives that were tried, and the figures that were measured. Pages
are not rewritten when the code changes: a decision that is no longer valid is replaced by a later one, and its status
says so. For a new decision take the next free number; numbers may have gaps. `scripts/decisions.py --write` makes this
table.

| | decision | status | since | related |
|---|---|---|---|---|
"""


class Decision:
    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        title, status = TITLE.search(text), STATUS.search(text)
        self.name = path.name
        self.number = int(NAME.fullmatch(path.name)[1])
        self.faults = []
        if not title or int(title[1]) != self.number:
            self.faults.append(f'the title must be "# {self.number}. …"')
        if not status:
            self.faults.append('a line "Status: accepted, YYYY-MM-DD." is missing below the title')
        self.title = title[2] if title else ""
        self.status, self.since = (status[1], status[2]) if status else ("", "")
        self.linked = {int(number) for number in LINK.findall(text)} - {self.number}


def read():
    return [Decision(path) for path in sorted(FOLDER.glob("*.md")) if path.name != "README.md" and NAME.fullmatch(path.name)]


def faults_of(decisions):
    faults = [f"docs/decisions/{each.name}: {fault}" for each in decisions for fault in each.faults]
    numbers = [each.number for each in decisions]
    faults += [f"docs/decisions: {number} is the number of several decisions" for number in sorted(set(numbers))
               if numbers.count(number) > 1]
    misnamed = [path.name for path in sorted(FOLDER.iterdir()) if not NAME.fullmatch(path.name) and path.name != "README.md"]
    return faults + [f"docs/decisions/{name}: the name must be NNNN-words.md" for name in misnamed]


def index_of(decisions):
    """The index: a decision is related to those that it links, and to those that link it."""
    by_number = {each.number: each for each in decisions}
    related = {number: set(each.linked) & set(by_number) for number, each in by_number.items()}
    for number, each in by_number.items():
        for other in each.linked & set(by_number):
            related[other].add(number)
    rows = []
    for number, each in sorted(by_number.items()):
        links = ", ".join(f"[{other}]({by_number[other].name})" for other in sorted(related[number]))
        rows.append(f"| {number} | [{each.title}]({each.name}) | {each.status} | {each.since} | {links} |\n")
    return HEAD + "".join(rows)


def main():
    decisions = read()
    faults = faults_of(decisions)
    index = FOLDER / "README.md"
    if "--write" in sys.argv[1:] and not faults:
        index.write_text(index_of(decisions), encoding="utf-8")
    elif not faults and (not index.exists() or index.read_text(encoding="utf-8") != index_of(decisions)):
        faults.append("docs/decisions/README.md: not as the decisions; scripts/decisions.py --write writes it")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
