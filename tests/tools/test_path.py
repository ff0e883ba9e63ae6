#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope path, and of the blame of awaits."""

import csv
import io
import json

import tool
import trace_builder
from tool import ToolTest, coroscope


class Path(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.service().write(self.folder / "service.cst")

    def path(self, *options):
        done = coroscope("path", self.trace, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_the_slowest_request_is_explained_by_its_largest_part(self):
        lines = self.path().splitlines()
        heading = "critical path of request 20, task 20 (session), from "
        self.assertTrue(lines[0].startswith(heading), lines[0])
        first_part = lines[5].split()
        self.assertEqual(first_part[2:], ["1", "suspended", "db.query", "src/store.cpp:42", "-"])

    def test_the_segments_of_json_follow_one_another_and_add_up(self):
        path = json.loads(self.path("--json"))
        self.assertEqual((path["name"], path["task"], path["request"]), ("session", 20, 20))
        now = path["start_ns"]
        for segment in path["segments"]:
            self.assertEqual(segment["start_ns"], now)
            now += segment["ns"]
        self.assertEqual(now, path["start_ns"] + path["wall_ns"])

    def test_the_path_of_a_task_that_was_asked_for_has_no_number_of_a_request(self):
        heading = self.path("--task", "20").splitlines()[0]
        self.assertTrue(heading.startswith("critical path of task 20 (session), from "), heading)
        self.assertIsNone(json.loads(self.path("--task", "20", "--json"))["request"])

    def test_each_segment_has_its_place_task_and_thread(self):
        segments = json.loads(self.path("--task", "2", "--json"))["segments"]
        self.assertEqual([segment["kind"] for segment in segments], ["running"] * 2 + ["suspended", "queued"] + ["running"] * 2)
        self.assertEqual({key: segments[2][key] for key in ("label", "file", "line", "task", "thread", "blame")},
                         {"label": "db.query", "file": "../src/store.cpp", "line": 42, "task": 2, "thread": None, "blame": []})
        self.assertEqual((segments[1]["label"], segments[1]["thread"]), ("handle", 1))

    def test_the_wait_for_a_thread_names_the_work_on_it(self):
        queued = [segment for segment in json.loads(self.path("--json"))["segments"] if segment["kind"] == "queued"]
        self.assertEqual([segment["blame"] for segment in queued],
                         [[{"task": None, "label": None, "thread": 1, "ns": 1000, "charged_ns": 1000}]])

    def test_csv_has_one_row_per_segment(self):
        rows = list(csv.DictReader(io.StringIO(self.path("--task", "2", "--format", "csv"))))
        self.assertEqual([row["kind"] for row in rows][2:4], ["suspended", "queued"])
        self.assertEqual(rows[3]["cause"], "no task ran for 1.0 us, on thread main (1)")

    def test_the_paths_of_a_type_are_a_tree_with_percentiles_side_by_side(self):
        lines = self.path("--type", "session").splitlines()
        self.assertEqual(lines[0], "critical paths of 20 requests session")
        self.assertEqual(lines[3].split()[:7], ["Mean", "Share", "%", "Own", "p50", "p95", "p99"])
        row = next(line for line in lines if "db.query" in line and "suspended" in line).split()
        self.assertEqual((row[3:6], row[-1]), (["100.000us", "190.000us", "200.000us"], "src/store.cpp:42"))

    def test_csv_and_json_of_a_type_have_every_node(self):
        rows = list(csv.DictReader(io.StringIO(self.path("--type", "session", "--format", "csv"))))
        tree = json.loads(self.path("--type", "session", "--json"))
        self.assertEqual([row["label"] for row in rows], [node["label"] for node in tree["nodes"]])
        self.assertEqual(sum(node["own_ns"] for node in tree["nodes"]), tree["wall_ns"])
        self.assertEqual([group["percentile"] for group in tree["groups"]], [50, 95, 99])
        self.assertEqual(tree["groups"][2]["requests"], [20])

    def test_an_unknown_type_is_one_line(self):
        done = coroscope("path", self.trace, "--type", "nothing")
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (1, "", 1))
        self.assertIn("no whole request of the type nothing that was recorded in full; coroscope requests lists "
                      "the types", done.stderr)

    def test_a_type_is_not_given_with_a_request(self):
        self.assertEqual(coroscope("path", self.trace, "--type", "x", "--request", "1").returncode, 2)

    def test_blame_names_the_waiting_place_and_the_one_in_its_way(self):
        done = coroscope("awaits", self.trace, "--blame", "--format", "csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        first = {"waiting": "db.query", "waiting_place": "src/store.cpp:42", "because": "woke it", "label": "poll",
                 "count": "20"}
        self.assertEqual({key: rows[0][key] for key in first}, first)
        awaits = json.loads(coroscope("awaits", self.trace, "--json").stdout)
        waits = [row for row in rows if row["waiting"] == "db.query"]
        self.assertEqual(sum(int(row["total_ns"]) for row in waits), awaits[0]["total_ns"])

    def test_blame_and_chains_exclude_each_other(self):
        self.assertEqual(coroscope("awaits", self.trace, "--blame", "--chains").returncode, 2)

    def test_a_limit_is_said(self):
        self.assertIn("\n2 of 6 rows; --limit -1 shows all\n", self.path("--task", "2", "--limit", "2"))

    def test_without_a_limit_text_has_sixty_rows_and_for_minus_one_all(self):
        trace = trace_builder.Trace()
        step = trace.site(b"step", b"main.cpp", 1)
        spawned = trace.site(b"session", b"main.cpp", 2, trace_builder.KIND_COROUTINE)
        steps = [trace_builder.scope(step, 1000 + 100 * each, 1050 + 100 * each) for each in range(80)]
        trace.thread(1, b"main", [trace_builder.task_record(trace_builder.SPAWN, 900, 1, 0, spawned),
                                  trace_builder.task_record(trace_builder.RESUME, 950, 1), *steps,
                                  trace_builder.task_record(trace_builder.FINISH, 9500, 1)])
        self.trace = trace.write(self.folder / "steps.cst")
        self.assertRegex(self.path("--task", "1"), r"\n60 of \d+ rows; --limit -1 shows all\n")
        every = self.path("--task", "1", "--limit", "-1")
        self.assertNotIn(" rows; ", every)
        self.assertEqual(every.count(" step "), 81)  # 80 segments and the sum
        self.assertEqual(len(self.path("--task", "1", "--format", "csv").splitlines()),
                         1 + len(json.loads(self.path("--task", "1", "--json"))["segments"]))

    def test_a_task_that_does_not_exist_is_one_line(self):
        done = coroscope("path", self.trace, "--task", "99")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("there is no task 99", done.stderr)

    def test_a_trace_without_tasks_has_no_path(self):
        trace = trace_builder.Trace()
        site = trace.site(b"main", b"main.cpp", 1)
        trace.thread(1, b"main", [trace_builder.scope(site, 1000, 2000)])
        done = coroscope("path", trace.write(self.folder / "scopes.cst"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no task has ended", done.stderr)

    def test_a_sort_key_that_does_not_exist_is_refused(self):
        done = coroscope("path", self.trace, "--sort-by", "nothing")
        self.assertEqual((done.returncode, done.stdout), (2, ""))


if __name__ == "__main__":
    tool.main()
