#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check_layers.py with trees of a few files."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))

import check_layers  # noqa: E402
import tree  # noqa: E402


def including(*names):
    return "".join(f'#include "{name}"\n' for name in names)


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="coroscope-layers-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, tree, "ROOT", tree.ROOT)
        tree.ROOT = pathlib.Path(folder.name).resolve()

    def write(self, **rooms):
        """Writes files into rooms of the runtime: their texts, by name."""
        for room, files in rooms.items():
            for name, text in files.items():
                path = tree.ROOT / "lib/runtime" / room / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    def problems(self):
        return list(check_layers.problems(check_layers.read_graph()))


class Rooms(Tree):
    def test_a_room_includes_itself_and_the_rooms_beneath_it(self):
        self.write(base={"clock.hpp": ""},
                   store={"chunk.hpp": including("../base/clock.hpp"), "pool.hpp": including("chunk.hpp")})
        self.assertEqual(self.problems(), [])

    def test_an_include_of_a_room_above_is_refused_with_its_line(self):
        self.write(base={"clock.cpp": "\n" + including("../store/chunk.hpp")}, store={"chunk.hpp": ""})
        self.assertEqual(self.problems(), [
            "lib/runtime/base/clock.cpp:2: base includes store, which is above it "
            "(lib/runtime/base/clock.cpp > lib/runtime/store/chunk.hpp)"])

    def test_rooms_side_by_side_do_not_include_each_other(self):
        self.write(observers={"list.cpp": including("../devices/devices.hpp")}, devices={"devices.hpp": ""})
        self.assertEqual(len(self.problems()), 1)
        self.assertIn("observers includes devices, which is beside it", self.problems()[0])

    def test_a_file_outside_every_room_is_refused(self):
        self.write(base={}, attic={"old.hpp": ""})
        self.assertEqual(len(self.problems()), 1)
        self.assertIn("lib/runtime/attic/old.hpp: in no room", self.problems()[0])

    def test_a_room_has_no_more_files_than_allowed(self):
        self.write(base={f"part{number}.hpp": "" for number in range(check_layers.MOST_FILES)})
        self.assertEqual(self.problems(), [])
        self.write(base={"one_more.hpp": ""})
        self.assertEqual(len(self.problems()), 1)
        self.assertIn("lib/runtime/base: 41 files, at most 40", self.problems()[0])

    def test_an_inner_room_is_a_room_of_its_own(self):
        self.addCleanup(setattr, check_layers, "UNSORTED", check_layers.UNSORTED)
        check_layers.UNSORTED = set()
        below = tree.ROOT / "lib/analysis/load/tasks/slices.cpp"
        above = tree.ROOT / "lib/analysis/load/load.hpp"
        below.parent.mkdir(parents=True)
        below.write_text(including("../load.hpp"))
        above.write_text("")
        self.assertEqual(len(self.problems()), 1)
        self.assertIn("load/tasks includes load, which is above it", self.problems()[0])

    def test_each_include_between_two_rooms_is_counted(self):
        self.write(base={"clock.hpp": "", "futex.hpp": ""},
                   store={"chunk.cpp": including("../base/clock.hpp", "../base/futex.hpp", "chunk.hpp"),
                          "chunk.hpp": including("../base/clock.hpp")})
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            self.assertEqual(check_layers.main(["--arrows"]), 0)
        self.assertEqual(printed.getvalue(), "lib/runtime/store > base: 3\n")


class Cycles(Tree):
    def test_headers_that_include_each_other_are_reported_with_their_cycle(self):
        self.write(base={"a.hpp": including("b.hpp"), "b.hpp": including("c.hpp"), "c.hpp": including("a.hpp")})
        self.assertEqual(self.problems(), [
            "lib/runtime/base/a.hpp: includes itself (lib/runtime/base/a.hpp > lib/runtime/base/b.hpp > "
            "lib/runtime/base/c.hpp > lib/runtime/base/a.hpp)"])

    def test_units_that_need_each_other_are_reported_even_if_no_header_includes_itself(self):
        self.write(base={"a.hpp": "", "a.cpp": including("a.hpp", "b.hpp"), "b.hpp": including("a.hpp"),
                         "b.cpp": including("b.hpp")})
        self.assertEqual(self.problems(), [
            "lib/runtime/base/a: the unit includes itself by way of others "
            "(lib/runtime/base/a > lib/runtime/base/b > lib/runtime/base/a)"])

    def test_a_header_that_only_one_unit_includes_is_a_part_of_that_unit(self):
        self.write(base={"a.hpp": "", "a_state.hpp": including("a.hpp"), "a.cpp": including("a_state.hpp"),
                         "a_close.cpp": including("a_state.hpp")})
        self.assertEqual(self.problems(), [])
        self.write(base={"b.hpp": including("a_state.hpp")})
        self.assertEqual(len(self.problems()), 1)

    def test_each_cycle_is_reported_once(self):
        self.write(base={"a.hpp": including("b.hpp"), "b.hpp": including("a.hpp"),
                         "c.hpp": including("d.hpp"), "d.hpp": including("c.hpp")})
        self.assertEqual([problem.partition(":")[0] for problem in self.problems()],
                         ["lib/runtime/base/a.hpp", "lib/runtime/base/c.hpp"])


class Towers(Tree):
    def test_the_runtime_does_not_include_the_analysis(self):
        self.write(base={"clock.cpp": "#include <coroscope/analysis/load.hpp>\n"})
        header = tree.ROOT / "include/coroscope/analysis/load.hpp"
        header.parent.mkdir(parents=True)
        header.write_text("")
        self.assertEqual(len(self.problems()), 1)
        self.assertIn("runtime includes analysis", self.problems()[0])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
