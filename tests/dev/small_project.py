# SPDX-License-Identifier: Apache-2.0
"""A Meson project without a language, whose tests are scripts of the shell: nothing is compiled."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()

RULE = "=" * 79

DOCTEST_FAILURE = f"""{RULE}
a.cpp:1:
TEST CASE:  the sum is right

a.cpp:2: ERROR: CHECK( sum == 2 ) is NOT correct!
  values: CHECK( 1 == 2 )

{RULE}
[doctest] test cases:  3 |  2 passed | 1 failed |
"""
DOCTEST_SUCCESS = "[doctest] test cases:  3 |  3 passed | 0 failed |\n"

HANG = "exec sleep 300"

SANITIZER_REPORT = "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 8 by thread T1:\n"


def printing(text, status):
    """A script that prints the text and ends with the status."""
    return f"cat <<'T'\n{text}\nT\nexit {status}\n"


def fails_once(script):
    """A script that runs the other one only if it was not run before."""
    return f'test -e "$1" && exit 0\ntouch "$1"\n{script}'


class SmallProject(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="coroscope-project-")
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name)

    def write(self, meson_build):
        self.project.joinpath("meson.build").write_text("project('p')\n" + meson_build)

    def describe(self, *, build="", **scripts):
        """A test for each script. $1 is a file of its own that lasts from run to run. HANG runs out of time."""
        lines = [build]
        for name, script in scripts.items():
            self.project.joinpath(f"{name}.sh").write_text(script)
            # Two suites, because Meson puts the suites of several into the names of its log.
            lines.append(f"test('{name}', find_program('sh'), args: ['{self.project}/{name}.sh', "
                         f"'{self.project}/{name}.seen'], suite: '{name[0]}', timeout: {5 if HANG in script else 120})")
        self.write("\n".join(lines + ["test('other', find_program('true'), suite: 'other')\n"]))
        self.set_up()

    def set_up(self):
        subprocess.run(["meson", "setup", "build"], cwd=self.project, capture_output=True, check=True)
