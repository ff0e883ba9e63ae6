#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that read a trace: what they print, in which form, and how they fail."""

import csv
import io
import json
import os
import pty
import subprocess

import tool
import trace_builder
from tool import TOOL, ToolTest, coroscope

PRINTING = [("table",), ("awaits",), ("awaits", "--chains"), ("tasks",), ("tasks", "--tree"),
            ("tasks", "--task", "3"), ("streams",), ("info",)]


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

    def test_the_trace_itself_is_never_overwritten(self):
        before = self.trace.read_bytes()
        self.assertEqual(coroscope("export", self.trace, "-o", self.trace).returncode, 2)
        self.assertEqual(self.trace.read_bytes(), before)


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
