#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the scripts that complete the command's words, and of the manual."""

import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

from tool import TOOL, ToolTest, coroscope, export_formats


def commands_of_help():
    text = coroscope("--help").stdout.split("Subcommands:")[1].split("Example:")[0]
    return re.findall(r"^  (\w+)", text, re.MULTILINE)


class Shells(ToolTest):
    def script(self, shell):
        done = coroscope("completion", shell)
        self.assert_success(done)
        path = self.folder / f"coroscope.{shell}"
        path.write_text(done.stdout, encoding="utf-8")
        return path

    def completed(self, *words):
        """The words that bash offers for the last of `words`."""
        script = self.script("bash")
        text = f"""source {shlex.quote(str(script))}
COMP_WORDS=(coroscope {" ".join(f"'{word}'" for word in words)})
COMP_CWORD={len(words)}
_coroscope
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
        done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, cwd=self.folder, timeout=60,
                              check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_offers_every_command(self):
        self.assertLessEqual(set(commands_of_help()), set(self.completed("")))
        self.assertEqual(self.completed("tab"), ["table"])

    def test_bash_offers_the_options_of_the_command(self):
        self.assertIn("--blame", self.completed("awaits", "--"))
        self.assertNotIn("--blame", self.completed("table", "--"))

    def test_bash_offers_the_values_of_an_option(self):
        self.assertEqual(self.completed("export", "--to", ""), export_formats())
        self.assertEqual(self.completed("table", "--format", "c"), ["csv"])

    def test_bash_offers_files_for_traces(self):
        (self.folder / "trace.cst").touch()
        self.assertIn("trace.cst", self.completed("awaits", "trace"))
        self.assertIn("trace.cst", self.completed("export", "-o", "trace"))

    def test_a_script_has_no_errors_for_its_shell(self):
        for shell in ("bash", "zsh", "fish"):
            with self.subTest(shell):
                script = self.script(shell)
                if not shutil.which(shell):
                    self.skipTest(f"there is no {shell}")
                done = subprocess.run([shell, "-n", script], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish_offers_options_and_values(self):
        text = (f"source {shlex.quote(str(self.script('fish')))}; "
                "complete -C 'coroscope export --to spee'; complete -C 'coroscope awaits --bla'")
        done = subprocess.run(["fish", "-N", "-c", text], capture_output=True, text=True, timeout=60, check=False)
        self.assertIn("speedscope", done.stdout)
        self.assertIn("--blame", done.stdout)

    def test_an_unknown_shell_is_refused(self):
        self.assert_one_error(coroscope("completion", "ksh"), 2, r".*ksh.*")


class Manual(ToolTest):
    def test_the_manual_has_every_command_with_its_options(self):
        text = coroscope("manual").stdout
        for command in commands_of_help():
            with self.subTest(command):
                self.assertIn(f".SS coroscope {command}\n", text)
        self.assertIn("\\fB\\-\\-blame\\fR", text)

    @unittest.skipUnless(shutil.which("mandoc"), "there is no mandoc")
    def test_the_manual_is_a_valid_page(self):
        page = self.folder / "coroscope.1"
        page.write_text(coroscope("manual").stdout, encoding="utf-8")
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", page], capture_output=True, text=True, timeout=60,
                              check=False)
        # The page has no date: it would be that of the build.
        self.assertEqual([line for line in done.stdout.splitlines() if "missing date" not in line], [])

    def test_the_build_makes_the_scripts_and_the_manual_that_are_installed(self):
        made = pathlib.Path(TOOL).parent / "completion"
        if not (made / "coroscope.1").exists():
            self.skipTest("they are not built")
        self.assertEqual((made / "coroscope.1").read_text(encoding="utf-8"), coroscope("manual").stdout)
        self.assertEqual((made / "coroscope").read_text(encoding="utf-8"), coroscope("completion", "bash").stdout)


if __name__ == "__main__":
    unittest.main(argv=["test_completion.py"], verbosity=2)
