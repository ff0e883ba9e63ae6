#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The places of the calls of co_spawn() and post() that spawned tasks, for programs by g++ and clang."""

import collections
import csv
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from tool import ToolTest, coroscope, environment, main

LIBRARY, INCLUDE, SYMBOLS = sys.argv[2:5]
del sys.argv[2:5]
PROGRAM = pathlib.Path(__file__).with_name("asio_spawns_program.cpp")
VARIANTS = [(compiler, level) for compiler in ("g++", "clang++-19") if shutil.which(compiler) for level in ("-O0", "-O2")]
# In most versions Asio itself creates the last turn of a co_spawn whose function has not suspended.
MOST_BY_ASIO = 1


def spawns():
    """How many tasks each line spawns."""
    found = collections.Counter()
    for number, line in enumerate(PROGRAM.read_text().splitlines(), 1):
        if "// spawns " in line:
            _, *times = line.split("// spawns ")[1].split()
            found[number] = int(times[0]) if times else 1
    return found


@unittest.skipUnless(VARIANTS, "neither g++ nor clang++-19 is here")
class AsioSpawnedAt(ToolTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.built = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.built.cleanup)

    def program(self, compiler, level):
        """The program by this compiler, with debug information."""
        built = pathlib.Path(self.built.name, f"{compiler}{level}")
        if not built.exists():
            subprocess.run([compiler, "-std=c++20", level, "-g", f"-I{INCLUDE}",
                            "-DBOOST_ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>", PROGRAM, LIBRARY,
                            f"-Wl,-rpath,{pathlib.Path(LIBRARY).resolve().parent}", "-pthread", "-o", built], check=True)
        return built

    def places(self, compiler, level, *stripped):
        """The places of spawns of the tasks of the program, which `strip` changes before, if it has options."""
        program, trace = self.folder / "program", self.folder / "trace.cst"
        shutil.copy(self.program(compiler, level), program)
        if stripped:
            subprocess.run(["strip", *stripped, program], check=True)
        subprocess.run([program, trace], check=True, env=environment(COROSCOPE_SPAWNS="1"))
        done = coroscope("tasks", trace, "--tree", "--format", "csv")
        self.assert_success(done)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertLessEqual(len(rows), sum(spawns().values()) + MOST_BY_ASIO)
        return [row.get("spawned_at", "") for row in rows]

    def check_each(self, check, *stripped):
        for compiler, level in VARIANTS:
            with self.subTest(compiler=compiler, level=level):
                check(self.places(compiler, level, *stripped))

    @unittest.skipIf(SYMBOLS == "no", "this build reads no debug information")
    def test_with_debug_information_each_place_is_the_line_of_the_call(self):
        def check(places):
            known = [each for each in places if each]
            for each in known:
                self.assertIn("asio_spawns_program.cpp:", each)
            self.assertEqual(collections.Counter(int(each.rpartition(":")[2]) for each in known), spawns())

        self.check_each(check)

    @unittest.skipIf(SYMBOLS == "no", "this build reads no symbols")
    def test_with_symbols_only_the_calling_function_is_known_or_nothing(self):
        def check(places):
            found = collections.Counter(each.rpartition("::")[2].removeprefix("in ") for each in places if "in " in each)
            self.assertEqual({name: found[name] for name in ("main", "post_all", "parent")},
                             {"main": 5, "post_all": 9, "parent": 2})
            self.assertLessEqual(set(found), {"main", "post_all", "parent", "operator()"})

        self.check_each(check, "--strip-debug")

    def test_without_symbols_no_place_is_claimed_but_that_of_a_co_await(self):
        def check(places):
            # Only the line of a co_await is known to the compiler.
            self.assertEqual(len([each for each in places if each]), 1)

        self.check_each(check, "-s")


if __name__ == "__main__":
    main()
