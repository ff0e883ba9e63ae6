#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The keys of `--sort-by` are the same in the help and in the error for an unknown key."""

import re

import tool
import trace_builder
from sample_traces import DataTest
from tool import coroscope

VARIANTS = {
    "awaits": [(), ("--chains",), ("--blame",)],
    "executors": [()],
    "path": [(), ("--type", "session")],
    "requests": [(), ("--show", "percentiles"), ("--show", "slowest"), ("--request", "1")],
    "resources": [()],
    "streams": [()],
    "tasks": [(), ("--tree",), ("--task", "3")],
    "values": [()],
    "locks": [()],
    "blocking": [()],
    "ranges": [()],
    "table": [()],
}
# The keys that exist only for traces with device activities, awaited streams or frame sizes.
OF_OTHER_TRACES = {"device", "device_queued", "device_start", "device_end", "frame_bytes", "values", "errors",
                   "exceptions", "cancelled", "unknown_outcomes"}


class SortKeys(DataTest):
    def setUp(self):
        super().setUp()
        states = trace_builder.service()
        states.switch(1, 0, 1)
        self.traces = [self.trace, states.write(self.folder / "states.cst")]

    def keys_of_help(self, command):
        text = coroscope(command, "--help").stdout
        found = re.search(r"--sort-by.*?one of\n(.*?)\n *--[a-z]", text, re.DOTALL)
        self.assertTrue(found, text)
        return set(re.findall(r"[a-z0-9_]+", found[1]))

    def keys_of_error(self, command, variant):
        keys = set()
        for trace in self.traces:
            done = coroscope(command, trace, *variant, "--sort-by", "bogus")
            self.assertEqual(done.returncode, 2, done.stderr)
            listed = re.search(r'one of (.*)', done.stderr)[1]
            self.assertNotIn("_ns", listed)
            keys |= set(listed.split(", "))
        return keys

    def test_each_key_of_an_error_is_in_the_help(self):
        for command, variants in VARIANTS.items():
            for variant in variants:
                with self.subTest(command=command, variant=variant):
                    self.assertEqual(self.keys_of_error(command, variant) - self.keys_of_help(command), set())

    def test_each_key_of_the_help_is_in_an_error(self):
        words = {"for", "and", "also", "one", "by", "spawn", "site", "without", "chains", "tree", "percentiles", "slowest",
                 "show", "with", "blame", "type"}
        for command, variants in VARIANTS.items():
            known = set().union(*(self.keys_of_error(command, variant) for variant in variants))
            with self.subTest(command=command):
                self.assertEqual(self.keys_of_help(command) - known - words - OF_OTHER_TRACES, set())


if __name__ == "__main__":
    tool.main()
