#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope run: the environment, the exit code, signals, the summary, and everything that may be missing."""

import fcntl
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from unittest import mock

import tool
import trace_builder
from tool import RECORD, TOOL, RunTest, coroscope
from trace_builder import FINISH, RESUME, SPAWN, SPAWN_READY, task_record


class Recording(RunTest):
    def setUp(self):
        super().setUp()
        self.prepared = trace_builder.service().write(self.folder / "prepared")

    def test_the_summary_follows_the_output_of_the_program(self):
        done = self.run_in_folder(*self.python("print('served', flush=True); " + RECORD, str(self.prepared)))
        self.assert_success(done)
        self.assertTrue(done.stdout.startswith("served\n"))
        parts = ["Self running time total: ", "Tasks by spawn site", "Where tasks waited", "slowest request: "]
        places = [done.stdout.find(part) for part in parts]
        self.assertEqual(places, sorted(places))
        self.assertGreater(places[0], 0)

    def test_the_sentence_names_the_await_that_took_most(self):
        done = self.run_in_folder(*self.python(RECORD, str(self.prepared)))
        sentence = next(line for line in done.stdout.splitlines() if line.startswith("slowest request: "))
        self.assertRegex(sentence, r"slowest request: [\d.]+ us = [\d.]+ us running \+ 200\.0 us suspended \+ 1\.0 us "
                                   r"queued \+ 0\.0 us waiting, most of it in db\.query at src/store\.cpp:42")

    def test_the_sentence_ends_in_a_command_that_shows_the_task(self):
        done = self.run_in_folder("-o", "my trace.cst", *self.python(RECORD, str(self.prepared)))
        command = re.search(r"from .* on, coroscope (tasks .* --task 20)\)\n", done.stdout)[1]
        self.assert_success(coroscope(*shlex.split(command), cwd=self.folder))

    def test_a_hostile_name_of_the_trace_reaches_no_terminal(self):
        done = self.run_in_folder("-o", "a\x1b[31m\n\x9bb", *self.python(RECORD, str(self.prepared)))
        self.assert_success(done)
        self.assertTrue(done.stdout.endswith("\ntrace: a?[31m??b\n"))
        self.assertNotIn("\x1b", done.stdout)

    def test_the_trace_is_coroscope_cst_unless_named(self):
        self.assert_success(self.run_in_folder(*self.python(RECORD, str(self.prepared))))
        self.assertTrue((self.folder / "coroscope.cst").exists())
        self.assert_success(self.run_in_folder("-o", "named.cst", *self.python(RECORD, str(self.prepared))))
        self.assertTrue((self.folder / "named.cst").exists())

    def test_the_program_may_change_its_folder(self):
        done = self.run_in_folder("-o", "here.cst", *self.python("import os; os.chdir('/'); " + RECORD, str(self.prepared)))
        self.assert_success(done)
        self.assertTrue((self.folder / "here.cst").exists())

    def test_the_summary_is_on_standard_error_unless_a_file_is_named(self):
        done = coroscope("run", *self.python("print('served', flush=True); " + RECORD, str(self.prepared)), cwd=self.folder,
                         env=tool.environment())
        self.assertEqual((done.returncode, done.stdout), (0, "served\n"))
        self.assertIn("slowest request: ", done.stderr)
        self.assertTrue(done.stderr.endswith("\ntrace: coroscope.cst\n"))
        done = self.run_in_folder("--summary-to", "summary", *self.python(RECORD, str(self.prepared)))
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertIn("slowest request: ", (self.folder / "summary").read_text())

    def test_the_summary_lists_the_tasks_that_an_exception_ended(self):
        failed = trace_builder.Trace()
        site = failed.site(b"handle", b"src/server.cpp", 12, trace_builder.KIND_COROUTINE)
        records = []
        for task in (3, 4):
            records += [task_record(SPAWN, 1000 * task, task, 0, site, SPAWN_READY), task_record(RESUME, 1000 * task + 10, task),
                        task_record(FINISH, 1000 * task + 20, task, flags=1)]
        failed.thread(1, b"main", records)
        done = self.run_in_folder(*self.python(RECORD, str(failed.write(self.folder / "failed"))))
        self.assertIn("Tasks that an exception ended: 2\n  2 handle (src/server.cpp:12)\n", done.stdout)

    def test_the_summary_can_be_left_out(self):
        done = self.run_in_folder("--no-summary", *self.python(RECORD, str(self.prepared)))
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_a_failing_program_is_summarised_and_its_code_passed_on(self):
        done = self.run_in_folder(*self.python(RECORD + "; sys.exit(3)", str(self.prepared)))
        self.assertEqual(done.returncode, 3)
        self.assertIn("slowest request: ", done.stdout)


class Asking(RunTest):
    def told(self, *options):
        """The COROSCOPE_ variables that the program saw, except for the trace's."""
        code = ("import os; "
                "print(*sorted('='.join(each) for each in os.environ.items() if each[0].startswith('COROSCOPE_')), sep='\\n')")
        done = self.run_in_folder(*options, "--no-summary", *self.python(code))
        self.assert_success(done)
        return [each for each in done.stdout.splitlines() if not each.startswith("COROSCOPE_TRACE")]

    def test_the_program_gets_variables_for_crash_reports_and_open_scopes_and_for_nothing_that_was_not_requested(self):
        self.assertEqual(self.told(), ["COROSCOPE_CRASH=1", "COROSCOPE_OPEN_SCOPES=1"])

    def test_a_variable_of_the_user_switches_crash_reports_off(self):
        with mock.patch.dict(os.environ, COROSCOPE_CRASH="0"):
            self.assertEqual(self.told(), ["COROSCOPE_CRASH=0", "COROSCOPE_OPEN_SCOPES=1"])

    def test_an_option_or_a_variable_of_the_user_switches_names_of_open_scopes_off(self):
        self.assertEqual(self.told("--no-open-scopes"), ["COROSCOPE_CRASH=1", "COROSCOPE_OPEN_SCOPES=0"])
        with mock.patch.dict(os.environ, COROSCOPE_OPEN_SCOPES="0"):
            self.assertEqual(self.told(), ["COROSCOPE_CRASH=1", "COROSCOPE_OPEN_SCOPES=0"])
        with mock.patch.dict(os.environ, COROSCOPE_OPEN_SCOPES="1"):
            self.assertEqual(self.told("--no-open-scopes"), ["COROSCOPE_CRASH=1", "COROSCOPE_OPEN_SCOPES=0"])

    def test_the_program_gets_its_own_id_as_the_owner_of_the_file(self):
        code = "import os; print(os.environ['COROSCOPE_TRACE_OWNER'] == str(os.getpid()))"
        self.assertEqual(self.run_in_folder("--no-summary", *self.python(code)).stdout, "True\n")

    def test_the_program_gets_variables_for_the_requested_records(self):
        self.assertEqual(self.told("--record", "shapes,stacks", "--record", "arguments"),
                         ["COROSCOPE_ARGUMENTS=1", "COROSCOPE_CRASH=1", "COROSCOPE_OPEN_SCOPES=1", "COROSCOPE_SHAPES=1",
                          "COROSCOPE_STACKS=1"])

    def test_the_program_gets_a_variable_for_gpus(self):
        self.assertEqual(self.told("--record", "cuda"), ["COROSCOPE_CRASH=1", "COROSCOPE_DEVICE=cuda", "COROSCOPE_OPEN_SCOPES=1"])

    def test_the_program_gets_the_policy_and_the_limit_of_its_trace(self):
        self.assertEqual(self.told("--policy", "overwrite", "--limit", "64MiB"),
                         ["COROSCOPE_CRASH=1", "COROSCOPE_LIMIT=67108864", "COROSCOPE_OPEN_SCOPES=1",
                          "COROSCOPE_POLICY=overwrite"])

    def test_an_unknown_record_policy_or_limit_is_refused_in_one_line(self):
        for wrong in (("--record", "everything"), ("--policy", "new"), ("--limit", "much"), ("--limit", "-5")):
            self.assert_one_error(self.run_in_folder(*wrong, "--", "true"), 2, wrong[0] + ".*")


class Missing(RunTest):
    def test_a_program_without_coroscope_is_reported_in_one_line(self):
        done = self.run_in_folder("--", "true")
        self.assert_one_error(done, 0, r"coroscope\.cst: no trace appeared: the program is not linked with "
                                       r"Coroscope, or it could not record\. In that case it printed a line with the reason")

    def test_a_stale_trace_is_not_reported_as_a_new_one(self):
        trace_builder.service().write(self.folder / "coroscope.cst")
        done = self.run_in_folder("--", "true")
        self.assertIn("no trace appeared", done.stderr)
        self.assertFalse((self.folder / "coroscope.cst").exists())

    def test_a_trace_stays_if_the_program_cannot_be_started(self):
        old = trace_builder.service().write(self.folder / "coroscope.cst").read_bytes()
        self.assert_one_error(self.run_in_folder("--", "no-such-program"), 127, "no-such-program: .*")
        self.assertEqual((self.folder / "coroscope.cst").read_bytes(), old)

    def test_a_file_that_is_no_trace_is_left_alone_and_the_program_runs(self):
        program = self.folder / "program"
        program.write_text("#!/bin/sh\necho ran $COROSCOPE_TRACE\n")
        program.chmod(0o755)
        (self.folder / "notes").write_text("kept")
        (self.folder / "zeros").write_bytes(bytes(4))
        (self.folder / "linked").symlink_to(trace_builder.service().write(self.folder / "other.cst"))
        for path, reason in (("program", "this is the program itself"), ("notes", "the file is not a trace"),
                             ("zeros", "the file is not a trace"), ("linked", "not a regular file")):
            with self.subTest(path=path):
                done = self.run_in_folder("-o", path, "--", "./program")
                self.assertEqual((done.returncode, done.stdout), (0, "ran\n"))
                self.assertEqual(done.stderr, f"coroscope: {path}: {reason}; the program runs without being recorded. "
                                              "Name another file by -o\n")
        self.assertIn("echo", program.read_text())
        self.assertEqual((self.folder / "notes").read_text(), "kept")
        self.assertTrue((self.folder / "other.cst").exists())

    def test_an_empty_program_is_not_treated_as_a_trace_that_was_cut(self):
        program = self.folder / "program"
        program.touch(0o755)
        done = self.run_in_folder("-o", "program", "--", "./program")
        self.assertIn("program: this is the program itself; the program runs without being recorded", done.stderr)
        self.assertTrue(program.exists())

    def test_a_file_that_a_session_killed_at_its_start_left_is_replaced(self):
        (self.folder / "coroscope.cst").write_bytes(bytes(4096))
        self.assertIn("no trace appeared", self.run_in_folder("--", "true").stderr)
        self.assertFalse((self.folder / "coroscope.cst").exists())

    def test_a_trace_that_is_being_written_is_left_alone(self):
        trace = trace_builder.service().write(self.folder / "coroscope.cst")
        with trace.open("rb") as writer:
            fcntl.flock(writer, fcntl.LOCK_EX)
            self.assertIn("another session records into this trace; the program runs", self.run_in_folder("--", "true").stderr)
        self.assertTrue(trace.exists())

    def test_the_program_runs_even_if_no_trace_can_be_written(self):
        for path in ("none/trace.cst", ".", "/dev/null"):
            with self.subTest(path=path):
                code = "import os, sys; print('ran', os.environ.get('COROSCOPE_TRACE')); sys.exit(5)"
                done = self.run_in_folder("-o", path, *self.python(code))
                self.assertEqual((done.returncode, done.stdout), (5, "ran None\n"))
                self.assertRegex(done.stderr, rf"\Acoroscope: {path}: .+; the program runs without being recorded\. Name another file by -o\n\Z")

    def test_a_program_that_cannot_be_started_is_named(self):
        self.assert_one_error(self.run_in_folder("--", "no-such-program"), 127, "no-such-program: No such file or directory")
        (self.folder / "data").write_text("no program")
        self.assert_one_error(self.run_in_folder("--", "./data"), 126, "./data: Permission denied")

    def test_options_of_the_program_are_its_own(self):
        done = self.run_in_folder(sys.executable, "-c", "import sys; print(sys.argv)", "--help", "-o", "x")
        self.assertEqual(done.stdout, "['-c', '--help', '-o', 'x']\n")


class Signals(RunTest):
    def start(self, code):
        running = subprocess.Popen([TOOL, "run", *self.python(code)], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, encoding="utf-8", env=tool.environment())
        self.addCleanup(running.kill)
        self.assertEqual(running.stdout.readline(), "ready\n")
        return running

    def test_interrupt_and_termination_reach_the_program_once(self):
        code = ("import signal, sys, time\nseen = []\n"
                "for each in (signal.SIGINT, signal.SIGTERM): signal.signal(each, lambda *a: seen.append(a[0]))\n"
                "print('ready', flush=True)\n"
                "while not seen: time.sleep(0.01)\n"
                "time.sleep(0.2)\nprint(len(seen), flush=True)\nsys.exit(40 + seen[0])")
        for each in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=each):
                running = self.start(code)
                running.send_signal(each)
                output, _ = running.communicate(timeout=30)
                self.assertEqual(output, "1\n")
                self.assertEqual(running.returncode, 40 + each)

    def test_a_terminal_s_interrupt_reaches_the_program_once(self):
        code = ("import signal, sys, time\nseen = []\n"
                "signal.signal(signal.SIGINT, lambda *a: seen.append(a[0]))\n"
                "print('ready', flush=True)\n"
                "while not seen: time.sleep(0.01)\n"
                "time.sleep(0.3)\nprint('seen', len(seen), flush=True)")
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execv(TOOL, [TOOL, "run", *self.python(code)])
        self.addCleanup(os.close, terminal)
        output = b""
        while b"ready" not in output:
            output += os.read(terminal, 1024)
        os.write(terminal, b"\x03")
        while b"seen 1" not in output and b"seen 2" not in output:
            output += os.read(terminal, 1024)
        self.assertIn(b"seen 1", output)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)

    def test_a_hang_up_of_the_terminal_reaches_the_program_once(self):
        code = ("import os, signal, sys, time\nseen = []\n"
                "signal.signal(signal.SIGHUP, lambda *a: seen.append(a[0]))\n"
                "try: os.write(1, b'ready')\n"
                "except OSError: pass\n"  # the terminal was gone before the call came back
                "for _ in range(6000):\n"
                "    if seen: break\n"
                "    time.sleep(0.01)\n"
                "time.sleep(0.2)\nsys.exit(40 + len(seen))")
        process, terminal = pty.fork()  # the command leads a session of its own
        if process == 0:
            os.chdir(self.folder)
            os.execv(TOOL, [TOOL, "run", *self.python(code)])
        output = b""
        while b"ready" not in output:
            output += os.read(terminal, 1024)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 41)

    def test_a_program_that_a_signal_killed_gives_128_and_the_signal(self):
        done = self.run_in_folder(*self.python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)

    def test_the_program_has_the_signals_that_it_would_have_without_run(self):
        code = ("import signal; print([signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)], "
                "signal.pthread_sigmask(signal.SIG_BLOCK, []))")
        without = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
        self.assertEqual(self.run_in_folder("--no-summary", *self.python(code)).stdout, without.stdout)

    def test_the_program_inherits_the_disposition_of_a_broken_pipe(self):
        # Python sets this signal itself when it starts, so that the test asks the system.
        for given in (signal.SIG_IGN, signal.SIG_DFL):
            with self.subTest(given=given):
                done = self.run_in_folder("--no-summary", "--", "sh", "-c", "grep SigIgn /proc/$$/status", restore_signals=False,
                                          preexec_fn=lambda given=given: signal.signal(signal.SIGPIPE, given))
                ignored = int(done.stdout.split()[1], 16) >> (signal.SIGPIPE - 1) & 1
                self.assertEqual(ignored, given == signal.SIG_IGN)

    def test_the_exit_code_is_the_program_s_even_if_child_signals_were_ignored(self):
        code = "import signal, sys; sys.exit(7 if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN else 8)"
        done = self.run_in_folder("--no-summary", *self.python(code), preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 7)


if __name__ == "__main__":
    tool.main()
