#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the recording of the example service that `./dev demo` makes: test_demo.py COROSCOPE SERVICE. Its packed
size depends on the machine, and is the row pack.demo.bytes_per_scope of ./dev bench."""

import json
import os
import sys

import tool
from tool import ToolTest, coroscope

SERVICE = os.path.abspath(sys.argv.pop(2))
REQUESTS = 600  # a tenth of those in scripts/dev/demo.sh
CONNECTIONS = 64


class Demo(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace, self.packed, database = (self.folder / name for name in ("demo.cst", "demo.cstz", "demo.db"))
        load = ("--requests", REQUESTS, "--connections", CONNECTIONS, "--database", database)
        done = coroscope("run", "--summary-to", "-", "-o", self.trace, "--", SERVICE, *load, env=tool.environment(), timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_success(coroscope("pack", self.trace, "-o", self.packed))

    def info(self, trace):
        return json.loads(coroscope("info", trace, "--json").stdout)

    def test_the_trace_has_at_least_a_scope_and_an_await_of_each_request(self):
        info = self.info(self.trace)
        self.assertGreater(min(info["scopes"], info["awaits"]), REQUESTS)

    def test_the_packed_trace_reads_the_same(self):
        for command in ("table", "awaits", "tasks"):
            with self.subTest(command=command):
                plain, packed = (coroscope(command, file, "--format", "json") for file in (self.trace, self.packed))
                self.assert_success(plain)
                self.assertEqual(plain.stdout, packed.stdout)
        info = self.info(self.packed)
        self.assertEqual(info.pop("packed_bytes"), self.packed.stat().st_size)
        info.pop("packed_bytes_per_scope")
        self.assertEqual(info, self.info(self.trace))


if __name__ == "__main__":
    tool.main()
