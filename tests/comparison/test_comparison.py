#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares runs of a service by coroscope diff.

    test_comparison.py COROSCOPE SERVICE

checks the command with short runs. It expects no verdict about times, because they depend on the machine.

    test_comparison.py COROSCOPE SERVICE --soak [PAIRS]

records 15 pairs of runs that do the same work, 15 pairs of which one run has 10 % more work in one scope, and three runs a
side with 20 % more time in the back-end, and counts the verdicts. It exits with 1 if more than one pair in fifteen is
wrong. It takes some minutes; run it while the machine is busy with something else, too.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

TOOL, SERVICE = sys.argv[1:3]
QUICK_REQUESTS, REQUESTS = 40, 1000


def record(folder, name, requests, *planted):
    path = pathlib.Path(folder) / f"{name}.cst"
    subprocess.run([SERVICE, path, str(requests), *planted], check=True, timeout=300)
    return path


def diff(*arguments, codes=(0,)):
    done = subprocess.run([TOOL, "diff", *map(str, arguments)], capture_output=True, encoding="utf-8", check=False, timeout=300)
    if done.returncode not in codes:
        sys.exit(f"coroscope diff {arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def changes(before, after):
    """The rows that are slower or faster, as (verdict, kind, name)."""
    rows = json.loads(diff(*before, "--", *after, "--json"))["rows"]
    return {(row["verdict"], row["kind"], row["name"]) for row in rows if row["verdict"] in ("slower", "faster")}


def quick(folder):
    before, after = (record(folder, name, QUICK_REQUESTS) for name in ("before", "after"))
    document = json.loads(diff(before, after, "--json"))
    found = {(row["kind"], row["name"]) for row in document["rows"]}
    wanted = {("scope", name) for name in ("parse", "signature", "sort", "look up", "render", "compress", "block")}
    wanted |= {("await", "db.query"), ("request", "GET /page"), ("executor", "io_context")}
    assert wanted <= found, wanted - found
    assert not {"new", "gone"} & {row["verdict"] for row in document["rows"]}, document
    assert "one run a side" in diff(before, after)
    diff(before, after, "--fail-on", "regression=100%", codes=(0, 3))


def soak(folder, pairs):
    wrong = {"identical": 0, "10 % in a scope": 0, "20 % in the back-end": 0}
    for pair in range(pairs):
        before = record(folder, "before", REQUESTS)
        same = changes([before], [record(folder, "same", REQUESTS)])
        wrong["identical"] += any(verdict == "slower" for verdict, _, _ in same)
        planted = changes([before], [record(folder, "planted", REQUESTS, "compress=10")])
        wrong["10 % in a scope"] += planted != {("slower", "scope", "compress")}
        print(f"pair {pair + 1}: identical {sorted(same)}, planted {sorted(planted)}", flush=True)
    for three in range(pairs // 3):
        before = [record(folder, f"before{run}", REQUESTS) for run in range(3)]
        after = [record(folder, f"after{run}", REQUESTS, "back-end=20") for run in range(3)]
        slower = changes(before, after)
        wrong["20 % in the back-end"] += ("slower", "await", "db.query") not in slower
        print(f"three runs a side {three + 1}: {sorted(slower)}", flush=True)
    for what, count in wrong.items():
        print(f"{what}: {count} wrong")
    return int(max(wrong.values()) > pairs // 15)


def main():
    with tempfile.TemporaryDirectory(prefix="coroscope-comparison-") as folder:
        if "--soak" in sys.argv:
            given = sys.argv[sys.argv.index("--soak") + 1:]
            sys.exit(soak(folder, int(given[0]) if given else 15))
        quick(folder)


if __name__ == "__main__":
    main()
