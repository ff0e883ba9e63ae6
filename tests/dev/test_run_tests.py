#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/run_tests.py, which runs and counts the tests of a build folder."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()


class TestsOfAFolder(unittest.TestCase):
    """Projects without a language, so that nothing is compiled."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="coroscope-named-")
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name)

    def describe(self, needed, left_out):
        self.project.joinpath("meson.build").write_text(f"""project('p')
custom_target('other', output: '{left_out}', command: ['false'], build_by_default: true)
needed = custom_target('needed', output: '{needed}', command: ['touch', '@OUTPUT@'])
test('wanted', find_program('test'), args: ['-e', needed])
""")

    def run_wanted(self, *options):
        return subprocess.run([sys.executable, ROOT / "scripts/run_tests.py", *options, self.project / "build", "wanted"],
                              capture_output=True, text=True, timeout=60, check=False)

    def set_up(self):
        subprocess.run(["meson", "setup", "build"], cwd=self.project, capture_output=True, check=True)

    def test_only_the_dependencies_of_a_named_test_are_built_even_after_they_changed(self):
        for needed in ("before", "after"):
            self.describe(needed, "left_out")
            if needed == "before":
                self.set_up()
            self.assert_passed(self.run_wanted())

    def test_tests_that_run_under_a_wrapper_are_counted(self):
        self.describe("needed", "left_out")
        self.set_up()
        self.assert_passed(self.run_wanted("--wrapper", "env"))

    def run_script(self, script, *options):
        """Runs a project's test, a script of the shell in which $1 is a file that lasts from run to run. Another suite of
        the project makes Meson put the suites into its log's names."""
        program = self.project / "program"
        program.write_text(script)
        self.project.joinpath("meson.build").write_text(
            f"project('p')\ntest('wanted', find_program('sh'), args: ['{program}', '{self.project}/seen'], suite: 's')\n"
            "test('other', find_program('true'), suite: 'o')\n")
        self.set_up()
        return self.run_wanted(*options)

    def test_a_test_that_passes_on_its_second_run_is_counted_as_passed_and_listed(self):
        done = self.run_script('test -e "$1" || { touch "$1"; echo once; exit 3; }', "--second-run")
        self.assert_passed(done)
        self.assertIn("passed on a second run, alone:\n  p:s / wanted: exit status 3\n", done.stdout)
        self.assertIn("    once\n", done.stdout)

    def test_a_test_that_fails_twice_is_counted_as_failed_and_listed(self):
        done = self.run_script("exit 3", "--second-run")
        self.assertEqual(done.stdout.splitlines()[-4:],
                         ["failed:", "  p:s / wanted: exit status 3", "", "0 passed, 1 failed"])
        self.assertEqual(done.returncode, 1)

    def test_a_test_is_not_run_again_if_a_sanitizer_reported_a_fault(self):
        done = self.run_script('test -e "$1" || { touch "$1"; echo "WARNING: ThreadSanitizer: data race"; exit 66; }',
                               "--second-run")
        self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 1 failed")

    def test_a_test_is_run_once_without_the_option(self):
        done = self.run_script('test -e "$1" || { touch "$1"; exit 3; }')
        self.assertEqual(done.stdout.splitlines()[-1], "0 passed, 1 failed")

    def test_the_list_of_failures_has_each_case_with_its_first_error(self):
        rule, case = "=" * 79, "TEST CASE:  the sum is right"
        done = self.run_script(
            f"cat <<'T'\n{rule}\na.cpp:1:\n{case}\n\na.cpp:2: ERROR: CHECK( 1 == 2 )\n\n{rule}\nT\nexit 1\n")
        self.assertIn("failed:\n  p:s / wanted: the sum is right: a.cpp:2: ERROR: CHECK( 1 == 2 )\n", done.stdout)

    def test_tests_can_be_built_without_being_run(self):
        self.describe("needed", "left_out")
        self.set_up()
        done = self.run_wanted("--no-run")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(self.project.joinpath("build", "needed").exists())
        self.assertNotIn("passed", done.stdout)

    def assert_passed(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1], "1 passed, 0 failed")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
