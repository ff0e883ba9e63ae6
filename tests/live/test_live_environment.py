#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Anomaly detection and live tasks that the environment turns on, in a program without calls for them."""

import os
import re
import subprocess
import sys

from live_program_text import NAMESPACE, PLACE

MESSAGE = re.compile(
    r"coroscope: task \d+ failed with std::runtime_error: no such row\n"
    rf"  spawned: {NAMESPACE}fails {PLACE}\n"
    rf"  induced by task \d+, spawned: {NAMESPACE}asks_it {PLACE}; awaits: co_await in {NAMESPACE}asks_it {PLACE}\n")


def run(program, **variables):
    done = subprocess.run([program, "fail"], env={**os.environ, **variables}, capture_output=True,
                          text=True, check=True)
    assert done.stdout == "caught\n", done.stdout
    return done.stderr


def main():
    program = sys.argv[1]
    assert run(program) == "", "nothing is said unless it is asked for"
    assert run(program, COROSCOPE_LIVE="1") == "", "live tasks alone say nothing"
    told = run(program, COROSCOPE_ANOMALY="1")
    assert MESSAGE.fullmatch(told), told
    return 0


if __name__ == "__main__":
    sys.exit(main())
