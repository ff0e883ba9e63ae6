#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of parts of a trace: --from, --to and --where, coroscope cut, and the percentiles of the table."""

import json
import sqlite3

import tool
import trace_builder
from tool import ToolTest, coroscope

VIEWS = ("summary", "table", "awaits", "tasks", "requests", "path", "values", "streams", "resources", "executors", "ranges",
         "blocking", "locks", "check", "info")
PART = ("--from", "100us", "--to", "600us")


class Parts(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.service().write(self.folder / "trace.cst")

    def text(self, *arguments):
        done = coroscope(*arguments, cwd=self.folder)
        self.assert_success(done)
        return done.stdout

    def rows(self, *arguments):
        return json.loads(self.text(*arguments, "--json"))

    def test_each_view_says_that_it_shows_a_part(self):
        for view in VIEWS:
            with self.subTest(view=view):
                self.assertIn("Part: 100us to 600us of 10.0ms; times count from its start", self.text(view, self.trace, *PART))

    def test_the_parts_of_a_trace_add_up_to_the_whole(self):
        def running(*part):
            return sum(each["running_ns"] for each in self.rows("tasks", self.trace, *part))
        borders = ["0ns", "100us", "350us", "351us", "2ms", "10ms"]
        parts = [running("--from", first, "--to", last) for first, last in zip(borders, borders[1:])]
        self.assertEqual(sum(parts), running())

    def test_a_wrong_part_is_refused_with_the_reason(self):
        for part, code, reason in ((("--from", "3"), 2, '--from: .*is no time such as 1.5s'),
                                   (("--where", "label=x"), 2, '--where: .*is no condition such as name=db'),
                                   (("--from", "1s"), 1, "ends 10.0ms after its start, before the part begins"),
                                   (("--from", "2us", "--to", "1us"), 1, "no time lies between")):
            with self.subTest(part=part):
                done = coroscope("tasks", self.trace, *part)
                self.assertEqual((done.returncode, done.stdout), (code, ""))
                self.assertRegex(done.stderr, reason)

    def test_conditions_choose_work_by_name_and_attribute(self):
        acme = self.rows("tasks", self.trace, "--where", "attr:tenant=acme")
        every = self.rows("tasks", self.trace)
        self.assertEqual((acme[0]["count"], every[0]["count"]), (10, 20))
        names = {each["name"] for each in self.rows("table", self.trace, "--where", "name=pol*")["rows"]}
        self.assertEqual(names, {"poll"})
        self.assertIn("Only work that meets name=pol*, and the work below it", self.text("table", self.trace, "--where", "name=pol*"))

    def test_conditions_choose_marked_requests_for_commands_that_explain_requests(self):
        done = coroscope("why", self.trace, "--where", "name=x")
        self.assertEqual(done.returncode, 1)
        self.assertIn("has no marked request", done.stderr)
        marked = trace_builder.requests().write(self.folder / "marked.cst")
        done = coroscope("requests", marked, "--where", "name=nothing")
        self.assertIn("has no request that meets", done.stderr + done.stdout)

    def test_a_part_that_was_cut_out_gives_the_same_views(self):
        done = coroscope("cut", self.trace, *PART, "-o", "part.cst", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        for view in VIEWS:
            if view == "info":  # the file has another size
                continue
            with self.subTest(view=view):
                whole = self.text(view, "trace.cst", *PART, "--width", "100")
                self.assertEqual(self.text(view, "part.cst", "--width", "100").replace("part.cst", "trace.cst"), whole)

    def test_a_part_is_exported_to_every_format(self):
        for name in tool.export_formats():
            with self.subTest(format=name):
                done = coroscope("export", self.trace, "--to", name, "-o", self.folder / name, "--from", "100us", "--until", "600us")
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_cut_says_what_is_missing(self):
        self.assert_one_error(coroscope("cut", self.trace, "-o", "x"), 2, "cut: give --from, --to or both")
        self.assert_one_error(coroscope("cut", self.trace, "--from", "1us", "-o", self.trace), 2, "--output: would overwrite the trace")

    def test_percentiles_are_exact(self):
        rows = {each["name"]: each for each in self.rows("table", self.trace, "--percentiles")["rows"]}
        self.assertEqual([rows["poll"][each] for each in ("p50_wall_ns", "p99_wall_ns", "max_whole_ns")], [300] * 3)
        # request N takes N times 10 us, and 4.9 us more
        self.assertEqual([rows["handle"][each] for each in ("p50_wall_ns", "p90_wall_ns", "p99_wall_ns", "max_whole_ns")],
                         [104_900, 184_900, 204_900, 204_900])
        sorted_rows = self.rows("table", self.trace, "--sort-by", "p99")["rows"]
        self.assertEqual([each["name"] for each in sorted_rows], ["handle", "poll"])

    def test_one_task_is_shown_with_its_scopes(self):
        text = self.text("tasks", self.trace, "--task", "3", "--width", "120")
        self.assertIn("\nScope ", text)
        self.assertIn("handle", text)
        self.assertEqual([each["name"] for each in self.rows("tasks", self.trace, "--task", "3")["scopes"]], ["handle"])

    def test_times_that_are_unknown_are_null_in_tables(self):
        trace = trace_builder.Trace()
        spawned = trace.site(b"session", b"a.cpp", 1, trace_builder.KIND_COROUTINE)
        trace.thread(1, b"main", [trace_builder.task_record(trace_builder.SPAWN, 1000, 5, 0, spawned)])
        path = trace.write(self.folder / "spawned.cst")
        done = coroscope("export", path, "--to", "sqlite", "-o", self.folder / "spawned.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        with sqlite3.connect(self.folder / "spawned.db") as database:
            times = database.execute("SELECT running_ns, suspended_ns, queued_ns, waiting_ns, wall_ns FROM tasks").fetchall()
        self.assertEqual(times, [(None,) * 5])

    def test_format_characters_in_names_are_escaped(self):
        trace = trace_builder.Trace()
        site = trace.site("ab\u202ecd\u2028\u200b\U000e0041".encode())
        trace.thread(1, b"main", [trace_builder.scope(site, 100, 200)])
        text = self.text("table", trace.write(self.folder / "hostile.cst"))
        self.assertIn("ab\\u202ecd\\u2028\\u200b\\U000e0041", text)

    def test_wide_shows_whole_names(self):
        trace = trace_builder.Trace()
        name = b"n" * 150
        site, task = trace.site(name), trace.site(name, b"a.cpp", 1, trace_builder.KIND_COROUTINE)
        trace.thread(1, b"main", [trace_builder.scope(site, 100, 200),
                                  trace_builder.task_record(trace_builder.SPAWN, 1000, 5, 0, task, trace_builder.SPAWN_READY)])
        path = trace.write(self.folder / "long.cst")
        for view in ("table", "tasks", "tasks --tree"):
            self.assertIn(name.decode(), self.text(*view.split(), path, "--wide"))
            self.assertNotIn(name.decode(), self.text(*view.split(), path))


if __name__ == "__main__":
    tool.main()
