#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that read a trace: what they print, and in which form."""

import json

import tool
import trace_builder
from sample_traces import PRINTING, DataTest
from tool import coroscope


class Content(DataTest):
    def test_table_adds_up_running_suspended_queued_and_waiting(self):
        done = coroscope("table", self.trace, "--format", "csv")
        self.assertTrue(done.stdout.startswith(
            "name,category,count,total_ns,self_ns,suspended_ns,queued_ns,waiting_ns,wall_ns,"))
        rows = {row["name"]: row for row in self.rows("table")}
        handle = rows["handle"]
        self.assertEqual(handle["category"], "http")
        self.assertEqual(int(handle["count"]), 20)
        self.assertEqual(int(handle["suspended_ns"]), sum(n * 10_000 for n in range(1, 21)))
        self.assertEqual(int(handle["queued_ns"]), 20 * 1_000)
        self.assertEqual(int(handle["total_ns"]), 20 * (1_400 + 2_500))
        self.assertEqual(int(rows["poll"]["total_ns"]), 20 * 300)
        for row in rows.values():
            parts = ("total_ns", "suspended_ns", "queued_ns", "waiting_ns")
            self.assertEqual(int(row["wall_ns"]), sum(int(row[part]) for part in parts))

    def test_table_has_its_options(self):
        done = coroscope("table", self.trace, "--sort-by", "count", "--limit", "1", "--time-unit", "us",
                         "--header", "before", "--top-level")
        self.assert_success(done)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], "^=+$")
        self.assertEqual(lines[1], "before")
        self.assertIn("top-level", lines[3])
        self.assertEqual(sum("us " in line for line in lines[4:]), 1)
        self.assertNotIn("ms", done.stdout.replace("statistics", ""))

    def test_table_by_line_says_where_each_scope_stands(self):
        rows = self.rows("table", "--group-by", "line")
        self.assertIn("src/server.cpp:12", [row["place"] for row in rows])

    def test_table_by_attribute_tells_its_values_apart(self):
        rows = self.rows("table", "--group-by", "attr:tenant")
        self.assertEqual({(row["name"], row["attr:tenant"]): int(row["count"]) for row in rows},
                         {("handle", "acme"): 10, ("handle", "initech"): 10, ("poll", ""): 20})
        values = [row["attribute"] for row in self.data("table", "--group-by", "attr:tenant")["rows"]]
        self.assertCountEqual(values, ["acme", "initech", None])
        text = coroscope("table", self.trace, "--group-by", "attr:tenant").stdout
        self.assertIn("tenant", text)
        self.assertIn("initech", text)

    def test_an_attribute_that_nothing_carries_makes_one_row_of_each_name(self):
        rows = self.rows("table", "--group-by", "attr:color")
        self.assertEqual([row["attr:color"] for row in rows], ["", ""])

    def test_a_grouping_that_is_none_is_refused_in_one_line(self):
        for wrong in ("attr:", "tenant"):
            done = coroscope("table", self.trace, "--group-by", wrong)
            self.assertEqual(done.returncode, 2)
            self.assertIn("one of name, line, attr:KEY", done.stderr)

    def test_table_is_sorted_by_what_is_asked(self):
        for key in ("wall", "suspended", "self_cpu_time_total", "count"):
            column = {"wall": "wall_ns", "suspended": "suspended_ns", "self_cpu_time_total": "self_ns"}.get(key, key)
            figures = [int(row[column]) for row in self.rows("table", "--sort-by", key)]
            self.assertEqual(figures, sorted(figures, reverse=True))

    def test_awaits_name_site_scope_and_place(self):
        row = self.rows("awaits")[0]
        self.assertEqual((row["name"], row["scope"], row["place"], row["count"]),
                         ("db.query", "handle", "src/store.cpp:42", "20"))
        self.assertEqual(int(row["max_ns"]), 201_000)

    def test_streams_tell_first_items_and_gaps_by_label(self):
        self.trace = trace_builder.streams().write(self.folder / "streams.cst")
        rows, pages = self.rows("streams")
        self.assertEqual((rows["name"], rows["count"], rows["items"], rows["unfinished"]), ("rows", "2", "5", "1"))
        self.assertEqual((rows["first_item_p50_ns"], rows["first_item_max_ns"]), ("1000", "3000"))
        self.assertEqual((rows["gap_p50_ns"], rows["gap_p95_ns"], rows["gap_max_ns"]), ("2000", "5000", "5000"))
        self.assertEqual((pages["name"], pages["items"], pages["gap_p50_ns"]), ("pages", "0", ""))
        self.assertIsNone(self.data("streams")[1]["first_item_p50_ns"])
        text = coroscope("streams", self.trace, "--sort-by", "items").stdout
        self.assertIn("Ranges that had not ended when the session did: 1", text)
        self.assertLess(text.index("rows"), text.index("pages"))

    def test_without_streams_a_sentence_says_so(self):
        done = coroscope("streams", self.trace)
        self.assert_success(done)
        self.assertEqual(done.stdout, "no item stream was recorded; coroscope table shows all ranges\n")
        self.assertEqual(self.rows("streams"), [])
        self.assertEqual(self.data("streams"), [])

    def test_the_table_of_ranges_outside_tasks_has_their_time(self):
        text = coroscope("table", trace_builder.streams().write(self.folder / "ranges.cst")).stdout
        heading, row = (next(line.split() for line in text.splitlines() if line.split()[:1] == [first]) for first in ("Name", "rows"))
        self.assertIn("Waiting", heading)
        self.assertEqual(row[-3:], ["9.997ms", "9.997ms", "2"])  # waiting, wall: 7 us and what had not ended

    def test_chains_lead_from_the_spawn_to_the_await(self):
        self.assertEqual(self.rows("awaits", "--chains")[0]["chain"], "session > db.query")

    def test_tasks_have_percentiles_by_spawn_site(self):
        row = self.rows("tasks")[0]
        self.assertEqual((row["name"], row["count"], row["states"]), ("session", "20", "20 finished"))
        # 500 ns until the first resume belong to the wall only where the first wake was seen.
        self.assertGreaterEqual(int(row["max_ns"]), 205_500)
        self.assertLessEqual(int(row["p50_ns"]), int(row["p99_ns"]))

    def test_the_tree_has_every_task(self):
        self.assertEqual([int(row["task"]) for row in self.rows("tasks", "--tree")], list(range(1, 21)))

    def test_one_task_has_its_awaits_and_slices(self):
        task = self.data("tasks", "--task", "3")
        self.assertEqual(task["task"], 3)
        self.assertEqual(len(task["awaits"]), 1)
        self.assertEqual(len(task["slices"]), 2)
        self.assertEqual(task["awaits"][0]["suspended_ns"], 30_000)

    def test_a_key_that_one_task_has_not_is_refused_in_every_form(self):
        for form in ("text", "csv", "json"):
            done = coroscope("tasks", self.trace, "--task", "3", "--sort-by", "bogus", "--format", form)
            self.assert_one_error(done, 2, r'--sort-by: cannot sort by "bogus"; one of .*suspended_ns.*')

    def test_a_table_s_unknown_key_is_answered_with_all_there_are(self):
        self.assert_one_error(coroscope("table", self.trace, "--sort-by", "bogus"), 2, r"--sort-by: .*, wall, none")

    def test_info_tells_what_the_trace_holds(self):
        info = self.data("info")
        self.assertEqual(info["process"], "service")
        self.assertEqual((info["tasks"], info["awaits"], info["scopes"]), (20, 20, 40))
        self.assertEqual([thread["name"] for thread in info["threads"]], ["main", "worker"])

    def test_text_and_json_are_there_for_every_command(self):
        for arguments in PRINTING:
            with self.subTest(arguments=arguments):
                self.data(*arguments)
                done = coroscope(*arguments, self.trace)
                self.assert_success(done)
                self.assertTrue(done.stdout)

    def test_losses_stand_in_every_text_view(self):
        made = trace_builder.service()
        made.thread(3, b"busy", [], dropped=7)
        lossy = made.write(self.folder / "lossy.cst")
        for arguments in PRINTING:
            with self.subTest(arguments=arguments):
                self.assertIn("Lost records: 7 dropped", coroscope(*arguments, lossy).stdout)

    def test_hostile_names_reach_no_terminal_and_stay_valid_json(self):
        made = trace_builder.Trace(process=b"\xff\x1b[31m")
        site = made.site(b'a"b\\c\nd\x01\x1b[31m\xff' + b"n" * 4000, b"x\ny.cpp", 1)
        made.thread(1, b"\x1b]0;t\x07", [trace_builder.scope(site, 0, 500)])
        path = made.write(self.folder / "hostile.cst")
        for arguments in PRINTING:
            if "--task" in arguments:
                continue
            done = coroscope(*arguments, path)
            self.assertNotIn("\x1b", done.stdout)
            json.loads(coroscope(*arguments, path, "--json").stdout)
        json.loads(coroscope("export", path, "-o", "-").stdout)


if __name__ == "__main__":
    tool.main()
