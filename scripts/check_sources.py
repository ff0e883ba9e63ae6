#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the source rules: a licence line, no left-over note, no path of one machine, no giant, no test that fails on
a slow machine, no inline function that COROSCOPE_ENABLED changes under one name, and in public headers only qualified
calls of our functions: argument-dependent lookup would find a library's function of the same name, too."""

import re
import sys

import header_names
import tree

LICENCE = "SPDX-License-Identifier: Apache-2.0"
LICENCE_WITHIN_LINES = 5
LONG = 400

SOURCE = re.compile(r"(\.(hpp|cpp|h|cu|py|sh|build|wrap|cmake|in|yml|yaml|d)|meson_options\.txt|CMakeLists\.txt|\.clang-\w+"
                    r"|\.gitignore|packages\.txt|\.supp)$")
SHEBANG = "#!"

# Written in pieces, so that this file does not find itself.
NOTES = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATHS = re.compile(r"/wo" r"rk/|/tm" r"p/bash|/ro" r"ot/\.|/ho" r"me/\w"
                           r"|https?://[a-z.]*(np" r"m|deb" r"ian)[a-z.]*/")


# An upper bound of a figure that a test has measured: a time, or the packed size of a real recording.
MEASURED_BOUND = re.compile(r"\b(CHECK|REQUIRE)\w*\(.*\bnow\(\) - \w+ <=? "
                            r"|\bassertLess(Equal)?\(.*(\b(perf_counter|monotonic|time)\(\)|bytes_per_scope)")
RECORDED_BOUND = re.compile(r"\b(CHECK|REQUIRE)\w*\(.*_(ns|us|ms|s)\b(\(\))? <=? [\d(]")
MADE_BY_THE_TEST = re.compile(r"tests/(analysis/|trace/|runtime/hostile/test_hostile_clocks\.cpp$)")  # the trace, or its clock


def bounds_measured_figure(name, line):
    return bool(MEASURED_BOUND.search(line) or (RECORDED_BOUND.search(line) and not MADE_BY_THE_TEST.match(name)))


NAMESPACE = re.compile(r"\s*(?:inline )?namespace ([\w:]+) \{")
NAMESPACE_END = re.compile(r"\}  // namespace ([\w:]+)$")


def switched_outside_abi(lines):
    """The numbers of the lines at which COROSCOPE_ENABLED changes an entity that has the same name in both kinds of
    translation units."""
    inside = []
    for number, line in enumerate(lines, 1):
        opened, closed = NAMESPACE.match(line), NAMESPACE_END.match(line)
        if opened:
            inside.append(opened[1])
        elif closed and closed[1] in inside:
            inside.remove(closed[1])
        elif inside and "COROSCOPE_ABI" not in inside and "COROSCOPE_ENABLED" in line.partition("//")[0]:
            yield number


def wants_licence(name, text):
    return bool(SOURCE.search(name)) or text.startswith(SHEBANG)


def check(name, text):
    """Yields (is an error, message)."""
    lines = text.splitlines()
    if wants_licence(name, text) and not any(LICENCE in line for line in lines[:LICENCE_WITHIN_LINES]):
        yield True, f"{name}:1: no licence line; begin the file with: {LICENCE}"
    for number, line in enumerate(lines, 1):
        if NOTES.search(line):
            yield True, f"{name}:{number}: a left-over note; do it, or open an issue"
        if MACHINE_PATHS.search(line):
            yield True, f"{name}:{number}: a path of one machine or a registry's host"
        if name.startswith("tests/") and bounds_measured_figure(name, line):
            yield True, f"{name}:{number}: bounds a figure that depends on the machine; make it a row of ./dev bench"
    if name.startswith("include/") and not name.endswith("/config.hpp"):  # its functions are called for constants
        for number in switched_outside_abi(lines):
            yield True, f"{name}:{number}: COROSCOPE_ENABLED outside namespace COROSCOPE_ABI: one name, two meanings"
    if re.match(r"(include|lib|tools)/.*\.(hpp|cpp|h|cu)$", name) and len(lines) > LONG:
        yield False, f"{name}: {len(lines)} lines; over {LONG}, think of what second thing it does"


def unqualified_names(headers):
    """Messages about the calls in public headers (text by name) that are not qualified."""
    known = header_names.Names(headers)
    for name in headers:
        for line, called in known.unqualified_calls(name):
            yield f"{name}:{line}: {called}() is not qualified; write detail::{called}() or coroscope::{called}()"
        for line, called, macro in known.unqualified_in_macros(name):
            yield f"{name}:{line}: {macro} must begin {called} with ::coroscope::"


def main():
    failed = False
    headers = {}
    for path in tree.files():
        name = path.relative_to(tree.ROOT).as_posix()
        if name.startswith("tests/data/"):
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if re.match(r"include/.*\.hpp$", name):
            headers[name] = text
        for is_error, message in check(name, text):
            print(message if is_error else f"warning: {message}")
            failed = failed or is_error
    for message in unqualified_names(headers):
        print(message)
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
