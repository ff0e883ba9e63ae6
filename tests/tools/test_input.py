#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a trace may come in: any name, a pipe, compressed by gzip."""

import gzip
import json
import subprocess

import tool
from sample_traces import DataTest, kineto
from tool import TOOL, coroscope


class Input(DataTest):
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


if __name__ == "__main__":
    tool.main()
