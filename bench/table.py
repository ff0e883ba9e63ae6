# SPDX-License-Identifier: Apache-2.0
"""Prints rows as text, as a Markdown table, or as JSON."""

import json

COLUMNS = ("row", "value", "floor", "ratio", "instr", "budget", "holds")
JSON_KEYS = ("name", "value", "unit", "floor", "ratio", "low", "high", "instructions",
             "added", "budget", "aim", "holds", "note")


def number(figure):
    if figure is None:
        return "–"
    return f"{figure:.2f}" if abs(figure) < 100 else f"{figure:,.0f}"


def cells(row):
    unit = row["unit"]
    floor = row["floor"]
    counted = row["instructions"]
    verdict = {True: "yes", False: "NO", None: "–"}[row["holds"]]
    return (row["name"],
            "–" if row["value"] is None else f"{number(row['value'])} {unit}",
            "–" if floor is None else f"{number(floor)} {unit}",
            number(row["ratio"]),
            "–" if counted is None else f"{counted:.1f}",
            row["budget"] or "–",
            verdict + (f" ({row['note']})" if row.get("note") else ""))


def text(rows):
    lines = [COLUMNS] + [cells(row) for row in rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(COLUMNS))]
    left = {0, 5, 6}
    for line in lines:
        yield "  ".join(cell.ljust(width) if at in left else cell.rjust(width)
                        for at, (cell, width) in enumerate(zip(line, widths))).rstrip()


def markdown(rows):
    yield "| " + " | ".join(COLUMNS) + " |"
    yield "|---|---:|---:|---:|---:|---|---|"
    for row in rows:
        yield "| " + " | ".join((f"`{row['name']}`",) + cells(row)[1:]) + " |"


def as_json(machine, rows):
    document = {"machine": machine,
                "rows": [{key: row.get(key) for key in JSON_KEYS} for row in rows]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
