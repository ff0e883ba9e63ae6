#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On-CPU, blocked and preempted time in every view of a trace."""

import csv
import io
import json

import tool
import trace_builder
from tool import ToolTest, coroscope

MS = 1_000_000


class States(ToolTest):
    def setUp(self):
        super().setUp()
        trace = trace_builder.Trace(duration_ns=400 * MS)
        trace.processors, trace.quota_percent = 2, 150
        handle, flush = trace.site(b"handle", b"src/server.cpp", 12), trace.site(b"audit.flush", b"src/audit.cpp", 7)
        session = trace.site(b"session", b"src/server.cpp", 30, trace_builder.KIND_COROUTINE)
        for thread, task, scope, end in ((1, 1, handle, 60 * MS), (2, 17, flush, 52 * MS)):
            trace.thread(thread, b"worker-%d" % thread, [
                trace_builder.task_record(trace_builder.SPAWN, 0, task, 0, session),
                trace_builder.task_record(trace_builder.RESUME, 0, task),
                trace_builder.scope(scope, 0, end),
                trace_builder.task_record(trace_builder.FINISH, end, task)])
        trace.switch(1, 5 * MS, 0)
        trace.blocked(1, 20 * MS, 202, address=0x7F10, holder=2, since_ns=5 * MS)
        trace.switch(1, 53 * MS, trace_builder.ENTERED)
        trace.switch(1, 55 * MS, trace_builder.PREEMPTED)
        trace.switch(1, 56 * MS, trace_builder.ENTERED)
        trace.switch(2, 1 * MS, 0)
        self.path = trace.write(self.folder / "states.cst")

    def run_on_trace(self, *arguments):
        done = coroscope(arguments[0], self.path, *arguments[1:])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_table_divides_running_time(self):
        rows = {row["name"]: row for row in json.loads(self.run_on_trace("table", "--json"))["rows"]}
        self.assertEqual([rows["handle"][key] for key in ("total_ns", "on_cpu_ns", "blocked_ns", "preempted_ns", "unknown_state_ns")],
                         [60 * MS, 11 * MS, 48 * MS, 1 * MS, 0])
        lines = list(csv.DictReader(io.StringIO(self.run_on_trace("table", "--format", "csv"))))
        self.assertEqual({line["name"]: line["self_blocked_ns"] for line in lines},
                         {"handle": str(48 * MS), "audit.flush": str(51 * MS)})
        self.assertIn("Self blocked", self.run_on_trace("table", "--sort-by", "self_blocked"))

    def test_torchs_table_keeps_torchs_headings(self):
        text = self.run_on_trace("table", "--torch")
        self.assertIn("CPU total", text)
        self.assertNotIn("Blocked", text)

    def test_tasks_divide_their_running_time(self):
        sites = json.loads(self.run_on_trace("tasks", "--json"))
        rows = sites if isinstance(sites, list) else next(value for value in sites.values() if isinstance(value, list))
        self.assertEqual(rows[0]["blocked_ns"], 99 * MS)

    def test_a_task_names_what_blocked_it(self):
        text = self.run_on_trace("tasks", "--task", "1")
        self.assertIn("= 11.0 ms on-CPU + 48.0 ms blocked + 1.0 ms preempted + ", text)
        self.assertIn("48.0 ms in futex 0x7f10, held by thread worker-2 (2) in scope audit.flush (task 17)", text)

    def test_info_has_the_source_and_the_processors(self):
        text = self.run_on_trace("info")
        self.assertIn("each context switch; 5 switches", text)
        self.assertIn("2; the container may use 1.5", text)


if __name__ == "__main__":
    tool.main()
