#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coroscope doctor: the rows on this machine, under a seccomp filter, without privileges, and of programs."""

import csv
import ctypes
import errno
import io
import json
import os
import platform
import resource
import struct
import subprocess
import sys
import unittest

import tool
from tool import ToolTest, coroscope

MACHINE = ["scopes and tasks", "context switches", "times per thread", "blocking system calls", "lock holders", "fast clock",
           "lines of stacks", "NVIDIA GPUs", "processors and quota", "memory for traces", "trace in this folder", "open files",
           "locked memory", "kernel and C library"]
PROGRAM = ["program", "Coroscope in it", "COROSCOPE_ variables", "preloaded libraries", "names of functions", "debug lines"]

PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
PROCESS_VM_READV = {"x86_64": 310, "aarch64": 270}
REFUSE, KILL_PROCESS, ALLOW = 0x00050000, 0x80000000, 0x7fff0000  # SECCOMP_RET_…
NO_ONE = 65534


def filter_call(numbers, answer):
    """A function that gives the calling process a seccomp filter: one system call gets this answer."""
    number = numbers[platform.machine()]
    program = b"".join(struct.pack("<HBBI", *each) for each in (
        (0x20, 0, 0, 0),                  # load the number of the system call
        (0x15, 0, 1, number), (0x06, 0, 0, answer), (0x06, 0, 0, ALLOW)))
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        memory = ctypes.create_string_buffer(program, len(program))
        described = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(memory)))
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, described, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
    return install


def seccomp_works():
    if platform.machine() not in PERF_EVENT_OPEN:
        return False
    try:
        subprocess.run(["true"], preexec_fn=filter_call(PERF_EVENT_OPEN, REFUSE | errno.EPERM), check=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def doctor(*arguments, **options):
    done = coroscope("doctor", "--json", *arguments, **options)
    return done, {each["fact"]: each for each in json.loads(done.stdout)}


def elf(needed=(), symbols=(), interpreted=True, sections=(), kind=3, machine=None, stripped=False):
    """A file with the tables of a program, and no code: a loaded segment at address 0, and what is asked for."""
    machine = {"x86_64": 62, "aarch64": 183}[platform.machine()] if machine is None else machine
    strings, dynamic = b"\0", b""
    for name in needed:
        dynamic += struct.pack("<QQ", 1, len(strings))
        strings += name.encode() + b"\0"
    names, table = b"\0", bytes(24)
    for name in symbols:
        table += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, 0x1000, 8)
        names += name.encode() + b"\0"
    start = 64 + 3 * 56
    dynamic += struct.pack("<QQ", 10, len(strings)) + struct.pack("<QQ", 5, start)
    dynamic += struct.pack("<QQ", 0x6ffffffb, 0x08000000) + bytes(16)  # DT_FLAGS_1, of a program
    parts = [(b"", 0, b"", 0), (b".shstrtab", 3, None, 0), (b".strtab", 3, names, 0)]
    if not stripped:
        parts.append((b".symtab", 2, table, 2))
    parts += [(name.encode(), 1, b"x", 0) for name in sections]
    titles = b"".join(name + b"\0" for name, *_ in parts)
    body, headers, at = strings, b"", 0
    dynamic_at = start + len(body)
    body += dynamic
    for name, of, contents, link in parts:
        contents = titles if contents is None else contents
        headers += struct.pack("<IIQQQQIIQQ", at, of, 0, 0, start + len(body), len(contents), link, 0, 1, 24 if of == 2 else 0)
        body += contents
        at += len(name) + 1
    segments = struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, start + len(body), start + len(body), 4096)
    segments += struct.pack("<IIQQQQQQ", 2, 4, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)
    segments += struct.pack("<IIQQQQQQ", 3 if interpreted else 0, 4, 0, 0, 0, 0, 0, 1)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, start + len(body), 0, 64, 56, 3,
                                                      64, len(parts), 1)
    return header + segments + body + headers


class Machine(ToolTest):
    def test_every_fact_has_a_state_and_a_reason(self):
        done, rows = doctor()
        self.assert_success(done)
        self.assertEqual(list(rows), MACHINE)
        for row in rows.values():
            self.assertEqual(list(row), ["fact", "state", "why", "change"])
            self.assertIn(row["state"], ("yes", "partly", "no", "unknown"))
            self.assertTrue(row["why"])
        self.assertEqual(rows["scopes and tasks"]["state"], "yes")
        self.assertIn(platform.release(), rows["kernel and C library"]["why"])

    def test_text_csv_and_json_have_the_same_rows(self):
        rows = list(doctor()[1].values())
        table = list(csv.DictReader(io.StringIO(coroscope("doctor", "--format", "csv").stdout)))
        self.assertEqual([row["fact"] for row in table], [row["fact"] for row in rows])
        self.assertEqual([row["state"] for row in table], [row["state"] for row in rows])
        lines = coroscope("doctor").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["Fact", "State", "Why", "Change"])
        for line, name in zip(lines[2:], MACHINE, strict=True):
            self.assertTrue(line.startswith(name + " "), line)

    def test_doctor_leaves_no_file(self):
        self.assert_success(doctor(cwd=self.folder)[0])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_the_folder_of_the_trace_is_the_current_one(self):
        self.assertIn(str(self.folder.resolve()), doctor(cwd=self.folder)[1]["trace in this folder"]["why"])

    @unittest.skipUnless(os.path.isdir("/dev/shm"), "SKIP: no /dev/shm")
    def test_a_folder_in_memory_is_warned_of(self):
        row = doctor(cwd="/dev/shm")[1]["trace in this folder"]
        self.assertIn(row["state"], ("partly", "no"))
        self.assertTrue(row["change"])

    def test_few_descriptors_are_named(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
        done, rows = doctor(preexec_fn=few)
        self.assert_success(done)
        self.assertEqual(rows["open files"]["state"], "partly")
        self.assertIn("may open 20;", rows["open files"]["why"])

    def test_without_room_for_a_child_process_the_attempts_are_unknown(self):
        def alone():
            if os.getuid() == 0:
                os.setgroups([])
                os.setuid(NO_ONE)
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        leaks = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # LeakSanitizer would need a process, too
        try:
            done, rows = doctor(preexec_fn=alone, cwd="/", env=tool.environment(ASAN_OPTIONS=leaks))
        except (PermissionError, subprocess.SubprocessError):
            self.skipTest("SKIP: the command is in a folder that others may not enter")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(rows["context switches"]["state"], "unknown")
        self.assertIn("Resource temporarily unavailable", rows["context switches"]["why"])

    def test_an_unprivileged_user_gets_every_row(self):
        options = {"user": NO_ONE, "extra_groups": []} if os.getuid() == 0 else {}
        try:
            done, rows = doctor(cwd="/", **options)
        except PermissionError:
            self.skipTest("SKIP: the command is in a folder that others may not enter")
        self.assert_success(done)
        self.assertEqual(list(rows), MACHINE)
        self.assertIn(rows["trace in this folder"]["state"], ("no", "yes", "partly"))
        if os.path.exists("/proc/self/schedstat"):
            self.assertNotEqual(rows["times per thread"]["state"], "unknown")

    def test_a_wrong_word_is_wrong_usage(self):
        self.assert_one_error(coroscope("doctor", "--format", "xml"), 2, r".+")
        self.assert_one_error(coroscope("doctor", "true", "true"), 2, r".+")


@unittest.skipUnless(seccomp_works(), "SKIP: no seccomp filter can be set here")
class Filtered(ToolTest):
    def filtered(self, numbers, answer):
        done, rows = doctor(preexec_fn=filter_call(numbers, answer))
        self.assert_success(done)
        self.assertEqual(list(rows), MACHINE)
        return rows

    def test_a_filter_that_refuses_is_the_reason(self):
        for error in (errno.EPERM, errno.ENOSYS):
            with self.subTest(error=error):
                row = self.filtered(PERF_EVENT_OPEN, REFUSE | error)["context switches"]
                self.assertEqual(row["state"], "no")
                self.assertIn("the process has a seccomp filter", row["why"])
                self.assertIn("seccomp profile", row["change"])

    def test_a_filter_that_ends_the_process_ends_the_attempt_alone(self):
        rows = self.filtered(PERF_EVENT_OPEN, KILL_PROCESS)
        self.assertEqual(rows["context switches"]["state"], "no")
        self.assertIn("a seccomp filter ends each process that calls perf_event_open()", rows["context switches"]["why"])
        unfiltered = doctor()[1]["lock holders"]
        self.assertEqual(rows["lock holders"]["state"], "partly" if unfiltered["state"] == "yes" else unfiltered["state"])
        self.assertTrue(rows["lock holders"]["why"].startswith(unfiltered["why"]), (rows["lock holders"], unfiltered))

    def test_lock_holders_need_process_vm_readv(self):
        rows = self.filtered(PROCESS_VM_READV, REFUSE | errno.EPERM)
        self.assertEqual(rows["lock holders"]["state"], "no")
        self.assertIn("process_vm_readv(): Operation not permitted; the process has a seccomp filter", rows["lock holders"]["why"])


@unittest.skipUnless(platform.machine() in PERF_EVENT_OPEN, "SKIP: not a processor of the test's programs")
class Program(ToolTest):
    def written(self, content, mode=0o755):
        path = self.folder / "service"
        path.write_bytes(content)
        path.chmod(mode)
        return path

    def of_program(self, content, code=0, mode=0o755):
        done, rows = doctor(self.written(content, mode))
        self.assertEqual((done.returncode, done.stderr), (code, ""))
        self.assertEqual(list(rows)[:len(MACHINE)], MACHINE)
        return {name: rows[name] for name in rows if name not in MACHINE}

    def states(self, *arguments, **options):
        return {name: row["state"] for name, row in self.of_program(*arguments, **options).items()}

    def test_a_program_that_needs_coroscope_can_be_recorded(self):
        rows = self.of_program(elf(needed=["libm.so.6", "libcoroscope.so.0"], sections=[".debug_line"]))
        self.assertEqual(list(rows), PROGRAM)
        self.assertEqual({row["state"] for row in rows.values()}, {"yes"})
        self.assertIn("libcoroscope.so.0", rows["Coroscope in it"]["why"])

    def test_a_static_program_is_recognised_by_the_recorders_functions(self):
        states = self.states(elf(symbols=["main", "_ZN9coroscope7runtime4base5startEv"], interpreted=False))
        self.assertEqual(states["Coroscope in it"], "yes")
        self.assertEqual(states["preloaded libraries"], "no")
        self.assertEqual(states["debug lines"], "no")

    def test_only_the_lack_of_the_recorder_is_a_failure(self):
        self.assertEqual(self.states(elf(symbols=["main"], interpreted=False), code=1)["Coroscope in it"], "no")
        self.assertEqual(self.states(elf(interpreted=False, stripped=True))["Coroscope in it"], "unknown")
        self.assertEqual(self.states(elf(needed=["libc.so.6"]))["Coroscope in it"], "unknown")

    def test_a_file_that_may_not_be_executed_is_read(self):
        self.assertEqual(self.states(elf(needed=["libcoroscope.so.0"]), mode=0o644)["Coroscope in it"], "yes")

    def test_a_script_and_other_files_are_named_as_such(self):
        rows = self.of_program(b"#! /bin/sh -e\nexec true\n")
        self.assertEqual(list(rows), ["program"])
        self.assertEqual(rows["program"]["state"], "unknown")
        self.assertIn("a script for /bin/sh -e", rows["program"]["why"])
        self.assertEqual(self.states(b"\x7fELF\1\1\1" + bytes(80)), {"program": "unknown"})
        for content in (b"", b"#", b"text\n", b"\x7fELF\2\1\1", b"\x7fELF"):
            with self.subTest(content=content):
                self.assertEqual(self.of_program(content, code=1)["program"]["state"], "no")
        self.assertEqual(self.states(elf(kind=1), code=1), {"program": "no"})

    def test_a_program_of_another_processor_is_not_called_one_of_this_machine(self):
        self.assertEqual(self.states(elf(needed=["libcoroscope.so.0"], machine=8))["program"], "unknown")

    def test_a_damaged_program_is_read_as_far_as_it_goes(self):
        whole = elf(needed=["libcoroscope.so.0"], symbols=["main"], sections=[".debug_line"])
        for length in range(64, len(whole), 7):
            self.assertIn(doctor(self.written(whole[:length]))[0].returncode, (0, 1))
        for at in range(16, 64 + 3 * 56, 4):
            done = doctor(self.written(whole[:at] + b"\xff\xff\xff\xff" + whole[at + 4:]))[0]
            self.assertIn(done.returncode, (0, 1))
            self.assertEqual(done.stderr, "")

    def test_special_rights_that_take_effect_switch_variables_off(self):
        if os.getuid() != 0:
            self.skipTest("SKIP: only root can give a file to another user")
        path = self.written(elf(needed=["libcoroscope.so.0"]))
        os.chown(path, NO_ONE, NO_ONE)
        path.chmod(0o4755)
        rows = doctor(path)[1]
        if "without effect" in rows["COROSCOPE_ variables"]["why"]:
            self.skipTest("SKIP: the folder's file system is mounted nosuid")
        self.assertEqual(rows["COROSCOPE_ variables"]["state"], "no")
        self.assertIn("set-user-ID", rows["COROSCOPE_ variables"]["why"])
        self.assertEqual(rows["preloaded libraries"]["state"], "no")
        done, rows = doctor(path, preexec_fn=lambda: ctypes.CDLL(None).prctl(38, 1, 0, 0, 0))
        self.assertEqual(rows["COROSCOPE_ variables"]["state"], "yes")

    def test_special_rights_of_the_users_own_program_have_no_effect(self):
        row = self.of_program(elf(needed=["libcoroscope.so.0"]), mode=0o4755)["COROSCOPE_ variables"]
        self.assertEqual(row["state"], "yes")
        self.assertIn("without effect for this user", row["why"])

    def test_separate_debug_information_is_found_beside_the_program(self):
        content = elf(needed=["libcoroscope.so.0"], sections=[".gnu_debuglink"], stripped=True)
        self.assertEqual(self.states(content)["names of functions"], "partly")
        (self.folder / "x").write_bytes(b"")
        rows = self.of_program(content)
        self.assertEqual((rows["names of functions"]["state"], rows["debug lines"]["state"]), ("yes", "yes"))
        self.assertIn("/x", rows["debug lines"]["why"])

    def test_a_program_is_searched_on_the_path_as_run_does(self):
        self.written(elf(needed=["libcoroscope.so.0"]))
        rows = doctor("service", env=tool.environment(PATH=str(self.folder)))[1]
        self.assertIn(str(self.folder / "service"), rows["program"]["why"])

    def test_a_real_program_is_read(self):
        done, rows = doctor(sys.executable)
        self.assert_success(done)
        self.assertEqual(rows["program"]["state"], "yes")

    def test_an_empty_name_is_a_wrong_use(self):
        done = coroscope("doctor", "")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the name of the program is empty", done.stderr)

    def test_what_is_not_a_file_is_an_error(self):
        self.assert_one_error(coroscope("doctor", self.folder), 1, rf"{self.folder}: is a directory")
        self.assert_one_error(coroscope("doctor", self.folder / "none"), 1, r".*/none: No such file or directory")
        self.assert_one_error(coroscope("doctor", "no-such-program"), 1, r"no-such-program: No such file or directory")
        os.mkfifo(self.folder / "pipe")
        self.assert_one_error(coroscope("doctor", self.folder / "pipe"), 1, r".*/pipe: is not a regular file")


if __name__ == "__main__":
    tool.main()
