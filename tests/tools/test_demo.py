#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recording of the example service that `./dev demo` makes: test_demo.py COROSCOPE SERVICE."""

import json
import os
import sys

import tool
from tool import ToolTest, coroscope

SERVICE = os.path.abspath(sys.argv.pop(2))
MOST_BYTES_PER_SCOPE = 6  # as the row pack.demo.bytes_per_scope
REQUESTS = 6000  # as scripts/dev/demo.sh
CONNECTIONS = 64


class Demo(ToolTest):
    def packed(self, requests):
        """The recording of a load of that many requests."""
        trace, packed, database = (self.folder / (str(requests) + suffix) for suffix in (".cst", ".cstz", ".db"))
        load = ("--requests", requests, "--connections", CONNECTIONS, "--database", database)
        done = coroscope("run", "-o", trace, "--", SERVICE, *load, env=tool.environment(), timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_success(coroscope("pack", trace, "-o", packed))
        return packed

    def test_it_is_packed_into_six_bytes_a_scope_of_a_tenth_of_the_load_too(self):
        for requests in (REQUESTS // 10, REQUESTS // 3, REQUESTS):
            with self.subTest(requests=requests):
                info = json.loads(coroscope("info", self.packed(requests), "--json").stdout)
                self.assertGreater(min(info["scopes"], info["awaits"]), requests)
                self.assertLessEqual(info["packed_bytes_per_scope"], MOST_BYTES_PER_SCOPE)


if __name__ == "__main__":
    tool.main()
