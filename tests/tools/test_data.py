#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that read a trace: what they print, in which form, and how they fail."""

import csv
import gzip
import io
import json
import os
import pty
import subprocess

import tool
import trace_builder
from tool import TOOL, ToolTest, coroscope

PRINTING = [("table",), ("awaits",), ("awaits", "--chains"), ("tasks",), ("tasks", "--tree"),
            ("tasks", "--task", "3"), ("streams",), ("ranges",), ("info",)]


class DataTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.service().write(self.folder / "service.cst")

    def data(self, *arguments):
        done = coroscope(*arguments, self.trace, "--json")
        self.assert_success(done)
        return json.loads(done.stdout)

    def rows(self, *arguments):
        done = coroscope(*arguments, self.trace, "--format", "csv")
        self.assert_success(done)
        return list(csv.DictReader(io.StringIO(done.stdout)))


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


class Export(DataTest):
    def test_the_export_is_valid_and_holds_everything(self):
        target = self.folder / "out.json"
        self.assert_success(coroscope("export", self.trace, "--to", "chrome", "-o", target))
        document = json.loads(target.read_text(encoding="utf-8"))
        events = document["traceEvents"]
        self.assertEqual(sum(event.get("cat") == "slice" for event in events), 40)
        self.assertEqual(sum(event.get("cat") == "task" for event in events), 20)
        out = sorted(event["bind_id"] for event in events if event.get("flow_out"))
        into = sorted(event["bind_id"] for event in events if event.get("flow_in"))
        self.assertEqual(out, into)
        self.assertEqual(len(out), 40)

    def test_python_s_own_tool_takes_it(self):
        target = self.folder / "out.json"
        self.assert_success(coroscope("export", self.trace, "-o", target))
        subprocess.run(["python3", "-m", "json.tool", target], check=True, stdout=subprocess.DEVNULL)

    def test_no_two_complete_events_of_a_lane_overlap(self):
        events = json.loads(coroscope("export", self.trace, "-o", "-").stdout)["traceEvents"]
        lanes = {}
        for event in events:
            if event["ph"] == "X":
                start = round(event["ts"] * 1000)
                lanes.setdefault((event["pid"], event["tid"]), []).append((start, -(start + round(event["dur"] * 1000))))
        for spans in lanes.values():
            ends = []
            for start, end in sorted(spans):
                while ends and ends[-1] <= start:
                    ends.pop()
                self.assertTrue(not ends or -end <= ends[-1])
                ends.append(-end)

    def test_a_path_that_cannot_be_written_is_named(self):
        target = self.folder / "none" / "out.json"
        self.assert_one_error(coroscope("export", self.trace, "-o", target), 1,
                              rf"{target}: No such file or directory")

    def test_a_full_disk_is_an_error(self):
        self.assert_one_error(coroscope("export", self.trace, "-o", "/dev/full"), 1,
                              r"/dev/full: No space left on device")

    def test_a_wrong_metric_is_refused_before_anything_is_written(self):
        target = self.folder / "stacks"
        target.write_text("kept")
        for to in ("stacks", "chrome"):
            done = coroscope("export", self.trace, "--to", to, "--metric", "colour", "-o", target)
            self.assert_one_error(done, 2, r'--metric: no stacks by "colour"; one of self_cpu_time_total.*')
        self.assertEqual(target.read_text(), "kept")

    def test_what_stands_at_the_target_stays_where_the_trace_cannot_be_read(self):
        target = self.folder / "out.json"
        target.write_text("kept")
        self.assertEqual(coroscope("export", self.folder / "none.cst", "-o", target).returncode, 1)
        self.assertEqual(target.read_text(), "kept")

    def test_an_export_of_nothing_is_an_empty_file(self):
        target = self.folder / "stacks"
        target.write_text("old")
        done = coroscope("export", self.trace, "--to", "stacks", "-o", target)
        self.assertEqual((done.returncode, target.read_text()), (0, ""))

    def test_the_trace_itself_is_never_overwritten(self):
        before = self.trace.read_bytes()
        self.assertEqual(coroscope("export", self.trace, "-o", self.trace).returncode, 2)
        self.assertEqual(self.trace.read_bytes(), before)


def kineto():
    """A step of two operations on one thread, a kernel, an async call, memory, and what averages leave out."""
    def span(name, cat, ts, dur, tid=1, pid=1, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
    return {"schemaVersion": 1, "traceEvents": [
        span("ProfilerStep#4", "user_annotation", 0, 100),
        span("aten::linear", "cpu_op", 10, 50, **{"External id": 3, "Input Dims": [[2, 3], []]}),
        span("aten::mm", "cpu_op", 20, 30, **{"External id": 4, "Input Dims": [[2, 3], [3, 4]],
                                              "Call stack": "inner.cpp:1;outer.cpp:2"}),
        span("cudaLaunchKernel", "cuda_runtime", 25, 5.5, correlation=9, **{"External id": 4}),
        span("gemm", "kernel", 40, 20.25, pid=0, tid=7, correlation=9, device=0, stream=7, **{"External id": 4}),
        span("frame.py(1): f", "python_function", 0, 90),
        span("worker", "cpu_op", 0, 5, tid="pool 1"),
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 30, "s": "t",
         "args": {"Device Type": 0, "Device Id": -1, "Addr": 64, "Bytes": 2048}},
    ]}


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

    def test_every_key_of_torch_sorts_the_older_names_too(self):
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

    def test_programs_get_every_row_and_people_the_first_hundred(self):
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

    def test_what_is_odd_and_no_damage_is_not_called_damage(self):
        self.trace.write_text(json.dumps([{"ph": "B", "cat": "cpu_op", "name": "open", "pid": 1, "tid": 1, "ts": 1}]))
        text = coroscope("table", self.trace).stdout
        self.assertIn("Warnings while reading: 1 (first: 1 events have no end", text)
        self.assertNotIn("amage", text)

    def test_a_kineto_export_reads_back_to_the_same_table(self):
        again = self.folder / "again.json"
        self.assert_success(coroscope("export", self.trace, "--to", "chrome", "-o", again))
        for arguments in ((), ("--device",), ("--group-by", "shapes,stack:2")):
            want = coroscope("table", self.trace, "--format", "csv", *arguments).stdout
            self.assertEqual(coroscope("table", again, "--format", "csv", *arguments).stdout, want)

    def test_the_exports_of_torch_are_there(self):
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

    def test_a_native_trace_is_read_by_torch_s_rule_where_that_is_asked(self):
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

    def test_what_torch_s_rules_could_not_count_is_warned_of(self):
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


class Failure(DataTest):
    def test_a_file_that_is_not_there_is_named(self):
        for command in ("table", "awaits", "tasks", "info"):
            with self.subTest(command=command):
                self.assert_one_error(coroscope(command, self.folder / "none.cst"), 1, r".*none\.cst: .+")

    def test_a_file_that_is_no_trace_is_refused(self):
        for content in (b"", b"{}", b"\x7fELF" + bytes(5000), b"x" * 5000):
            path = self.folder / "other"
            path.write_bytes(content)
            self.assert_one_error(coroscope("table", path), 1, rf"{path}: .+( \(byte \d+\))?")

    def test_content_counts_and_not_the_name(self):
        path = self.folder / "trace.png"
        path.write_bytes(self.trace.read_bytes())
        self.assert_success(coroscope("table", path))

    def test_pipes_are_read_once_and_as_what_is_in_them(self):
        foreign = self.folder / "kineto.json"
        foreign.write_text(json.dumps(kineto()))
        for path in (self.trace, foreign):
            for arguments in (("table", "--format", "csv"), ("table", "--torch", "--json"), ("export", "-o", "-")):
                with self.subTest(path=path, arguments=arguments):
                    want = coroscope(arguments[0], path, *arguments[1:])
                    for content in (path.read_bytes(), gzip.compress(path.read_bytes())):
                        done = subprocess.run([TOOL, arguments[0], "/dev/stdin", *arguments[1:]], input=content,
                                              capture_output=True, check=False, timeout=60)
                        self.assertEqual((done.returncode, done.stderr), (0, b""))
                        self.assertEqual(done.stdout.decode(), want.stdout)

    def test_a_trace_that_gzip_compressed_is_what_it_was(self):
        packed = self.folder / "trace.gz"
        packed.write_bytes(gzip.compress(self.trace.read_bytes()))
        for command in ("table", "awaits", "tasks", "streams", "ranges", "info"):
            with self.subTest(command=command):
                done = coroscope(command, packed, "--json")
                self.assert_success(done)
                self.assertEqual(done.stdout, coroscope(command, self.trace, "--json").stdout)

    def test_what_is_no_trace_is_refused_from_a_pipe_and_compressed_too(self):
        path = self.folder / "other.gz"
        path.write_bytes(gzip.compress(b"{}"))
        self.assert_one_error(coroscope("awaits", path), 1, rf"{path}: is not a Coroscope trace \(byte 0\)")
        done = subprocess.run([TOOL, "awaits", "/dev/stdin"], input="{}", capture_output=True, encoding="utf-8",
                              check=False, timeout=60)
        self.assert_one_error(done, 1, r"/dev/stdin: is not a Coroscope trace \(byte 0\)")

    def test_damage_is_a_warning_on_standard_error_and_a_note_in_the_view(self):
        data = bytearray(trace_builder.service().data())
        data[4096 + 65536:4096 + 65536 + 4] = b"XXXX"  # the first chunk of records
        path = self.folder / "damaged.cst"
        path.write_bytes(data)
        done = coroscope("table", path)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rf"(?m)^coroscope: {path}: warning: .+$")
        self.assertIn("amage", done.stdout)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("coroscope: "))

    def test_a_cut_trace_still_reads(self):
        data = trace_builder.service().data()
        path = self.folder / "cut.cst"
        for length in (4096, 4100, 4096 + 65536, 4096 + 65536 + 1000, len(data) - 1):
            path.write_bytes(data[:length])
            done = coroscope("info", path)
            self.assertIn(done.returncode, (0, 1))
            self.assertFalse(done.returncode == 1 and done.stderr.count("\n") != 1, done)

    def test_no_such_task_is_a_failure(self):
        self.assert_one_error(coroscope("tasks", self.trace, "--task", "999"), 1, r".*service\.cst: no task 999")

    def test_wrong_usage_exits_with_2_and_one_line(self):
        for arguments in ((), ("nonsense",), ("table",), ("table", self.trace, "--format", "xml"),
                          ("table", self.trace, "--limit", "many"), ("table", self.trace, "--limit", "-2"),
                          ("table", self.trace, "--sort-by", "colour"), ("awaits", self.trace, "--sort-by", "colour"),
                          ("table", self.trace, "--json", "--format", "csv"), ("table", self.trace, "--time-unit", "h"),
                          ("tasks", self.trace, "--tree", "--task", "1"), ("export", self.trace),
                          ("export", self.trace, "--to", "paper", "-o", "x"), ("info", self.trace, "extra"), ("run",)):
            with self.subTest(arguments=arguments):
                self.assert_one_error(coroscope(*arguments), 2, r".+")

    def test_every_command_has_help_with_an_example(self):
        for command in ("run", "table", "awaits", "tasks", "info", "export"):
            done = coroscope(command, "--help")
            self.assert_success(done)
            self.assertIn(f"Example:\n  coroscope {command} ", done.stdout)
        self.assertIn("Example:", coroscope("--help").stdout)
        self.assertRegex(coroscope("--version").stdout, r"^\d+\.\d+\.\d+\n$")


class Streams(DataTest):
    def test_a_reader_that_leaves_is_no_error(self):
        for arguments in (("tasks", "--tree"), ("export", "-o", "-")):
            command = f'"{TOOL}" {arguments[0]} "{self.trace}" {" ".join(arguments[1:])} | head -n 1; echo "${{PIPESTATUS[0]}}"'
            done = subprocess.run(["bash", "-c", command], capture_output=True, encoding="utf-8", check=False)
            self.assertEqual(done.stderr, "")
            self.assertEqual(done.stdout.splitlines()[-1], "0")

    def test_a_closed_pipe_is_no_error_even_at_the_first_byte(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([TOOL, "table", self.trace], stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_full_disk_on_standard_output_is_an_error(self):
        for arguments in PRINTING + [("export", "-o", "-")]:
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                done = subprocess.run([TOOL, *arguments, self.trace], stdout=full, stderr=subprocess.PIPE,
                                      encoding="utf-8", check=False)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr, "coroscope: standard output: No space left on device\n")

    def on_terminal(self, **variables):
        """What the command prints to a terminal."""
        ours, theirs = pty.openpty()
        done = subprocess.Popen([TOOL, "table", self.trace], stdout=theirs, stderr=subprocess.DEVNULL,
                                env=tool.environment(TERM="xterm", **variables))
        os.close(theirs)
        output = b""
        try:
            while part := os.read(ours, 65536):
                output += part
        except OSError:  # how Linux ends a terminal
            pass
        os.close(ours)
        done.wait(timeout=60)
        return output

    def test_colour_is_for_terminals_that_want_it(self):
        self.assertIn(b"\x1b[", self.on_terminal())
        self.assertNotIn(b"\x1b[", self.on_terminal(NO_COLOR="1"))
        self.assertNotIn("\x1b[", coroscope("table", self.trace, env=tool.environment(TERM="xterm")).stdout)

    def test_nothing_but_errors_is_on_standard_error_when_it_is_no_terminal(self):
        self.assert_success(coroscope("export", self.trace, "-o", self.folder / "out.json"))


if __name__ == "__main__":
    tool.main()
