#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The places of spawned tasks and of their coroutines, for programs by g++ and clang, with and without debug information."""

import collections
import csv
import io
import pathlib
import shutil
import subprocess
import sys
import unittest

from tool import ToolTest, coroscope, environment, main

LIBRARY, INCLUDE, SYMBOLS = sys.argv[2:5]
del sys.argv[2:5]
PROGRAM = pathlib.Path(__file__).with_name("spawned_program.cpp")
LINES = list(enumerate(PROGRAM.read_text().splitlines(), 1))
VARIANTS = [(compiler, level) for compiler in ("g++", "clang++-19") if shutil.which(compiler) for level in ("-O0", "-O2")]


def heads():
    """The line of each coroutine's head, by its name."""
    return {line.split("// head of ")[1]: number for number, line in LINES if "// head of " in line}


def spawns():
    """How often each line spawns a task, by the coroutine's name and the line."""
    found = {}
    for number, line in LINES:
        if "// spawns " in line:
            name, *times = line.split("// spawns ")[1].split()
            found[name, number] = int(times[0]) if times else 1
    return found


def line(place):
    return int(place.rpartition(":")[2])


@unittest.skipUnless(VARIANTS, "neither g++ nor clang++-19 is here")
class SpawnedAt(ToolTest):
    def rows(self, compiler, *options):
        """The tasks of the program, built with these options."""
        program, trace = self.folder / "program", self.folder / "trace.cst"
        subprocess.run([compiler, "-std=c++20", *options, f"-I{INCLUDE}", PROGRAM, LIBRARY,
                        f"-Wl,-rpath,{pathlib.Path(LIBRARY).resolve().parent}", "-o", program], check=True)
        subprocess.run([program, trace], check=True, env=environment())
        done = coroscope("tasks", trace, "--tree", "--format", "csv")
        self.assert_success(done)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def check_each(self, check, *options):
        for compiler, level in VARIANTS:
            with self.subTest(compiler=compiler, level=level):
                check(self.rows(compiler, level, *options))

    @unittest.skipIf(SYMBOLS == "no", "this build reads no debug information")
    def test_with_debug_information_both_places_are_lines_of_the_source(self):
        def check(rows):
            self.assertEqual({row["name"]: line(row["place"]) for row in rows}, heads())
            self.assertEqual(collections.Counter((row["name"], line(row["spawned_at"])) for row in rows), spawns())

        self.check_each(check, "-g")

    @unittest.skipIf(SYMBOLS == "no", "this build reads no symbols")
    def test_with_symbols_only_the_spawning_function_is_known(self):
        def check(rows):
            found = collections.defaultdict(set)
            for row in rows:
                found[row["name"]].add(row["spawned_at"].rpartition("::")[2].removeprefix("in "))
            self.assertEqual(found["all"], {"main"})
            self.assertEqual(found["recurse"], {"all", "recurse"})
            self.assertLessEqual(found["small"], {"all", "sum<int>", "sum"})

        self.check_each(check)

    def test_without_symbols_no_place_is_claimed(self):
        def check(rows):
            self.assertTrue(rows)
            for row in rows:
                self.assertEqual(row.get("spawned_at", ""), "")

        self.check_each(check, "-s")


if __name__ == "__main__":
    main()
