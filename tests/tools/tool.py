# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: where it is, and how it is called."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "coroscope")


def coroscope(*arguments, **options):
    """Runs the command. Its output is text; a byte that is no UTF-8 fails the test."""
    options = {"timeout": 60, "encoding": "utf-8", **options}
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, check=False, **options)


def environment(**changes):
    """Ours, without what changes the command's behaviour."""
    plain = {name: value for name, value in os.environ.items()
             if name not in ("NO_COLOR", "COROSCOPE_TRACE")}
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
        """One line on standard error, in the form every error has, and nothing on standard output."""
        self.assertEqual(done.returncode, code, done)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, r"\Acoroscope: " + pattern + r"\n\Z")


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
