#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `coroscope export` for programs other than viewers: tables, spans, profiles, redaction."""

import csv
import gzip
import http.server
import json
import os
import sqlite3
import threading

import tool
from sample_traces import DataTest, kineto
from tool import coroscope


class Collector(http.server.BaseHTTPRequestHandler):
    """Keeps the messages that it gets, and answers with the server's status."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.messages.append((self.path, self.headers["Content-Type"], body))
        self.send_response(self.server.status)
        self.end_headers()

    def log_message(self, *_):
        """Prints nothing."""


class Exports(DataTest):
    def export(self, to, *arguments, name="out"):
        target = self.folder / name
        self.assert_success(coroscope("export", self.trace, "--to", to, *arguments, "-o", target))
        return target

    def collector(self, status=200):
        server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
        server.messages, server.status = [], status
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_port}"

    def sum_of(self, key):
        return sum(row[key] for row in self.data("tasks", "--tree"))

    def test_the_database_has_the_figures_of_the_command(self):
        database = sqlite3.connect(self.export("sqlite"))
        self.addCleanup(database.close)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        running, wall = database.execute("SELECT SUM(running_ns), SUM(wall_ns) FROM tasks").fetchone()
        self.assertEqual(running, self.sum_of("running_ns"))
        table = {row["name"]: row["total_ns"] for row in self.data("table")["rows"]}
        self.assertEqual(dict(database.execute("SELECT name, total_ns FROM scope_statistics")), table)
        self.assertGreater(wall, 0)
        types = {row["name"]: row["count"] for row in self.data("requests")}
        self.assertEqual(dict(database.execute("SELECT type, count FROM request_statistics")), types)

    def test_a_pipe_is_not_replaced_by_a_database(self):
        target = self.folder / "pipe"
        os.mkfifo(target)
        done = coroscope("export", self.trace, "--to", "sqlite", "-o", target)
        self.assert_one_error(done, 1, ".*something else than a file.*")
        self.assertTrue(target.is_fifo())

    def test_an_old_database_is_replaced(self):
        target = self.export("sqlite")
        size = target.stat().st_size
        self.assertEqual(self.export("sqlite").stat().st_size, size)
        self.assertEqual([each.name for each in self.folder.iterdir() if "out" in each.name], ["out"])

    def test_a_folder_of_tables_has_a_file_for_each(self):
        folder = self.export("csv", name="tables")
        with open(folder / "tasks.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(sum(int(row["running_ns"]) for row in rows), self.sum_of("running_ns"))
        again = self.export("ndjson", name="lines")
        self.assertEqual({each.stem for each in folder.iterdir()}, {each.stem for each in again.iterdir()})
        lines = [json.loads(line) for line in (again / "tasks.ndjson").read_text().splitlines()]
        self.assertEqual([str(line["id"]) for line in lines], [row["id"] for row in rows])

    def test_one_table_goes_to_standard_output(self):
        done = coroscope("export", self.trace, "--to", "ndjson", "--table", "tasks", "-o", "-")
        self.assert_success(done)
        self.assertEqual(len(done.stdout.splitlines()), len(self.data("tasks", "--tree")))

    def test_the_profiles_are_of_their_formats(self):
        speedscope = json.loads(self.export("speedscope").read_text())
        self.assertEqual(speedscope["$schema"], "https://www.speedscope.app/file-format-schema.json")
        self.assertTrue(speedscope["profiles"][0]["name"].startswith("slowest request: "))
        self.assertGreater(len(gzip.decompress(self.export("pprof").read_bytes())), 100)
        firefox = json.loads(self.export("firefox").read_text())
        self.assertEqual(firefox["meta"]["preprocessedProfileVersion"], 62)

    def test_a_collector_gets_every_span(self):
        spans = json.loads(self.export("otlp").read_text())["resourceSpans"]
        expected = sum(len(each["scopeSpans"][0]["spans"]) for each in spans)
        server, address = self.collector()
        self.assert_success(coroscope("export", self.trace, "--to", "otlp", "--post", address))
        self.assertEqual({message[:2] for message in server.messages}, {("/v1/traces", "application/json")})
        got = [json.loads(body)["resourceSpans"][0]["scopeSpans"][0]["spans"] for _, _, body in server.messages]
        self.assertEqual(sum(map(len, got)), expected)

    def test_a_collector_gets_protobuf_at_the_path_of_the_address(self):
        server, address = self.collector()
        self.assert_success(coroscope("export", self.trace, "--to", "otlp-protobuf", "--post", address + "/here"))
        self.assertEqual({message[:2] for message in server.messages}, {("/here", "application/x-protobuf")})
        self.assertEqual(b"".join(message[2] for message in server.messages),
                         self.export("otlp-protobuf").read_bytes())

    def test_the_answer_of_a_collector_that_refuses_is_shown(self):
        _, address = self.collector(503)
        done = coroscope("export", self.trace, "--to", "otlp", "--post", address)
        self.assert_one_error(done, 1, r'http://127\.0\.0\.1:\d+: the server answers "HTTP/1\.0 503 Service Unavailable"')

    def test_an_address_where_no_server_is_and_one_that_is_none_are_errors(self):
        server, address = self.collector()
        server.shutdown()
        server.server_close()
        done = coroscope("export", self.trace, "--to", "otlp", "--post", address)
        self.assert_one_error(done, 1, r"http://127\.0\.0\.1:\d+: Connection refused")
        done = coroscope("export", self.trace, "--to", "otlp", "--post", "https://host")
        self.assert_one_error(done, 2, r'"https://host" is not an address such as http://localhost:4318')

    def test_options_that_exclude_each_other_are_refused(self):
        for arguments, message in ((("--to", "csv", "-o", "-"), "--output: standard output holds one table.*"),
                                   (("--to", "sqlite", "-o", "-"), "--output: --to sqlite needs a file"),
                                   (("--to", "chrome", "--post", "http://a"), "--post: cannot be combined.*"),
                                   (("--to", "chrome", "--table", "tasks", "-o", "-"), "--table: cannot be combined.*"),
                                   (("--to", "chrome"), "--output: give a file by -o, or a server by --post"),
                                   (("--redact", "user", "-o", "-"), '--redact: cannot redact "user"; use attr:KEY.*')):
            self.assert_one_error(coroscope("export", self.trace, *arguments), 2, message)

    def test_a_trace_of_another_profiler_has_no_tables(self):
        self.trace = self.folder / "other.json"
        self.trace.write_text(json.dumps(kineto()))
        for to in ("sqlite", "csv", "otlp", "speedscope"):
            done = coroscope("export", self.trace, "--to", to, "-o", self.folder / "out")
            self.assert_one_error(done, 1, r".*is not a native trace, and only native traces are written as " + to)

    def test_redacted_arguments_of_another_profiler_s_trace_are_gone(self):
        self.trace = self.folder / "other.json"
        document = kineto()
        document["traceEvents"][2]["args"]["Concrete Inputs"] = ["secret", ""]
        document["traceEvents"][2]["args"]["own"] = "secret"
        self.trace.write_text(json.dumps(document))
        self.assertIn("secret", coroscope("export", self.trace, "-o", "-").stdout)
        done = coroscope("export", self.trace, "--redact", "arguments", "-o", "-")
        self.assert_success(done)
        self.assertNotIn("secret", done.stdout)
        json.loads(done.stdout)

    def test_a_redaction_that_finds_nothing_is_a_warning(self):
        done = coroscope("export", self.trace, "--redact", "attr:nobody", "-o", self.folder / "out")
        self.assertEqual(done.returncode, 0)
        self.assertIn("the trace has none of the values to redact: attr:nobody\n", done.stderr)

    def test_each_redaction_that_finds_nothing_is_named(self):
        done = coroscope("export", self.trace, "--redact", "attr:tenant,attr:tennant", "-o", self.folder / "out")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\A[^\n]*none of the values to redact: attr:tennant\n\Z")

    def test_a_full_disk_is_an_error_of_each_format(self):
        for to in ("speedscope", "pprof", "firefox", "otlp"):
            self.assert_one_error(coroscope("export", self.trace, "--to", to, "-o", "/dev/full"), 1,
                                  r"/dev/full: No space left on device")


if __name__ == "__main__":
    tool.main()
