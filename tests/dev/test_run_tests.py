#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/run_tests.py, which runs and counts the tests of a build folder."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_project import (DOCTEST_FAILURE, DOCTEST_SUCCESS, HANG, ROOT, SANITIZER_REPORT, SmallProject,  # noqa: E402
                           fails_once, printing)


class Runs(SmallProject):
    def run_tests(self, *arguments, **variables):
        return subprocess.run([sys.executable, ROOT / "scripts/run_tests.py", *arguments[:-1], self.project / "build",
                               *arguments[-1:]], env={**os.environ, **variables}, capture_output=True, text=True, timeout=300,
                              check=False)

    def assert_ends(self, done, status, line):
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (status, line), done.stdout + done.stderr)

    def assert_block(self, done, *lines):
        self.assertIn("\n" + "\n".join(lines) + "\n", done.stdout)


class NamedTests(Runs):
    def needs(self, needed):
        self.write(f"""custom_target('other', output: 'left_out', command: ['false'], build_by_default: true)
needed = custom_target('needed', output: '{needed}', command: ['touch', '@OUTPUT@'])
test('wanted', find_program('test'), args: ['-e', needed])
""")

    def test_a_test_is_built_with_what_it_needs_alone_also_where_that_changed(self):
        for needed in ("before", "after"):
            self.needs(needed)
            if needed == "before":
                self.set_up()
            self.assert_ends(self.run_tests("wanted"), 0, "1 passed, 0 failed")

    def test_everything_is_built_for_a_test_that_installs_the_build(self):
        self.write("""custom_target('other', output: 'other', command: ['touch', '@OUTPUT@'], build_by_default: true)
test('installs', find_program('test'), args: ['-e', 'other', '-a', '-d', meson.project_build_root()],
     workdir: meson.project_build_root())
""")
        self.set_up()
        self.assert_ends(self.run_tests("installs"), 0, "1 passed, 0 failed")

    def test_tests_that_something_else_runs_are_counted_too(self):
        self.needs("needed")
        self.set_up()
        self.assert_ends(self.run_tests("--wrapper", "env", "wanted"), 0, "1 passed, 0 failed")

    def test_a_test_that_does_not_exist_is_a_failure(self):
        self.describe(wanted="exit 0")
        done = self.run_tests("wonted")
        self.assert_ends(done, 1, "0 passed, 1 failed")
        self.assertIn("---- FAILED: build: no test wonted\n", done.stdout)


class Failures(Runs):
    def test_a_failed_case_is_named_with_its_place_its_expression_and_its_values(self):
        self.describe(wanted=printing(DOCTEST_FAILURE, 1))
        done = self.run_tests("wanted")
        self.assert_ends(done, 1, "2 passed, 1 failed")
        self.assert_block(done, "---- FAILED: build: p:w / wanted (exit status 1)", "    case: the sum is right",
                          "    a.cpp:2: ERROR: CHECK( sum == 2 ) is NOT correct!", "      values: CHECK( 1 == 2 )")

    def test_a_signal_a_time_out_and_an_output_of_another_kind_are_named(self):
        self.describe(crashing="kill -SEGV $$", hanging=HANG, other_kind="echo seed 42; echo odd; exit 3")
        done = self.run_tests("crashing")
        self.assert_ends(done, 1, "0 passed, 1 failed")
        self.assert_block(done, "---- FAILED: build: p:c / crashing (killed by signal 11)", "    (it printed nothing)")
        self.assertRegex(self.run_tests("hanging").stdout, r"\n---- FAILED: build: p:h / hanging \(ran out of time after \d+ s\)\n")
        self.assert_block(self.run_tests("other_kind"), "---- FAILED: build: p:o / other_kind (exit status 3)", "    seed 42",
                          "    odd")

    def test_a_crash_after_the_last_case_is_a_failure(self):
        self.describe(wanted=f"cat <<'T'\n{DOCTEST_SUCCESS}T\nkill -SEGV $$")
        done = self.run_tests("wanted")
        self.assert_ends(done, 1, "3 passed, 1 failed")
        self.assert_block(done, "---- FAILED: build: p:w / wanted (killed by signal 11)",
                          "    " + DOCTEST_SUCCESS.strip())

    def test_the_first_error_of_each_file_of_a_broken_build_is_named(self):
        self.project.joinpath("compiler").write_text(printing(
            "a.cpp:3:1: error: no ;\na.cpp:4:1: error: no type\nb.cpp:7:2: fatal error: no b.hpp", 1))
        self.describe(build=f"custom_target('x', output: 'x', build_by_default: true, "
                            f"command: ['sh', '{self.project}/compiler'])", wanted="exit 0")
        done = subprocess.run([sys.executable, ROOT / "scripts/run_tests.py", self.project / "build"], capture_output=True,
                              text=True, timeout=300, check=False)
        self.assert_ends(done, 1, "0 passed, 1 failed")
        self.assert_block(done, "---- FAILED: build: the build", "    a.cpp:3:1: error: no ;", "    b.cpp:7:2: fatal error: no b.hpp")

    def test_the_last_hundred_lines_of_many_long_failures_name_each(self):
        long = "\n".join(f"{'x' * 400} {line}" for line in range(200))
        self.describe(**{f"wanted{number}": printing(long, 1) for number in range(12)})
        done = subprocess.run([sys.executable, ROOT / "scripts/run_tests.py", self.project / "build"], capture_output=True,
                              text=True, timeout=300, check=False)
        self.assert_ends(done, 1, "1 passed, 12 failed")
        last = done.stdout.splitlines()[-100:]
        for number in range(12):
            self.assertIn(f"---- FAILED: build: p:w / wanted{number} (exit status 1)", last)
        self.assertLessEqual(max(map(len, last)), 300)


class SecondTries(Runs):
    def test_a_test_that_passes_alone_is_unstable_and_counts_as_passed(self):
        self.describe(wanted=fails_once(printing(DOCTEST_FAILURE, 1)))
        done = self.run_tests("wanted")
        self.assert_ends(done, 0, "1 passed, 0 failed")
        self.assertIn("\nunstable, each an open defect (docs/contributing/unstable_tests.md): wanted\n", done.stdout)
        self.assert_block(done, "---- UNSTABLE: build: p:w / wanted (exit status 1)", "    case: the sum is right")

    def test_a_test_that_ran_out_of_time_and_passes_alone_is_unstable(self):
        self.describe(wanted=fails_once(HANG))
        self.assert_ends(self.run_tests("wanted"), 0, "1 passed, 0 failed")

    def test_a_sanitizers_report_and_a_signal_stay_failures(self):
        self.describe(wanted=fails_once(printing(SANITIZER_REPORT, 66)), killed=fails_once("kill -ABRT $$"))
        done = self.run_tests("wanted")
        self.assert_ends(done, 1, "0 passed, 1 failed")
        self.assert_block(done, "---- FAILED: build: p:w / wanted (exit status 66)",
                          "    WARNING: ThreadSanitizer: data race (pid=1)", "      Write of size 8 by thread T1:")
        self.assert_ends(self.run_tests("killed"), 1, "0 passed, 1 failed")

    def test_more_than_three_unstable_programs_fail_the_run(self):
        for number, status in ((3, 0), (4, 1)):
            self.setUp()
            self.describe(**{f"wanted{each}": fails_once("exit 1") for each in range(number)})
            done = subprocess.run([sys.executable, ROOT / "scripts/run_tests.py", self.project / "build"],
                                  capture_output=True, text=True, timeout=300, check=False)
            self.assert_ends(done, status, f"{number + 1} passed, 0 failed")


class Surroundings(Runs):
    def test_tests_do_not_see_what_a_users_shell_has_set(self):
        self.describe(wanted='test -z "$COROSCOPE_TRACE$LC_ALL$COLUMNS$NO_COLOR" && test "$LANG$TERM" = C.UTF-8dumb')
        done = self.run_tests("wanted", COROSCOPE_TRACE="x", LC_ALL="de_DE", COLUMNS="20", NO_COLOR="1", LANG="C", TERM="vt52")
        self.assert_ends(done, 0, "1 passed, 0 failed")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
