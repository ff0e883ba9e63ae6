#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scopes that were still open at the end of the session, in every view of a trace."""

import json

import tool
import trace_builder
from tool import ToolTest, coroscope


class Open(ToolTest):
    def setUp(self):
        super().setUp()
        trace = trace_builder.Trace(finished=False)
        loop = trace.site(b"main loop", b"src/main.cpp", 5)
        lock = trace.site(b"lock that never comes", b"src/lock.cpp", 2)
        parse = trace.site(b"parse", b"src/parse.cpp", 3)
        trace.thread(1, b"main", [trace_builder.scope(parse, 2_000_000, 2_500_000)])
        trace.open_scope(1, loop, 1_000_000)
        trace.open_scope(1, lock, 4_000_000)
        self.path = trace.write(self.folder / "open.cst")

    def run_on_trace(self, *arguments):
        done = coroscope(arguments[0], self.path, *arguments[1:])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_info_counts_open_scopes(self):
        text = self.run_on_trace("info")
        self.assertIn("\nOpen scopes 2\n", text)
        self.assertIn("\nScopes that had not ended when the session did: 2\n", text)
        info = json.loads(self.run_on_trace("info", "--json"))
        self.assertTrue(info["names_open_scopes"])
        self.assertEqual(info["health"]["open_scopes"], 2)
        self.assertEqual(info["health"]["unnamed_scopes"], 0)

    def test_info_names_open_scopes_innermost_first(self):
        self.assertTrue(self.run_on_trace("info").endswith(
            "\n\nScopes that had not ended: 2\n  thread 1001 main: lock that never comes (src/lock.cpp:2) for at least "
            "6.0 ms, in main loop (src/main.cpp:5) for at least 9.0 ms\n"))

    def test_scopes_that_were_open_at_a_regular_stop_have_an_exact_length(self):
        trace = trace_builder.Trace(finished=True)
        trace.thread(1, b"main", [])
        trace.open_scope(1, trace.site(b"lock", b"src/lock.cpp", 2), 4_000_000)
        text = coroscope("info", trace.write(self.folder / "stopped.cst")).stdout
        self.assertIn("lock (src/lock.cpp:2) for 6.0 ms\n", text)

    def test_info_says_that_a_session_did_not_record_open_scopes(self):
        path = trace_builder.service().write(self.folder / "plain.cst")
        text = coroscope("info", path).stdout
        self.assertIn("\nOpen scopes not recorded (open_scopes)\n", text)
        self.assertNotIn("had not ended", text)

    def test_the_table_has_the_time_of_open_scopes_up_to_the_end(self):
        rows = {row["name"]: row for row in json.loads(self.run_on_trace("table", "--json"))["rows"]}
        self.assertEqual(rows["main loop"]["count"], 1)
        self.assertEqual(rows["main loop"]["total_ns"], 9_000_000)
        self.assertEqual(rows["main loop"]["self_ns"], 2_500_000)
        self.assertEqual(rows["lock that never comes"]["self_ns"], 6_000_000)

    def test_exports_mark_open_scopes(self):
        out = self.folder / "trace.json"
        self.assert_success(coroscope("export", self.path, "--to", "chrome", "-o", out))
        events = {each["name"]: each for each in json.loads(out.read_text())["traceEvents"] if "dur" in each}
        for name in ("main loop", "lock that never comes"):
            self.assertTrue(events[name]["args"]["open"])
        self.assertNotIn("open", events["parse"].get("args", {}))
        self.assertEqual(events["main loop"]["dur"], 9000.0)

    def test_packing_keeps_open_scopes(self):
        packed = self.folder / "open.cstz"
        self.assert_success(coroscope("pack", self.path, "-o", packed))
        self.assertIn("\nOpen scopes 2\n", coroscope("info", packed).stdout)


if __name__ == "__main__":
    tool.main()
