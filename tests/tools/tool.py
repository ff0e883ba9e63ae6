# SPDX-License-Identifier: Apache-2.0
"""Helpers of the command's tests: its path, and calls of it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "coroscope")


def coroscope(*arguments, **options):
    """Runs the command. Its output is text; a byte that is no UTF-8 fails the test."""
    options = {"timeout": 60, "encoding": "utf-8", **options}
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, check=False, **options)


def export_formats():
    """The values of `coroscope export --to`, from the message about a wrong one."""
    done = coroscope("export", "x.cst", "--to", "no format", "-o", "-")
    return re.search(r"\{(.+)\}", done.stderr)[1].split(",")


def environment(**changes):
    """The test's environment, without variables that change the command's behaviour."""
    plain = {name: value for name, value in os.environ.items()
             if name not in ("NO_COLOR", "COROSCOPE_TRACE", "COROSCOPE_TRACE_OWNER")}
    return {**plain, **changes}


class ToolTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="coroscope-tools-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_success(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def assert_one_error(self, done, code, pattern):
        """Checks for one line on standard error, in the form of every error, and nothing on standard output."""
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, r"\Acoroscope: " + pattern + r"\n\Z")


# Acts as an instrumented program: leaves a trace at the path in the environment.
RECORD = "import os, shutil, sys; shutil.copy(sys.argv[1], os.environ['COROSCOPE_TRACE'])"


class RunTest(ToolTest):
    """A test of coroscope run, whose programs are Python's."""

    def run_in_folder(self, *arguments, **options):
        """Runs the program, with the summary on standard output unless an option says otherwise."""
        summary = () if {"--no-summary", "--summary-to"} & set(arguments) else ("--summary-to", "-")
        return coroscope("run", *summary, *arguments, cwd=self.folder, env=environment(), **options)

    def python(self, code, *arguments):
        return ("--", sys.executable, "-c", code, *arguments)


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
