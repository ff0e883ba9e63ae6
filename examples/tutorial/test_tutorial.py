#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: test_tutorial.py COROSCOPE SHOP SHOP_FIXED

Follows docs/start/tutorial.md: runs each command of it in a folder that looks like a clone, in which `./dev build` puts
the program that was built beforehand: the fixed one after the page's edit."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import apply_edit

COROSCOPE, SHOP, FIXED = (pathlib.Path(each).resolve() for each in sys.argv[1:4])
SOURCE = pathlib.Path(__file__).resolve().parent / "shop.cpp"
PAGE = SOURCE.parents[2] / "docs" / "start" / "tutorial.md"
BLOCK = re.compile(r"^```(sh|text|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A figure, a sign beside one, or a verdict of a comparison, which a busy machine may change. Or a state of a thread, for
# which the kernel may be asked or not.
FIGURE = re.compile(r"[<>+-]?[\d.]+([num]?s|%|[KMG]i?B)?|[-–%]|[num]s|to|faster|slower|same|unclear"
                    r"|on-CPU|CPU|running|blocked|preempted")
DEV = r"""#!/bin/sh
# Stands for the build: takes the targets of the tutorial, and chooses the program by its source.
[ "$1" = build ] || exit 1
for target in tools/coroscope examples/tutorial/shop; do
    case " $* " in *" $target "*) ;; *) [ $target = tools/coroscope ] || exit 1 ;; esac
done
mkdir -p build/release/tools build/release/examples/tutorial
ln -sf "$COROSCOPE" build/release/tools/coroscope
if grep -q '= co_await prices_of' examples/tutorial/shop.cpp; then program=$FIXED; else program=$SHOP; fi
ln -sf "$program" build/release/examples/tutorial/shop
"""


def words(line):
    """The words of a line of output, without its figures."""
    return [word for word in line.split() if not FIGURE.fullmatch(word.strip("(),;"))]


def has_in_order(line, expected):
    rest = iter(words(line))
    return all(word in rest for word in expected)


class Tutorial(unittest.TestCase):
    def run_in_shell(self, folder, commands, environment):
        done = subprocess.run(["bash", "-ec", commands], cwd=folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, commands + done.stdout)
        return done.stdout

    def assert_shown(self, output, shown):
        for line in filter(words, shown.splitlines()):
            if set(line) <= set("- "):
                continue
            self.assertTrue(any(has_in_order(each, words(line)) for each in output.splitlines()),
                            f"not in the output: {line}\n{output}")

    def test_each_command_of_the_page_runs_and_prints_the_lines_that_the_page_shows(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "examples" / "tutorial").mkdir(parents=True)
            source = folder / "examples" / "tutorial" / "shop.cpp"
            source.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
            (folder / "dev").write_text(DEV, encoding="utf-8")
            (folder / "dev").chmod(0o755)
            environment = dict(os.environ, COROSCOPE=str(COROSCOPE), SHOP=str(SHOP), FIXED=str(FIXED), COLUMNS="250",
                               PATH=f"{folder}/build/release/tools:{os.environ['PATH']}")
            page, output, compared = PAGE.read_text(encoding="utf-8"), "", 0
            for kind, block in BLOCK.findall(page):
                if kind == "sh":
                    output = self.run_in_shell(folder, block, environment)
                elif kind == "diff":
                    source.write_text(apply_edit.edited(source.read_text(encoding="utf-8"), page), encoding="utf-8")
                else:
                    self.assert_shown(output, block)
                    compared += 1
            self.assertEqual(compared, 7)

    def test_the_page_has_a_line_for_each_place_that_it_names(self):
        lines = SOURCE.read_text(encoding="utf-8").splitlines()
        for place, text in ((24, "COROSCOPE_AWAIT"), (36, "price of an item"), (42, "prices of all"), (57, "COROSCOPE_REQUEST")):
            self.assertIn(text, lines[place - 1])
            self.assertIn(f"shop.cpp:{place}", PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
