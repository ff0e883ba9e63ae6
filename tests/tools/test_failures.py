#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the failures of commands that read a trace, and of their use of the standard streams."""

import gzip
import os
import pty
import re
import subprocess

import tool
import trace_builder
from sample_traces import PRINTING, DataTest
from tool import TOOL, coroscope


class Failure(DataTest):
    def test_a_mistyped_command_or_option_is_answered_with_the_intended_one(self):
        help_lines = coroscope("--help").stdout.split("Subcommands:")[1].split("Example:")[0].splitlines()
        commands = [line.split()[0] for line in help_lines if line.strip()]
        self.assertIn("table", commands)
        for command in commands:
            swapped = command[1] + command[0] + command[2:]
            for more in ((), ("--help",), ("x.cst",)):
                self.assert_one_error(coroscope(swapped, *more), 2,
                                      f"there is no command {swapped}; did you mean {command}\\?; see coroscope --help")
            options = re.findall(r"--[a-z][a-z-]+", coroscope(command, "--help").stdout.split("Options:")[1])
            option = next((each for each in options if each != "--help"), "--help")
            self.assert_one_error(coroscope(command, option + "e", "--help"), 2,
                                  f"there is no option {option}e; did you mean {option}\\?; see coroscope {command} --help")

    def test_a_word_that_resembles_no_name_is_refused_without_a_guess(self):
        for arguments in (("nosuch", "--help"), ("table", "x.cst", "--nosuch=1")):
            done = coroscope(*arguments)
            self.assert_one_error(done, 2, "there is no .*nosuch; see coroscope.* --help")
        self.assert_one_error(coroscope("table", "--header", "--nosuch", "nowhere.cst"), 1, "nowhere.cst: cannot be opened.*")

    def test_a_missing_file_is_named(self):
        for command in ("table", "awaits", "tasks", "info"):
            with self.subTest(command=command):
                self.assert_one_error(coroscope(command, self.folder / "none.cst"), 1, r".*none\.cst: .+")

    def test_every_command_reports_a_directory_as_one(self):
        for command in (("table",), ("awaits",), ("info",), ("pack",), ("export", "--to", "stacks", "-o", "-")):
            with self.subTest(command=command):
                self.assert_one_error(coroscope(command[0], self.folder, *command[1:]), 1, r".*: is a directory")

    def test_a_file_that_is_no_trace_is_refused(self):
        for content in (b"", b"{}", b"\x7fELF" + bytes(5000), b"x" * 5000):
            path = self.folder / "other"
            path.write_bytes(content)
            self.assert_one_error(coroscope("table", path), 1, rf"{path}: .+( \(byte \d+\))?")

    def test_a_file_that_is_no_trace_is_refused_from_a_pipe_and_compressed_too(self):
        path = self.folder / "other.gz"
        path.write_bytes(gzip.compress(b"{}"))
        self.assert_one_error(coroscope("awaits", path), 1, rf"{path}: is not a Coroscope trace \(byte 0\)")
        done = subprocess.run([TOOL, "awaits", "/dev/stdin"], input="{}", capture_output=True, encoding="utf-8",
                              check=False, timeout=60)
        self.assert_one_error(done, 1, r"/dev/stdin: is not a Coroscope trace \(byte 0\)")

    def test_damage_is_a_warning_on_standard_error_and_a_note_in_the_view(self):
        data = bytearray(trace_builder.service().data())
        data[4096 + 65536:4096 + 65536 + 4] = b"XXXX"  # the first chunk of records
        path = self.folder / "damaged.cst"
        path.write_bytes(data)
        done = coroscope("table", path)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, rf"(?m)^coroscope: {path}: warning: .+$")
        self.assertIn("amage", done.stdout)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("coroscope: "))

    def test_a_cut_trace_still_reads(self):
        data = trace_builder.service().data()
        path = self.folder / "cut.cst"
        for length in (4096, 4100, 4096 + 65536, 4096 + 65536 + 1000, len(data) - 1):
            path.write_bytes(data[:length])
            done = coroscope("info", path)
            self.assertIn(done.returncode, (0, 1))
            self.assertFalse(done.returncode == 1 and done.stderr.count("\n") != 1, done)

    def test_a_missing_task_is_a_failure(self):
        self.assert_one_error(coroscope("tasks", self.trace, "--task", "999"), 1,
                              r".*service\.cst: there is no task 999; coroscope tasks --tree lists the tasks")

    def test_a_value_that_is_no_task_s_number_is_named(self):
        for typed in ("-1", "18446744073709551616", "99999999999999999999999", "0x3", "3.0", "three", ""):
            with self.subTest(typed=typed):
                self.assert_one_error(coroscope("tasks", self.trace, "--task", typed), 2, rf"--task: not a task's number: {typed}; .*")
        self.assert_one_error(coroscope("tasks", self.trace, "--task", 2 ** 64 - 1), 1, r".*: there is no task 18446744073709551615; .*")

    def test_wrong_usage_exits_with_2_and_one_line(self):
        for arguments in ((), ("nonsense",), ("table",), ("table", self.trace, "--format", "xml"),
                          ("table", self.trace, "--limit", "many"), ("table", self.trace, "--limit", "-2"),
                          ("table", self.trace, "--sort-by", "colour"), ("awaits", self.trace, "--sort-by", "colour"),
                          ("table", self.trace, "--json", "--format", "csv"), ("table", self.trace, "--time-unit", "h"),
                          ("tasks", self.trace, "--tree", "--task", "1"), ("export", self.trace),
                          ("export", self.trace, "--to", "paper", "-o", "x"), ("info", self.trace, "extra"), ("run",)):
            with self.subTest(arguments=arguments):
                self.assert_one_error(coroscope(*arguments), 2, r".+")

    def test_every_command_has_help_with_an_example(self):
        for command in ("run", "table", "awaits", "tasks", "info", "export"):
            done = coroscope(command, "--help")
            self.assert_success(done)
            self.assertIn(f"Example:\n  coroscope {command} ", done.stdout)
        self.assertIn("Example:", coroscope("--help").stdout)
        self.assertRegex(coroscope("--version").stdout, r"^\d+\.\d+\.\d+\n$")


class Streams(DataTest):
    def test_a_reader_that_leaves_early_is_no_error(self):
        for arguments in (("tasks", "--tree"), ("export", "-o", "-")):
            command = f'"{TOOL}" {arguments[0]} "{self.trace}" {" ".join(arguments[1:])} | head -n 1; echo "${{PIPESTATUS[0]}}"'
            done = subprocess.run(["bash", "-c", command], capture_output=True, encoding="utf-8", check=False)
            self.assertEqual(done.stderr, "")
            self.assertEqual(done.stdout.splitlines()[-1], "0")

    def test_a_closed_pipe_is_no_error_even_at_the_first_byte(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([TOOL, "table", self.trace], stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_a_full_disk_on_standard_output_is_an_error(self):
        for arguments in PRINTING + [("export", "-o", "-")]:
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as full:
                done = subprocess.run([TOOL, *arguments, self.trace], stdout=full, stderr=subprocess.PIPE,
                                      encoding="utf-8", check=False)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr, "coroscope: standard output: No space left on device\n")

    def on_terminal(self, **variables):
        """The output of the command on a terminal."""
        ours, theirs = pty.openpty()
        done = subprocess.Popen([TOOL, "table", self.trace], stdout=theirs, stderr=subprocess.DEVNULL,
                                env=tool.environment(TERM="xterm", **variables))
        os.close(theirs)
        output = b""
        try:
            while part := os.read(ours, 65536):
                output += part
        except OSError:  # how Linux ends a terminal
            pass
        os.close(ours)
        done.wait(timeout=60)
        return output

    def test_colour_is_for_terminals_unless_no_color_is_set(self):
        self.assertIn(b"\x1b[", self.on_terminal())
        self.assertNotIn(b"\x1b[", self.on_terminal(NO_COLOR="1"))
        self.assertNotIn("\x1b[", coroscope("table", self.trace, env=tool.environment(TERM="xterm")).stdout)

    def test_only_errors_are_on_standard_error_if_it_is_no_terminal(self):
        self.assert_success(coroscope("export", self.trace, "-o", self.folder / "out.json"))


if __name__ == "__main__":
    tool.main()
