#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the forms in which a trace may be given: any name, a pipe, compressed by gzip."""

import gzip
import json
import os
import struct
import subprocess

import tool
from sample_traces import DataTest, kineto
from tool import TOOL, coroscope


def is_built_with(symbol):
    with open(TOOL, "rb") as binary:
        return symbol in binary.read()


class Input(DataTest):
    def test_the_content_decides_and_not_the_name(self):
        path = self.folder / "trace.png"
        path.write_bytes(self.trace.read_bytes())
        self.assert_success(coroscope("table", path))

    def test_pipes_are_read_once_and_by_their_content(self):
        foreign = self.folder / "kineto.json"
        foreign.write_text(json.dumps(kineto()))
        for path in (self.trace, foreign):
            for arguments in (("table", "--format", "csv"), ("table", "--torch", "--json"), ("export", "-o", "-")):
                with self.subTest(path=path, arguments=arguments):
                    want = coroscope(arguments[0], path, *arguments[1:])
                    for content in (path.read_bytes(), gzip.compress(path.read_bytes())):
                        done = subprocess.run([TOOL, arguments[0], "/dev/stdin", *arguments[1:]], input=content,
                                              capture_output=True, check=False, timeout=60)
                        self.assertEqual((done.returncode, done.stderr), (0, b""))
                        self.assertEqual(done.stdout.decode(), want.stdout)

    def test_a_file_of_another_format_is_refused_by_the_name_of_the_format(self):
        path = self.folder / "other"
        for content, pattern in ((b"\x7fELF\x02\x01", "is an ELF file"), (b"\x28\xb5\x2f\xfd", ".*zstd -d"),
                                 (b"\xfd7zXZ\0", ".*xz -d"), (b"BZh9", ".*bzip2 -d"), (b"PK\x03\x04", ".*unzip"),
                                 (b"PERFILE2", "is a recording of Linux perf"),
                                 (b"\n\x85\x01\x08abc", "is a Perfetto trace in protobuf")):
            for packed in (content + bytes(32), gzip.compress(content + bytes(32))):
                path.write_bytes(packed)
                for command in ("table", "tasks", "info"):
                    self.assert_one_error(coroscope(command, path), 1, f"{path}: {pattern}.*")
        self.assert_one_error(coroscope("table", self.folder), 1, ".*is a directory")

    def peak_bytes(self, path, code=0):
        """The peak memory of the command that prints the table of a trace, without the memory that a test runner lets
        malloc fill."""
        environment = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
        with subprocess.Popen([TOOL, "table", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=environment) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, code)
        return usage.ru_maxrss << 10

    def write_blanks(self, size):
        path = self.folder / f"blanks-{size}.gz"
        with gzip.open(path, "wb", 1) as made:  # in parts: the memory of this process counts as that of its child
            made.write(b'{"traceEvents":[')
            for _ in range(size >> 20):
                made.write(b" " * (1 << 20))
            made.write(b"]}")
        return path

    def write_empty_chunks(self, size):
        path = self.folder / f"chunks-{size}.cst"
        trace = bytearray(self.trace.read_bytes())
        chunk_bytes, = struct.unpack_from("<I", trace, 16)
        struct.pack_into("<Q", trace, 40, (len(trace) + size) // chunk_bytes)
        path.write_bytes(trace)
        os.truncate(path, len(trace) + size // chunk_bytes * chunk_bytes)
        self.assert_success(coroscope("pack", path))
        return path.with_suffix(".cstz")

    def test_a_small_file_takes_little_memory_even_if_it_unpacks_to_a_large_one(self):
        if is_built_with(b"__tsan_init"):
            self.skipTest("ThreadSanitizer takes memory for each page that is read")
        small, large = 1 << 24, 1 << 28
        # AddressSanitizer has a byte for each eight bytes of memory.
        share = 4 if is_built_with(b"__asan_init") else 8
        for write in (self.write_blanks, self.write_empty_chunks):
            with self.subTest(write=write.__name__):
                growth = self.peak_bytes(write(large)) - self.peak_bytes(write(small))
                self.assertLess(growth, (large - small) // share)

    def test_a_file_that_gzip_compressed_more_than_any_recording_is_refused(self):
        size = 1 << 29
        for name, first in (("trace.gz", self.trace.read_bytes()), ("database.gz", b"SQLite format 3\0")):
            path = self.folder / name
            with gzip.open(path, "wb", 1) as made:
                made.write(first)
                for _ in range(size >> 20):
                    made.write(b"\1" * (1 << 20))
            self.assert_one_error(coroscope("table", path), 1,
                                  f"{path}: unpacks to more than 64 times its size.*decompress it first.*")
            if not is_built_with(b"__tsan_init") and not is_built_with(b"__asan_init"):
                self.assertLess(self.peak_bytes(path, code=1), size // 2)

    def test_chunks_of_an_impossible_size_are_refused(self):
        path = self.folder / "large.cst"
        trace = bytearray(self.trace.read_bytes())
        for size in (0, 4097, 1 << 30, (1 << 32) - 4096):
            struct.pack_into("<I", trace, 16, size)
            for content in (trace, gzip.compress(trace)):
                path.write_bytes(content)
                self.assert_one_error(coroscope("table", path), 1, ".*has chunks of an impossible size.*")

    def test_a_trace_compressed_by_gzip_reads_like_the_trace(self):
        packed = self.folder / "trace.gz"
        packed.write_bytes(gzip.compress(self.trace.read_bytes()))
        for command in ("table", "awaits", "tasks", "streams", "ranges", "info"):
            with self.subTest(command=command):
                done = coroscope(command, packed, "--json")
                self.assert_success(done)
                self.assertEqual(done.stdout, coroscope(command, self.trace, "--json").stdout)


if __name__ == "__main__":
    tool.main()
