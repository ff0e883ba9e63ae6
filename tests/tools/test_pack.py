#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `coroscope pack`: every command reads its file like the trace."""

import json
import os
import random
import subprocess

import tool
import trace_builder
from tool import TOOL, ToolTest, coroscope, export_formats

READING = [("table",), ("table", "--group-by", "line"), ("table", "--torch"), ("awaits",), ("awaits", "--chains"),
           ("tasks",), ("tasks", "--tree"), ("tasks", "--task", "3"), ("streams",), ("resources",),
           ("executors",),
           ("ranges",)]


class Pack(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.service().write(self.folder / "service.cst")
        self.packed = self.folder / "service.cstz"

    def pack(self):
        done = coroscope("pack", self.trace)
        self.assert_success(done)
        return done

    def assert_same(self, *arguments, **options):
        """Both files give the same output, except for their names."""
        one, other = (coroscope(*arguments[:1], file, *arguments[1:], **options) for file in (self.trace, self.packed))
        self.assertEqual((one.returncode, one.stdout), (other.returncode, other.stdout), arguments)
        self.assertEqual(one.stderr.replace("service.cst:", "service.cstz:"), other.stderr)

    def assert_same_file(self, *arguments):
        """The same for a command whose last argument is the file that it writes."""
        contents = []
        for file in (self.trace, self.packed):
            target = self.folder / "written"
            self.assertEqual(coroscope(*arguments[:1], file, *arguments[1:], target).returncode, 0)
            contents.append(target.read_bytes())
        self.assertEqual(contents[0], contents[1])

    def assert_all_same(self, *forms):
        for command in READING:
            for form in forms:
                self.assert_same(*command, "--format", form)
        for to in export_formats():
            if to == "sqlite":
                self.assert_same_file("export", "--to", to, "-o")
                continue
            table = ("--table", "scopes") if to in ("csv", "ndjson") else ()
            self.assert_same("export", "--to", to, *table, "-o", "-", encoding="latin-1")  # bytes that may be no text
        self.assert_same("export", "--torch", "-o", "-")

    def test_the_packed_file_is_beside_the_trace_and_its_size_is_printed(self):
        self.assertRegex(self.pack().stdout, r"service\.cstz: [0-9.]+ KB, was [0-9.]+ KB \([0-9.]+ %\)\n\Z")
        self.assertLess(self.packed.stat().st_size * 4, self.trace.stat().st_size)

    def test_a_hostile_name_reaches_no_terminal(self):
        done = coroscope("pack", self.trace, "-o", self.folder / "a\x1b[31m\nb")
        self.assert_success(done)
        self.assertIn("a?[31m?b: ", done.stdout)

    def test_every_command_prints_the_same_for_a_packed_trace(self):
        self.pack()
        self.assert_all_same("text", "csv", "json")

    def test_devices_and_streams_are_printed_the_same_for_a_packed_trace(self):
        for built in (trace_builder.pipeline(), trace_builder.streams()):
            built.write(self.trace)
            self.pack()
            self.assert_all_same("text")
            self.assert_same("table", "--device")

    def test_damage_is_reported_in_the_same_way_for_a_packed_trace(self):
        content = bytearray(self.trace.read_bytes())
        content[-4096 + 70] ^= 255
        self.trace.write_bytes(content[:-100])
        self.pack()
        self.assertIn("warning", coroscope("table", self.packed).stderr)
        self.assert_all_same("text")

    def test_the_content_of_a_packed_file_decides_and_not_its_name(self):
        renamed = self.folder / "other.json"
        self.assert_success(coroscope("pack", self.trace, "-o", renamed))
        self.assertEqual(coroscope("table", renamed).stdout, coroscope("table", self.trace).stdout)

    def test_info_shows_both_sizes(self):
        self.pack()
        plain, packed = (json.loads(coroscope("info", file, "--json").stdout) for file in (self.trace, self.packed))
        self.assertEqual(packed.pop("packed_bytes"), self.packed.stat().st_size)
        self.assertAlmostEqual(packed.pop("packed_bytes_per_scope"), self.packed.stat().st_size / packed["scopes"])
        self.assertEqual(packed, plain)
        self.assertEqual(plain["file_bytes"], self.trace.stat().st_size)
        self.assertRegex(coroscope("info", self.packed).stdout, r"(?m)^Packed +[0-9.]+ KB, [0-9.]+ bytes per scope$")
        self.assertNotIn("Packed", coroscope("info", self.trace).stdout)

    def test_standard_output_gets_only_the_bytes(self):
        self.pack()
        done = subprocess.run([TOOL, "pack", self.trace, "-o", "-"], capture_output=True, check=True)
        self.assertEqual(done.stdout, self.packed.read_bytes())

    def test_a_file_that_cannot_be_packed_leaves_no_output_file(self):
        self.pack()
        self.assert_one_error(coroscope("pack", self.packed), 1, r".*is packed already \(byte 0\)")
        other = self.folder / "text"
        other.write_text("no trace")
        self.assert_one_error(coroscope("pack", other), 1, r".*is not a Coroscope trace \(byte 0\)")
        self.assertEqual(sorted(os.listdir(self.folder)), ["service.cst", "service.cstz", "text"])

    def test_pack_does_not_overwrite_the_trace(self):
        before = self.trace.read_bytes()
        self.assert_one_error(coroscope("pack", self.trace, "-o", self.trace), 2, r"--output: would overwrite the trace")
        self.assertEqual(self.trace.read_bytes(), before)

    def test_a_trace_from_a_pipe_needs_a_name_for_the_output(self):
        self.pack()
        os.mkfifo(self.folder / "fifo")
        needs = r": is not a regular file: name the output with -o \(- for standard output\)"
        self.assert_one_error(coroscope("pack", self.folder / "fifo"), 2, ".*/fifo" + needs)
        with self.trace.open("rb") as trace:
            for given in (subprocess.PIPE, trace):
                with self.subTest(given=given):
                    # /proc: a wrong attempt to write would fail
                    done = subprocess.run([TOOL, "pack", "/proc/self/fd/0"], stdin=given, capture_output=True, encoding="utf-8",
                                          check=False, timeout=60)
                    self.assert_one_error(done, 2, "/proc/self/fd/0" + needs)
        done = subprocess.run([TOOL, "pack", "/dev/stdin", "-o", "-"], input=self.trace.read_bytes(), capture_output=True,
                              check=True, timeout=60)
        self.assertEqual(done.stdout, self.packed.read_bytes())

    def test_a_trace_that_is_cut_while_it_is_read_is_an_error(self):
        # Bytes that are no chunks are kept unchanged. There are more of them than the pipe takes, so that the command
        # waits half way.
        data = trace_builder.service().data() + random.Random(1).randbytes(256 * trace_builder.CHUNK_BYTES)
        self.trace.write_bytes(data)
        packing = subprocess.Popen([TOOL, "pack", self.trace, "-o", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(packing.kill)
        packing.stdout.read(1 << 16)
        self.trace.write_bytes(b"")
        _, errors = packing.communicate(timeout=60)
        self.assertEqual((packing.returncode, errors.decode()),
                         (1, f"coroscope: {self.trace}: was cut while it was read\n"))

    def test_a_full_disk_is_an_error(self):
        done = coroscope("pack", self.trace, "-o", "/dev/full")
        self.assert_one_error(done, 1, r"/dev/full: No space left on device")


if __name__ == "__main__":
    tool.main()
