#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of views that are fitted into the width of a terminal.

The folder views/ has the text of each view of two traces at three widths. WRITE_VIEWS=1 writes it anew; look
at the difference before you keep it."""

import fcntl
import functools
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import termios
import unittest

from tool import TOOL, ToolTest, coroscope, environment

HERE = pathlib.Path(__file__).parent
FIXTURES = HERE.parent / "compatibility" / "fixtures" / "v2"
VIEWS = HERE / "views"
WIDTHS = (80, 120, 200)
COMMANDS = ("summary", "table", "table --percentiles", "table --from 1us --to 500us", "awaits", "awaits --chains", "awaits --blame", "tasks", "tasks --tree", "tasks --task {task}",
            "requests", "requests --request 1", "path", "why", "values", "streams", "resources", "executors", "ranges",
            "blocking", "locks", "check", "info")


@functools.cache
def first_task(trace):
    """The number of a task of the trace."""
    tasks = json.loads(coroscope("tasks", trace, "--tree", "--json", cwd=FIXTURES).stdout)
    return tasks[0]["task"] if tasks else 1


@functools.cache
def view(command, trace, *options):
    """What the command prints. Two tests look at the same views."""
    name, *own = command.format(task=first_task(trace) if "{" in command else None).split()
    return coroscope(name, trace, *own, *options, cwd=FIXTURES)


def in_terminal(columns, *arguments):
    """The output of the command in a terminal with so many columns, without colours."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([TOOL, *map(str, arguments)], stdout=other, stderr=subprocess.STDOUT, cwd=FIXTURES,
                          env=environment(NO_COLOR="1", TERM="xterm")) as running:
        os.close(other)
        text = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other end is closed
                part = b""
            if not part:
                break
            text += part
        code = running.wait(timeout=60)
    os.close(main)
    return code, text.decode().replace("\r\n", "\n")


class Widths(ToolTest):
    def test_no_view_has_a_line_that_is_longer_than_the_width(self):
        for trace in ("facts.cst", "watched.cst", "recorded.cst", "built.cst"):
            for command in COMMANDS:
                for width in WIDTHS:
                    with self.subTest(trace=trace, command=command, width=width):
                        done = view(command, trace, "--width", width)
                        # A word is not divided. A path of the sources may be such a word.
                        long = [line for line in done.stdout.splitlines() if len(line) > width and " " in line.strip()]
                        self.assertEqual(long, [])

    def test_the_views_are_as_they_were(self):
        for trace in ("facts", "watched"):
            for width in WIDTHS:
                shown = "".join(f"$ coroscope {each}\n{view(each, trace + '.cst', '--width', width).stdout}\n"
                                for each in COMMANDS)
                kept = VIEWS / f"{trace}-{width}.txt"
                if os.environ.get("WRITE_VIEWS"):
                    kept.write_text(shown, encoding="utf-8")
                with self.subTest(trace=trace, width=width):
                    self.assertEqual(shown, kept.read_text(encoding="utf-8"))

    def test_the_first_column_is_always_shown(self):
        for command in ("table", "awaits", "tasks", "locks"):
            with self.subTest(command):
                whole = view(command, "watched.cst", "--wide").stdout
                fitted = view(command, "watched.cst", "--width", 80).stdout
                heading = next(line.split()[0] for line in whole.splitlines() if line.strip("- "))
                self.assertIn(heading, fitted)

    def test_columns_that_are_left_out_are_named(self):
        fitted = view("awaits", "watched.cst", "--width", 80).stdout
        whole = view("awaits", "watched.cst", "--wide").stdout
        headings = re.split(r"  +", whole.splitlines()[0].strip())
        named = " ".join(re.search(r"Not shown: (.*?); --wide", fitted, re.DOTALL)[1].split()).split(", ")
        shown = re.split(r"  +", fitted.splitlines()[0].strip())
        self.assertEqual(sorted(named + shown), sorted(headings))

    def test_wide_text_and_data_are_the_same_as_without_a_terminal(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertEqual(view(command, "facts.cst", "--wide").stdout, view(command, "facts.cst").stdout)
        data = view("awaits", "facts.cst", "--json", "--width", 80)
        self.assertEqual(json.loads(data.stdout), json.loads(view("awaits", "facts.cst", "--json").stdout))

    def test_a_width_below_the_least_is_refused(self):
        self.assert_one_error(view("table", "facts.cst", "--width", 79), 2, r".*--width.*80.*")


class Terminals(ToolTest):
    def test_the_text_is_fitted_into_the_terminal(self):
        for columns in (80, 132):
            with self.subTest(columns):
                code, text = in_terminal(columns, "awaits", "watched.cst")
                self.assertEqual(code, 0)
                self.assertEqual(text, view("awaits", "watched.cst", "--width", columns).stdout)

    def test_a_narrower_terminal_gets_eighty_columns(self):
        _, text = in_terminal(40, "awaits", "watched.cst")
        self.assertEqual(text, view("awaits", "watched.cst", "--width", 80).stdout)

    def test_a_view_ends_with_commands_that_lead_on_and_that_work(self):
        _, text = in_terminal(80, "awaits", "facts.cst")
        commands = re.findall(r"coroscope (\S.*)$", text[text.index("Next: "):], re.MULTILINE)
        self.assertEqual(len(commands), 2)
        for each in commands:
            with self.subTest(each):
                self.assert_success(coroscope(*each.split(), cwd=FIXTURES))

    def test_a_file_without_a_command_shows_its_summary(self):
        self.assertEqual(coroscope("watched.cst", cwd=FIXTURES).stdout,
                         coroscope("summary", "watched.cst", cwd=FIXTURES).stdout)
        self.assertIn("Where tasks waited", coroscope("watched.cst", cwd=FIXTURES).stdout)

    def test_a_file_that_has_the_name_of_a_command_is_not_taken_for_it(self):
        (self.folder / "info").write_bytes((FIXTURES / "facts.cst").read_bytes())
        self.assert_one_error(coroscope("info", cwd=self.folder), 2, r"FILE.*")


if __name__ == "__main__":
    unittest.main(argv=["test_width.py"], verbosity=2)
