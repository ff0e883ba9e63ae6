#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of other profilers' traces, and of output by torch's rules."""

import csv
import io
import json

import tool
import trace_builder
from sample_traces import kineto
from tool import ToolTest, coroscope


class Foreign(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = self.folder / "step.pt.trace.json"
        self.trace.write_text(json.dumps(kineto()), encoding="utf-8")

    def rows(self, *arguments):
        done = coroscope("table", self.trace, "--format", "csv", *arguments)
        self.assert_success(done)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_csv_has_the_cpu_s_rows_with_self_and_device_times_in_nanoseconds(self):
        rows = {row["name"]: row for row in self.rows()}
        figures = {name: tuple(row[key] for key in ("category", "count", "total_ns", "self_ns", "device_total_ns",
                                                    "self_device_ns")) for name, row in rows.items()}
        self.assertEqual(figures, {
            "ProfilerStep*": ("user_annotation", "1", "100000", "50000", "20250", "0"),
            "aten::linear": ("cpu_op", "1", "50000", "20000", "20250", "0"),
            "aten::mm": ("cpu_op", "1", "30000", "24500", "20250", "20250"),
            "cudaLaunchKernel": ("runtime", "1", "5500", "5500", "0", "0"),
            "worker": ("cpu_op", "1", "5000", "5000", "0", "0")})

    def test_device_lists_kernels_in_four_columns(self):
        done = coroscope("table", self.trace, "--device", "--format", "csv")
        self.assert_success(done)
        self.assertEqual(done.stdout, "name,category,count,total_ns\ngemm,kernel,1,20250\n")

    def test_every_key_of_torch_and_its_older_names_sort(self):
        for key in ("cpu_time", "cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total",
                    "cuda_time", "cuda_time_total", "self_cuda_time_total", "xpu_time_total", "cuda_memory_usage",
                    "self_cuda_memory_usage", "privateuse1_time_total", "cpu_memory_usage", "self_cpu_memory_usage",
                    "device_memory_usage", "count", "flops"):
            self.rows("--sort-by", key)
        self.assertEqual(self.rows("--sort-by", "self_cuda_time_total")[0]["name"], "aten::mm")

    def test_groupings_of_torch_add_their_columns(self):
        self.assertEqual([row["input_shapes"] for row in self.rows("--group-by", "shapes") if row["name"] == "aten::mm"],
                         ["[[2, 3], [3, 4]]"])
        by_stack = {row["name"]: row["stack"] for row in self.rows("--group-by", "stack:1,shapes")}
        self.assertEqual(by_stack["aten::mm"], "inner.cpp:1")
        threads = {row["name"]: row["thread"] for row in self.rows("--group-by", "thread")}
        self.assertEqual(threads["worker"], "1/pool 1")

    def test_groupings_of_native_traces_are_refused_in_one_line(self):
        for by in ("line", "task", "attr:tenant"):
            done = coroscope("table", self.trace, "--group-by", by)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))

    def test_text_has_torch_s_columns_and_footer(self):
        done = coroscope("table", self.trace, "--top-level")
        self.assert_success(done)
        for wanted in ("Self CUDA %", "CUDA time avg", "Self CPU Mem", "2.00 KB", "top-level",
                       "Self CPU time total: 105.000us", "Self CUDA time total: 20.250us"):
            self.assertIn(wanted, done.stdout)
        self.assertNotIn("aten::mm", done.stdout)

    def test_csv_and_json_have_every_row_and_text_has_the_first_hundred(self):
        made = {"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": f"op {n}", "pid": 1, "tid": 1, "ts": n, "dur": 1}
                                for n in range(150)]}
        self.trace.write_text(json.dumps(made), encoding="utf-8")
        self.assertEqual(len(self.rows()), 150)
        self.assertEqual(len(self.rows("--limit", "7")), 7)
        text = coroscope("table", self.trace).stdout
        self.assertEqual(text.count("op "), 100)
        self.assertTrue(text.endswith("\n100 of 150 rows\n"), text[-200:])
        self.assertNotIn(" rows", coroscope("table", self.trace, "--limit", "150").stdout)
        self.assertNotIn(" rows", coroscope("table", self.trace, "--json").stdout)

    def test_an_odd_event_is_a_warning_and_no_damage(self):
        self.trace.write_text(json.dumps([{"ph": "B", "cat": "cpu_op", "name": "open", "pid": 1, "tid": 1, "ts": 1}]))
        text = coroscope("table", self.trace).stdout
        self.assertIn("Warnings while reading: 1 (first: events without an end", text)
        self.assertNotIn("amage", text)

    def test_a_kineto_export_reads_back_to_the_same_table(self):
        again = self.folder / "again.json"
        self.assert_success(coroscope("export", self.trace, "--to", "chrome", "-o", again))
        for arguments in ((), ("--device",), ("--group-by", "shapes,stack:2")):
            want = coroscope("table", self.trace, "--format", "csv", *arguments).stdout
            self.assertEqual(coroscope("table", again, "--format", "csv", *arguments).stdout, want)

    def of_others(self, *events):
        """Makes a trace with these events, of a profiler that is not torch's."""
        self.trace.write_text(json.dumps({"traceEvents": list(events)}), encoding="utf-8")

    def test_odd_events_are_left_out_with_a_warning_or_refused_on_request(self):
        self.of_others({"ph": "X", "name": None, "ts": 0, "dur": 9}, {"ph": "X", "name": "b", "ts": 2, "dur": 3})
        done = coroscope("table", self.trace, "--format", "csv")
        self.assertEqual((done.returncode, [row["name"] for row in csv.DictReader(io.StringIO(done.stdout))]), (0, ["b"]))
        self.assertIn('warning: odd events, left out, the first at byte 17 ("name" is no text): 1', done.stderr)
        for command in (("table",), ("export", "-o", "-")):
            self.assert_one_error(coroscope(*command, self.trace, "--strict"), 1, '.*"name" is no text .byte 17.')

    def test_an_export_keeps_arrows_arguments_and_metadata_of_other_profilers(self):
        made = [
            {"ph": "M", "name": "process_labels", "pid": 1, "tid": 1, "args": {"labels": "x"}},
            {"ph": "X", "cat": "c", "name": "sender", "pid": 1, "tid": 1, "ts": 0, "dur": 10,
             "args": {"name": "n", "stream": 7, "list": [1, {"a": 2}]}},
            {"ph": "s", "cat": "c", "name": "arrow", "pid": 1, "tid": 1, "ts": 1, "id": 1},
            {"ph": "t", "cat": "c", "name": "arrow", "pid": 1, "tid": 1, "ts": 2, "id": 1},
            {"ph": "f", "cat": "c", "name": "arrow", "pid": 1, "tid": 2, "ts": 20, "id": 1},
            {"ph": "X", "cat": "c", "name": "out", "pid": 1, "tid": 3, "ts": 30, "dur": 5, "bind_id": "0x1",
             "flow_out": True},
            {"ph": "B", "cat": "c", "name": "b", "pid": 1, "tid": 4, "ts": 40, "args": {"first": 1}},
            {"ph": "E", "pid": 1, "tid": 4, "ts": 44, "args": {"second": 2}}]
        self.of_others(*made)
        done = coroscope("export", self.trace, "-o", "-")
        self.assert_success(done)
        events = json.loads(done.stdout)["traceEvents"]
        by_name = {event["name"]: event for event in events if event["ph"] == "X"}
        self.assertEqual(by_name["sender"]["args"], made[1]["args"])
        self.assertEqual((by_name["out"]["bind_id"], by_name["out"]["flow_out"]), ("0x1", True))
        self.assertEqual(by_name["b"]["args"], {"first": 1, "second": 2})
        arrows = [(event["ph"], event["name"], event["ts"], "bp" in event) for event in events if event["ph"] in "stf"]
        self.assertEqual(arrows, [("s", "arrow", 1, False), ("t", "arrow", 2, False), ("f", "arrow", 20, False)])
        self.assertIn(("process_labels", {"labels": "x"}), [(event["name"], event.get("args")) for event in events])

    def test_an_export_counts_the_events_without_an_interval_that_it_leaves_out(self):
        self.of_others({"ph": "X", "name": "a", "ts": 0, "dur": 9}, {"ph": "C", "name": "c", "ts": 1, "args": {"v": 1}},
                       {"ph": "i", "name": "mark", "ts": 2})
        done = coroscope("export", self.trace, "-o", "-")
        self.assertEqual(done.returncode, 0)
        self.assertIn("events that are not intervals, left out: 2", done.stderr)

    def test_the_column_of_events_without_an_end_exists_only_if_there_are_some(self):
        self.of_others({"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 0},
                       {"ph": "X", "name": "whole", "pid": 1, "tid": 2, "ts": 0, "dur": 9})
        rows = {row["name"]: row for row in csv.DictReader(io.StringIO(
            coroscope("table", self.trace, "--format", "csv").stdout))}
        self.assertEqual({name: row["unfinished_count"] for name, row in rows.items()}, {"open": "1", "whole": "0"})
        self.assertIn("Without end", coroscope("table", self.trace).stdout)
        self.of_others({"ph": "X", "name": "whole", "ts": 0, "dur": 9})
        self.assertNotIn("unfinished_count", self.rows()[0])

    def test_a_table_counts_the_calls_that_torch_s_folding_removed(self):
        def events(category):
            return ({"ph": "X", "cat": category, "name": "f", "pid": 1, "tid": 1, "ts": 0, "dur": 9},
                    {"ph": "X", "cat": category, "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 3})
        self.of_others(*events("cpu_op"))
        self.assertIn("1 event counted as part of the enclosing event of the same name",
                      coroscope("table", self.trace).stdout)
        self.assertEqual(self.rows()[0]["count"], "1")
        self.of_others(*events("mine"))
        self.assertNotIn("counted as part", coroscope("table", self.trace).stdout)
        self.assertEqual(self.rows()[0]["count"], "2")

    def test_a_foreign_trace_is_not_exported_for_perfetto_which_opens_it_unchanged(self):
        target = self.folder / "kept"
        target.write_text("kept")
        self.assert_one_error(coroscope("export", self.trace, "--to", "perfetto", "-o", target), 1,
                              rf"{self.trace}: is not a native trace.*use --to chrome, which Perfetto opens, too")
        self.assertEqual(target.read_text(), "kept")

    def test_the_exports_of_torch_are_available(self):
        graph = json.loads(coroscope("export", self.trace, "--to", "execution-graph", "-o", "-").stdout)
        self.assertIn("aten::mm", [node["name"] for node in graph["nodes"]])
        timeline = json.loads(coroscope("export", self.trace, "--to", "memory-timeline", "-o", "-").stdout)
        self.assertEqual(timeline[:2], [[30], [[2048]]])
        stacks = coroscope("export", self.trace, "--to", "stacks", "-o", "-")
        self.assert_success(stacks)
        self.assertEqual(stacks.stdout, "outer.cpp:2;inner.cpp:1 24\n")
        none = coroscope("export", self.trace, "--to", "stacks", "--metric", "self_cuda_time_total", "-o", "-")
        self.assert_success(none)
        self.assertEqual(none.stdout, "outer.cpp:2;inner.cpp:1 20\n")
        done = coroscope("export", self.trace, "--to", "stacks", "--metric", "colour", "-o", "-")
        self.assert_one_error(done, 2, r'--metric: no stacks by "colour"; one of self_cpu_time_total.*')

    def test_a_native_trace_is_read_by_torch_s_rules_on_request(self):
        native = trace_builder.service().write(self.folder / "service.cst")
        done = coroscope("table", native, "--torch", "--format", "csv")
        self.assert_success(done)
        handle = next(row for row in csv.DictReader(io.StringIO(done.stdout)) if row["name"] == "handle")
        self.assertEqual((handle["category"], handle["self_ns"]), ("cpu_op", "0"))
        self.assertEqual(handle["total_ns"], handle["wall_ns"])
        exported = self.folder / "native.json"
        self.assert_success(coroscope("export", native, "--torch", "-o", exported))
        again = coroscope("table", exported, "--format", "csv")
        self.assertEqual([row.split(",")[:5] for row in again.stdout.splitlines()],
                         [row.split(",")[:5] for row in done.stdout.splitlines()])

    def test_figures_that_torch_s_rules_could_not_count_are_a_warning(self):
        trace = trace_builder.Trace()
        trace.asked_for = trace_builder.FLOPS
        trace.thread(1, b"main", [trace_builder.scope(trace.site(b"mm"), 1_000, 2_000)])
        done = coroscope("table", "--torch", trace.write(self.folder / "flops.cst"))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r'\Acoroscope: .*: warning: FLOPs of "mm": shapes or values .*\n\Z')

    def test_native_traces_group_by_task_and_thread(self):
        native = trace_builder.service().write(self.folder / "service.cst")
        done = coroscope("table", native, "--group-by", "task", "--format", "csv")
        self.assert_success(done)
        rows = [row for row in csv.DictReader(io.StringIO(done.stdout)) if row["name"] == "handle"]
        self.assertEqual(len(rows), 20)
        self.assertIn("session (3)", [row["task"] for row in rows])
        self.assertIn("worker", coroscope("table", native, "--group-by", "thread").stdout)


if __name__ == "__main__":
    tool.main()
