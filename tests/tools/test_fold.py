#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of --fold: the tasks that the commands leave out, and the notes about them."""

import csv
import io
import json

import tool
import trace_builder
from tool import ToolTest, coroscope
from trace_builder import FINISH, KIND_AWAIT, KIND_COROUTINE, RESUME, SPAWN, SUSPEND, WAKE, task_record

GATHER = b"async_simple::coro::collectAll"
NOTE = "Folded tasks of async_simple: 1, "


def gathering():
    """A handler that created a library's coroutine, which created two fetchers and waited for them."""
    trace = trace_builder.Trace()
    handle, gather, fetch = (trace.site(name, b"app.cpp", line, kind=KIND_COROUTINE)
                             for line, name in enumerate((b"app::handle", GATHER, b"app::fetch"), 1))
    wait = trace.site(b"co_await in " + GATHER, b"Collect.h", 7, kind=KIND_AWAIT)
    started = 1
    records = [task_record(SPAWN, 1_000, 1, 0, handle, started), task_record(SPAWN, 2_000, 2, 1, gather, started)]
    for task, begin in ((3, 3_000), (4, 5_000)):
        records += [task_record(SPAWN, begin, task, 2, fetch, started), task_record(FINISH, begin + 1_000, task, 2)]
    records += [task_record(SUSPEND, 7_000, 2, 1, wait), task_record(WAKE, 8_000, 2, 0),
                task_record(RESUME, 9_000, 2, 1), task_record(FINISH, 10_000, 2, 1),
                task_record(FINISH, 11_000, 1)]
    trace.thread(1, b"main", records)
    return trace


class Folding(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = gathering().write(self.folder / "gathering.cst")

    def names(self, *arguments):
        done = coroscope(*arguments, self.trace, "--format", "csv")
        self.assert_success(done)
        return [row["name"].strip() for row in csv.DictReader(io.StringIO(done.stdout))]

    def test_coroutines_of_libraries_are_folded_unless_fold_none_is_given(self):
        self.assertCountEqual(self.names("tasks"), ["app::handle", "app::fetch"])
        self.assertIn(GATHER.decode(), self.names("tasks", "--fold", "none"))
        self.assertEqual(self.names("awaits"), ["app::fetch (resumed in place)"])
        self.assertCountEqual(self.names("awaits", "--fold", "none"),
                              [f"co_await in {GATHER.decode()}", f"{GATHER.decode()} (resumed in place)",
                               "app::fetch (resumed in place)"])

    def test_children_of_a_folded_task_become_children_of_its_creator(self):
        done = coroscope("tasks", "--tree", self.trace, "--json")
        rows = json.loads(done.stdout)
        self.assertEqual([(row["task"], row["parent"], row["depth"]) for row in rows], [(1, None, 0), (3, 1, 1), (4, 1, 1)])

    def test_patterns_are_folded_beside_the_libraries_or_instead_of_them(self):
        self.assertEqual(self.names("tasks", "--fold", "app::f*"), ["app::handle"])
        self.assertCountEqual(self.names("tasks", "--fold", "none", "--fold=app::f*"), ["app::handle", GATHER.decode()])
        self.assertEqual(self.names("tasks", "--fold", "app::f*", "--fold", "*::handle"), [])

    def test_a_folded_task_is_shown_in_full_if_it_is_named(self):
        done = coroscope("tasks", self.trace, "--task", "2")
        self.assert_success(done)
        self.assertIn(GATHER.decode(), done.stdout)

    def test_every_text_names_the_folded_tasks(self):
        for arguments in (("table",), ("awaits",), ("awaits", "--chains"), ("tasks",), ("tasks", "--tree")):
            with self.subTest(arguments=arguments):
                self.assertIn(NOTE, coroscope(*arguments, self.trace).stdout)
                self.assertNotIn(NOTE, coroscope(*arguments, self.trace, "--fold", "none").stdout)

    def test_a_pattern_that_folds_nothing_is_named(self):
        for arguments in (("table",), ("awaits",), ("tasks",), ("tasks", "--tree")):
            with self.subTest(arguments=arguments):
                text = coroscope(*arguments, self.trace, "--fold", "ap::*", "--fold", "app::f*").stdout
                self.assertRegex(text, r"(?m)^--fold ap::\* folded no task; a pattern matches the whole name")
                self.assertNotIn("--fold app::f* folded no task", text)

    def test_the_note_names_fold_none_only_if_tasks_of_libraries_are_folded(self):
        self.assertIn("--fold none shows", coroscope("tasks", self.trace).stdout)
        text = coroscope("tasks", self.trace, "--fold", "none", "--fold", "app::f*").stdout
        self.assertIn("Folded tasks of app::f*: 2", text)
        self.assertNotIn("--fold none", text)

    def test_a_list_whose_tasks_are_all_folded_says_so(self):
        everything = ("--fold", "app::*")
        self.assertTrue(coroscope("tasks", self.trace, *everything).stdout.startswith("every task is folded\n"))
        self.assertTrue(coroscope("awaits", self.trace, *everything).stdout
                        .startswith("no task that is shown awaited anything\n"))

    def test_exports_draw_no_folded_task(self):
        for form in ("chrome", "perfetto"):
            for choice, drawn in (((), False), (("--fold", "none"), True)):
                path = self.folder / "picture"
                self.assert_success(coroscope("export", self.trace, "--to", form, "-o", path, *choice))
                self.assertEqual(GATHER in path.read_bytes(), drawn)

    def test_an_empty_pattern_is_refused(self):
        self.assert_one_error(coroscope("tasks", self.trace, "--fold", ""), 2, ".*a pattern must not be empty.*")

    def test_help_names_the_libraries(self):
        for command in ("table", "awaits", "tasks", "export", "run"):
            help_text = " ".join(coroscope(command, "--help").stdout.split())
            self.assertIn("--fold", help_text)
            self.assertIn("async_simple", help_text)


if __name__ == "__main__":
    tool.main()
