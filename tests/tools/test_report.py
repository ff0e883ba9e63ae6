#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `coroscope report`: the data in the page, and the command."""

import json
import os

import report_data
import tool
import trace_builder
from tool import RECORD, RunTest, ToolTest, coroscope
from trace_builder import KIND_REQUEST, Trace, attribute, request_fact, scope

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028<!--&quot;"
NAMES_OF_TABLES = ("awaits", "executors", "locks", "resources", "blocking", "tasks", "values", "streams")


def hostile_trace():
    """A trace whose every name tries to leave its element."""
    name = HOSTILE.encode()
    trace = Trace(process=HOSTILE[:20].encode())
    site = trace.site(name, name, 3, KIND_REQUEST, category=name)
    records = [attribute(1, name[:40], name)]
    for start in (1_000, 3_000, 5_000, 7_000, 9_000, 11_000):
        records += [request_fact(site, start), scope(site, start, start + 1_000 + start // 10)]
    trace.thread(1, name[:24], records)
    return trace


class Report(ToolTest):
    def write(self, trace, name="trace.cst"):
        return trace.write(self.folder / name)

    def report(self, trace, *arguments):
        target = self.folder / "report.html"
        self.assert_success(coroscope("report", trace, *arguments, "-o", target, cwd=self.folder))
        return target

    def data(self, trace, *arguments):
        return report_data.read_report(self.report(trace, *arguments))

    def json_of(self, command, trace, *arguments):
        done = coroscope(command, trace, "--json", *arguments)
        self.assert_success(done)
        return json.loads(done.stdout)

    def assert_equal_answers(self, trace):
        summary = self.data(trace)["summary"]
        self.assertEqual(summary["info"], self.json_of("info", trace))
        self.assertEqual(summary["findings"], self.json_of("check", trace))
        table = self.json_of("table", trace)
        self.assertEqual(summary["tables"]["scopes"]["rows"], table["rows"])
        self.assertEqual(summary["tables"]["scopes"]["total_ns"], table["self_cpu_time_total_ns"])
        for name in NAMES_OF_TABLES:
            self.assertEqual(summary["tables"][name]["rows"], self.json_of(name, trace), name)
        self.assertEqual(summary["tables"]["chains"]["rows"], self.json_of("awaits", trace, "--chains"))
        self.assertEqual(summary["tables"]["blame"]["rows"], self.json_of("awaits", trace, "--blame"))
        self.assert_equal_types(summary, trace)
        for each in summary["paths"]:
            self.assertEqual(each, self.json_of("path", trace, "--type", each["name"]))
        for each in summary["why"]:
            self.assertEqual(each, self.json_of("why", trace, "--type", each["name"]))
        return summary

    def assert_equal_types(self, summary, trace):
        types = summary["requests"]["types"]
        rows = self.json_of("requests", trace)
        self.assertEqual([each["name"] for each in types], [row["name"] for row in rows])
        for each, row in zip(types, rows):
            self.assertEqual((each["count"], each["total_ns"]), (row["count"], row["total_ns"]))
            self.assertEqual(sum(each["histogram"]["count"]), row["count"])
            if each["percentiles"]:
                self.assertEqual(each["percentiles"][-1]["wall_ns"], row["max_ns"])
        shown = [row for each in types for row in each["percentiles"]]
        for row in self.json_of("requests", trace, "--show", "percentiles"):
            same = [each for each in shown if each["request"] == row["request"]]
            self.assertTrue(same, row)
            for part in ("wall_ns", "running_ns", "suspended_ns", "queued_ns", "waiting_ns"):
                self.assertEqual(same[0][part], row[part], part)

    def test_the_figures_are_those_of_the_commands(self):
        for name in ("service", "requests", "resources", "executors", "streams", "pipeline"):
            with self.subTest(name):
                self.assert_equal_answers(self.write(getattr(trace_builder, name)()))

    def test_the_columns_hold_the_whole_trace(self):
        trace = self.write(trace_builder.service())
        data = self.data(trace)
        columns, info = data["columns"], self.json_of("info", trace)
        self.assertTrue(data["summary"]["whole"])
        for name in ("tasks", "awaits", "slices"):
            self.assertEqual(data["timeline"]["tables"][name]["rows"], info[name])
        self.assertEqual(len(columns["scopes"]["name"]), info["scopes"])
        rows = self.json_of("tasks", trace)
        for part in ("running_ns", "suspended_ns", "queued_ns", "waiting_ns"):
            self.assertEqual(sum(columns["tasks"][part]), sum(row[part] for row in rows))
        self.assertEqual(sum(columns["slices"]["length_ns"]), sum(row["running_ns"] for row in rows))
        self.assertEqual(sum(columns["scopes"]["self_ns"]), self.json_of("table", trace)["self_cpu_time_total_ns"])

    def test_the_segments_of_a_request_add_up_to_its_time(self):
        columns = self.data(self.write(trace_builder.service()))["columns"]
        for row, length in enumerate(columns["requests"]["length_ns"]):
            parts = [at for at, request in enumerate(columns["segments"]["request"]) if request == row]
            self.assertEqual(sum(columns["segments"]["length_ns"][at] for at in parts), length)
            ends = [columns["segments"]["start_ns"][at] + columns["segments"]["length_ns"][at] for at in parts]
            self.assertEqual(ends[:-1], [columns["segments"]["start_ns"][at] for at in parts[1:]])

    def test_the_flame_graphs_have_all_time(self):
        trace = self.write(trace_builder.service())
        frames = self.data(trace)["columns"]["frames"]
        kinds = ("running_ns", "on_cpu_ns", "blocked_ns", "preempted_ns", "queued_ns", "suspended_ns", "waiting_ns")
        done = coroscope("export", trace, "--to", "folded", "--of", "wall", "-o", "-")
        wall = sum(int(line.rpartition(" ")[2]) for line in done.stdout.splitlines())
        self.assertEqual(sum(sum(frames[kind]) for kind in kinds), wall)
        self.assertTrue(all(parent < row for row, parent in enumerate(frames["parent"])))

    def test_requests_and_their_parts_are_in_the_columns(self):
        data = self.data(self.write(trace_builder.requests()))
        requests, names = data["columns"]["requests"], data["timeline"]["names"]
        self.assertEqual(len(requests["id"]), 11)
        self.assertEqual(requests["length_ns"], sorted(requests["length_ns"], reverse=True))
        self.assertEqual({names[name] for name in requests["name"]}, {"GET", "PUT"})
        self.assertEqual([flags & 4 for flags in requests["flags"]].count(4), 1)
        ends = data["timeline"]["kinds"]["request_ends"]
        self.assertEqual([ends[end] for end in requests["end"]].count("failed"), 1)

    def test_queues_and_busy_threads_follow_the_jobs(self):
        data = self.data(self.write(trace_builder.executors()))
        queue = [row for row in zip(*data["columns"]["queues"].values()) if row[0] == 0]
        self.assertEqual(queue, [(0, 100_000, 4), (0, 200_000, 3), (0, 300_000, 2), (0, 400_000, 1), (0, 500_000, 0)])
        busy = [row for row in zip(*data["columns"]["busy"].values()) if row[0] == 1]
        self.assertEqual(busy, [(1, 110_000, 1), (1, 120_000, 0)])
        self.assertEqual([each["name"] for each in data["timeline"]["executors"]], ["resizing", "thread_pool 2"])

    def test_rows_lead_to_their_longest_moments(self):
        summary = self.data(self.write(trace_builder.service()))["summary"]
        link = summary["tables"]["awaits"]["links"][0]
        self.assertEqual(link["longest"][0]["task"], 20)
        self.assertEqual([each["length_ns"] for each in link["longest"]], sorted(
            (each["length_ns"] for each in link["longest"]), reverse=True))
        self.assertEqual(sum(link["histogram"]["count"]), 20)
        scopes = summary["tables"]["scopes"]
        self.assertEqual([sum(each["histogram"]["count"]) for each in scopes["links"]],
                         [row["count"] for row in scopes["rows"]])

    def test_hostile_names_are_inert(self):
        trace = self.write(hostile_trace())
        self.assert_equal_answers(trace)
        path = self.report(trace)
        page = report_data.read_elements(path)
        self.assertNotIn("img", page.tags)
        self.assertIn(HOSTILE[:20], page.title)
        data = report_data.read_report(path)
        self.assertIn(HOSTILE, data["timeline"]["names"])
        self.assertEqual(data["summary"]["requests"]["types"][0]["name"], HOSTILE)
        for block in page.blocks.values():
            self.assertNotRegex(block, "[<>&\u2028\u2029]")

    def test_a_large_trace_shows_the_slowest_requests(self):
        trace = Trace(duration_ns=10_000_000)
        site, inner = trace.site(b"GET", kind=KIND_REQUEST), trace.site(b"inner")
        records = []
        for number in range(1, 601):
            start, end = number * 10_000, number * 10_000 + 1_000 + number
            records += [scope(inner, start + 10, start + 20), scope(inner, start + 30, start + 40),
                        request_fact(site, start), scope(site, start, end)]
        trace.thread(1, b"main", records[:1200])
        trace.thread(1, b"main", records[1200:])
        path = self.write(trace)
        data = self.data(path, "--events", "1000")
        summary, columns = data["summary"], data["columns"]
        self.assertFalse(summary["whole"])
        left_out = {each["what"]: each for each in summary["left_out"]}
        self.assertEqual(left_out["scopes"]["of"], 1800)
        self.assertEqual(left_out["scopes"]["shown"], len(columns["scopes"]["name"]))
        self.assertLess(left_out["scopes"]["shown"], 1100)
        self.assertGreater(left_out["scopes"]["shown"], 900)
        self.assertEqual(len(columns["requests"]["id"]), 600)
        shown = [flags & 32 for flags in columns["requests"]["flags"]]
        self.assertTrue(all(shown[:200]))
        self.assertFalse(shown[-1])
        self.assertEqual(summary["tables"]["scopes"]["rows"], self.json_of("table", path)["rows"])
        names = data["timeline"]["names"]
        for row in range(10):
            whole = columns["requests"]["scope"][row]
            self.assertEqual(columns["scopes"]["length_ns"][whole], columns["requests"]["length_ns"][row])
            children = [at for at, parent in enumerate(columns["scopes"]["parent"]) if parent == whole]
            self.assertEqual([names[columns["scopes"]["name"][at]] for at in children], ["inner", "inner"])

    def test_redacted_values_are_not_in_the_file(self):
        trace = self.write(trace_builder.service())
        self.assertIn("tenant=acme", self.data(trace)["timeline"]["names"])
        data = self.data(trace, "--redact", "attr:tenant")
        self.assertEqual(data["summary"]["redacted"], ["attr:tenant"])
        self.assertNotIn("acme", json.dumps(data))
        done = coroscope("report", trace, "--redact", "attr:user", "-o", self.folder / "r.html")
        self.assertEqual(done.returncode, 0)
        self.assertIn("none of the values to redact: attr:user", done.stderr)

    def test_an_earlier_trace_is_compared(self):
        before = self.write(trace_builder.service(), "before.cst")
        data = self.data(self.write(trace_builder.service(requests=30)), "--against", before)
        against = data["summary"]["against"]
        self.assertEqual(against["trace"], str(before))
        self.assertEqual(against["info"], self.json_of("info", before))
        self.assertIn("handle", [row["name"] for row in against["comparison"]["rows"]])
        self.assertGreater(len(data["columns"]["against_frames"]["parent"]), 3)
        self.assertIsNone(self.data(before)["summary"]["against"])

    def test_sources_below_a_named_folder_are_quoted(self):
        trace = Trace()
        site = trace.site(b"handle", b"/build/app/server.cpp", 4)
        trace.thread(1, b"main", [scope(site, 1_000, 2_000)])
        path, sources = self.write(trace), self.folder / "mine"
        sources.mkdir()
        (sources / "server.cpp").write_text("".join(f"line {number} </script>\n" for number in range(1, 20)))
        files = self.data(path, "--source-path", f"/build/app={sources}")["summary"]["sources"]["files"]
        quoted = files["/build/app/server.cpp"]
        self.assertEqual(quoted["path"], str((sources / "server.cpp").resolve()))
        self.assertEqual(quoted["lines"], {str(number): f"line {number} </script>" for number in range(1, 8)})
        self.assertEqual(self.data(path)["summary"]["sources"]["files"], {})

    def test_sources_of_the_working_folder_are_quoted(self):
        (self.folder / "src").mkdir()
        (self.folder / "src" / "server.cpp").write_text("int main() {}\n" * 40)
        path = self.write(trace_builder.requests())
        files = self.data(path)["summary"]["sources"]["files"]
        self.assertEqual(list(files), ["../src/server.cpp"])
        self.assertEqual(self.data(path, "--no-sources")["summary"]["sources"]["files"], {})

    def test_no_other_file_is_quoted_whatever_the_trace_names(self):
        secret = self.folder / "secret.cpp"
        secret.write_text("password\n" * 10)
        inner = self.folder / "inner"
        inner.mkdir()
        (inner / "notes.txt").write_text("password\n" * 10)
        os.symlink(secret, inner / "link.cpp")
        trace = Trace()
        sites = [trace.site(b"s%d" % at, name.encode(), 3)
                 for at, name in enumerate((str(secret), "../secret.cpp", "x/../../secret.cpp", "link.cpp", "notes.txt",
                                            "/etc/passwd", "src/../../secret.cpp"))]
        trace.thread(1, b"main", [scope(site, 1_000 * site, 1_000 * site + 500) for site in sites])
        path, target = self.write(trace), self.folder / "r.html"
        for arguments in ((), ("--source-path", f"={inner}"), ("--source-path", f"src={inner}"),
                          ("--source-path", f"x={inner}")):
            self.assert_success(coroscope("report", path, "-o", target, *arguments, cwd=inner))
            self.assertEqual(report_data.read_report(target)["summary"]["sources"]["files"], {}, arguments)

    def test_places_link_to_an_editor(self):
        path = self.write(trace_builder.service())
        self.assertEqual(self.data(path, "--editor", "vscode")["summary"]["editor"], "vscode://file/{file}:{line}")
        own = "myeditor://open/{file}#{line}"
        self.assertEqual(self.data(path, "--editor", own)["summary"]["editor"], own)
        for wrong in ("nano", "javascript:alert('{file}')", "JavaScript:{file}", "data:text/html,{file}",
                      "java\nscript:{file}", " javascript:{file}", "vscode://file/x"):
            done = coroscope("report", path, "-o", self.folder / "r.html", "--editor", wrong)
            self.assert_one_error(done, 2, "--editor: .*")

    def test_wrong_calls_are_named_in_one_line(self):
        path = self.write(trace_builder.service())
        missing = self.folder / "missing.cst"
        for code, pattern, arguments in (
                (2, ".*-o.*required.*", (path,)),
                (2, "--output.* would overwrite the trace.*", (path, "-o", path)),
                (2, "--output.* would overwrite the trace.*", (path, "--against", path, "-o", path)),
                (2, "--events: .*", (path, "-o", "r.html", "--events", "1")),
                (2, "--source-path: .*is not a folder.*", (path, "-o", "r.html", "--source-path", "/a=/no/such")),
                (2, "--source-path: .*is not FROM=TO.*", (path, "-o", "r.html", "--source-path", "/a")),
                (2, "--redact: .*", (path, "-o", "r.html", "--redact", "names")),
                (1, ".*missing.cst.*", (missing, "-o", "r.html")),
                (1, ".*missing.cst.*", (path, "--against", missing, "-o", "r.html")),
                (1, ".*/no/such/r.html.*", (path, "-o", "/no/such/r.html"))):
            with self.subTest(arguments):
                self.assert_one_error(coroscope("report", *arguments, cwd=self.folder), code, pattern)
        self.assertEqual([each.name for each in self.folder.iterdir()], ["trace.cst"])

    def test_a_full_disk_fails(self):
        path = self.write(trace_builder.service())
        self.assert_one_error(coroscope("report", path, "-o", "/dev/full"), 1, ".*No space left.*")

    def test_a_trace_of_another_profiler_is_refused(self):
        path = self.folder / "other.json"
        path.write_text('{"traceEvents": []}')
        self.assert_one_error(coroscope("report", path, "-o", self.folder / "r.html"), 1, ".*")

    def test_standard_output_takes_the_report(self):
        path = self.write(trace_builder.service())
        done = coroscope("report", path, "-o", "-")
        self.assert_success(done)
        self.assertEqual(done.stdout, self.report(path, "--no-sources").read_text())

    def test_an_empty_trace_has_a_report(self):
        trace = Trace()
        trace.thread(1, b"main", [])
        data = self.data(self.write(trace))
        self.assertEqual(data["summary"]["requests"]["types"], [])
        self.assertEqual(data["summary"]["findings"]["findings"], [])


class RunReport(RunTest):
    def test_run_writes_a_report(self):
        trace = trace_builder.service().write(self.folder / "made.cst")
        done = self.run_in_folder("--html", "report.html", *self.python(RECORD, str(trace)))
        self.assert_success(done)
        self.assertEqual(done.stdout.splitlines()[-1], "report: report.html")
        data = report_data.read_report(self.folder / "report.html")
        self.assertEqual(data["summary"]["trace"], "coroscope.cst")
        self.assertEqual(len(data["columns"]["tasks"]["id"]), 20)

    def test_run_writes_a_report_without_a_summary(self):
        trace = trace_builder.service().write(self.folder / "made.cst")
        done = self.run_in_folder("--no-summary", "--html", "r.html", *self.python(RECORD, str(trace)))
        self.assertEqual((done.returncode, done.stdout), (0, "report: r.html\n"))

    def test_run_keeps_the_program_s_exit_code_if_the_report_cannot_be_written(self):
        trace = trace_builder.service().write(self.folder / "made.cst")
        done = self.run_in_folder("--no-summary", "--html", "/no/such/r.html",
                                  *self.python(RECORD + "; sys.exit(7)", str(trace)))
        self.assertEqual(done.returncode, 7)
        self.assertIn("/no/such/r.html", done.stderr)


if __name__ == "__main__":
    tool.main()
