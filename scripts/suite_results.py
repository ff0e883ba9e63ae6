# SPDX-License-Identifier: Apache-2.0
"""The results of suites of tests, and the last lines of ./dev test and of CI, which say all of them."""

import dataclasses
import json
import pathlib

import failures

LINES = 100  # at most, with the count line
MOST_UNSTABLE = 3  # test programs of all suites; more of them are a failure

COLUMNS = ("suite", "passed", "failed", "unstable", "skipped", "build min", "tests min")


@dataclasses.dataclass
class Suite:
    """The result of a suite. A program is unstable if it failed, and then passed alone."""

    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    unstable: list = dataclasses.field(default_factory=list)  # names of test programs
    build_seconds: float = 0
    test_seconds: float = 0
    blocks: list = dataclasses.field(default_factory=list)  # failures.block()
    left_out: str = ""  # why the suite did not run

    def save(self, file):
        pathlib.Path(file).write_text(json.dumps(dataclasses.asdict(self)))


def load(file):
    return Suite(**json.loads(pathlib.Path(file).read_text()))


def is_passed(suites):
    return not any(suite.failed for suite in suites) and len(unstable_programs(suites)) <= MOST_UNSTABLE


def unstable_programs(suites):
    """Each program once, whatever number of suites it was unstable in."""
    return sorted({name for suite in suites for name in suite.unstable})


def count_line(suites):
    passed, failed, skipped = (sum(getattr(suite, field) for suite in suites) for field in ("passed", "failed", "skipped"))
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def minutes(seconds):
    return f"{seconds / 60:.1f}"


def table(suites):
    rows = [COLUMNS] + [
        (suite.name, str(suite.passed), str(suite.failed), str(len(suite.unstable)), str(suite.skipped),
         minutes(suite.build_seconds), minutes(suite.test_seconds)) for suite in suites if not suite.left_out]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    return ["  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(row, widths))) for row in rows]


def notes(suites):
    lines = [f"{suite.name}: left out {suite.left_out}" for suite in suites if suite.left_out]
    names = unstable_programs(suites)
    if names:
        lines.append(f"unstable, each an open defect (docs/contributing/unstable_tests.md): {', '.join(names)}")
    if len(names) > MOST_UNSTABLE:
        lines.append(f"more than {MOST_UNSTABLE} unstable test programs: the run has failed")
    return lines


def fitting(blocks, room):
    """As many lines of the blocks as there is room for. A long block is cut; blocks without room are counted."""
    shown = blocks[: room // 4]
    left_out = len(blocks) - len(shown)
    room -= 1 if left_out else 0
    lines = []
    for number, block in enumerate(shown):
        # What a short block leaves is room for the next ones; each of them keeps its share.
        waiting = len(shown) - number - 1
        most = room - len(lines) - waiting * (room // len(shown))
        lines += block if len(block) <= most else block[: most - 1] + [f"    … {len(block) - most + 1} more lines"]
    return lines + ([f"… {left_out} more failures"] if left_out else [])


def closing_lines(suites, log):
    """The last lines of a run: a table, a block for each failure, the parts left out, and the count."""
    head = [""] + table(suites) + notes(suites)
    blocks = [(block["unstable"], failures.lines_of(suite.name, block)) for suite in suites for block in suite.blocks]
    blocks = [lines for _, lines in sorted(blocks, key=lambda each: each[0])]  # the failures first
    foot = ([f"the whole output is in {log}"] if blocks else []) + [count_line(suites)]
    return head + [""] + fitting(blocks, LINES - len(head) - len(foot) - 2) + ([""] if blocks else []) + foot
