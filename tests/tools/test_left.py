#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope run: the traces that child processes leave, and those of programs that a signal ends."""

import json
import signal

import tool
import trace_builder
from tool import RECORD, RunTest, coroscope

# Acts as an instrumented child process: leaves a trace beside the file of its parent.
RECORD_BESIDE = "import os, shutil, sys; shutil.copy(sys.argv[1], os.environ['COROSCOPE_TRACE'] + '.' + str(%s)); "


class Children(RunTest):
    def setUp(self):
        super().setUp()
        self.prepared = trace_builder.service().write(self.folder / "prepared")

    def traces_told(self, done):
        return [line.removeprefix("trace: ") for line in done.stdout.splitlines() if line.startswith("trace: ")]

    def calls_of_handle(self, done):
        return next(int(line.split()[-1]) for line in done.stdout.splitlines() if line.split()[:1] == ["handle"])

    def test_every_process_s_trace_is_listed_and_all_are_summarised_together(self):
        code = RECORD_BESIDE % 101 + RECORD_BESIDE % "'102.2'" + RECORD
        done = self.run_in_folder(*self.python(code, str(self.prepared)))
        self.assert_success(done)
        self.assertEqual(self.traces_told(done), ["coroscope.cst", "coroscope.cst.101", "coroscope.cst.102.2"])
        self.assertEqual(self.calls_of_handle(done), 60)

    def test_the_sentence_names_the_trace_of_the_process_with_the_slowest_request(self):
        slower = trace_builder.service(30).write(self.folder / "slower")
        code = RECORD_BESIDE % 101 + RECORD + "; shutil.copy(sys.argv[2], os.environ['COROSCOPE_TRACE'] + '.102')"
        done = self.run_in_folder(*self.python(code, str(self.prepared), str(slower)))
        self.assertIn(", coroscope tasks coroscope.cst.102 --task 30)", done.stdout)

    def test_the_sentence_about_a_task_counts_the_tasks_of_its_name(self):
        trace = trace_builder.Trace()
        joiner = trace.site(b"joiner", b"src/join.cpp", 7, trace_builder.KIND_COROUTINE)
        child = trace.site(b"child", b"src/join.cpp", 3, trace_builder.KIND_COROUTINE)
        records = []
        for task, site, end in ((1, joiner, 900), (2, child, 200), (3, child, 300), (4, child, 400)):
            records += [trace_builder.task_record(trace_builder.SPAWN, task * 10, task, 0, site),
                        trace_builder.task_record(trace_builder.RESUME, task * 10 + 1, task)]
            records.append(trace_builder.task_record(trace_builder.FINISH, end * 1000, task))
            trace.thread(task, b"worker", records)
            records = []
        self.prepared = trace.write(self.folder / "joined")
        done = self.run_in_folder(*self.python(RECORD, str(self.prepared)))
        self.assertIn(" (joiner, the only one; from ", done.stdout)

    def test_files_of_earlier_runs_and_of_others_are_not_listed_as_traces_of_this_run(self):
        for name in ("coroscope.cst.99", "coroscope.cst.old", "coroscope.cstz"):
            trace_builder.service().write(self.folder / name)
        done = self.run_in_folder(*self.python(RECORD_BESIDE % 101 + RECORD, str(self.prepared)))
        self.assertEqual(self.traces_told(done), ["coroscope.cst", "coroscope.cst.101"])
        self.assertTrue((self.folder / "coroscope.cst.99").exists())

    def test_the_trace_of_the_only_process_that_recorded_gets_the_requested_name(self):
        done = self.run_in_folder("-o", "named.cst", *self.python(RECORD_BESIDE % 101, str(self.prepared)))
        self.assert_success(done)
        self.assertEqual(self.traces_told(done), ["named.cst"])
        self.assertFalse((self.folder / "named.cst.101").exists())

    def test_a_process_that_the_program_left_is_reported_and_its_trace_stays_unchanged(self):
        unfinished = trace_builder.service()
        unfinished.finished = False
        prepared = unfinished.write(self.folder / "unfinished")
        # The parent waits until the daemon has the lock that a session holds. The daemon waits until the test has
        # ended.
        code = ("import fcntl, os, shutil, sys, time\n"
                "ready, wait = os.pipe()\n"
                "if os.fork() == 0:\n"
                "    path = os.environ['COROSCOPE_TRACE'] + '.' + str(os.getpid())\n"
                "    shutil.copy(sys.argv[1], path)\n"
                "    file = open(path, 'r+b')\n"
                "    os.pwrite(file.fileno(), os.getpid().to_bytes(4, 'little'), 28)  # who records\n"
                "    fcntl.flock(file, fcntl.LOCK_EX)\n"
                "    for each in (0, 1, 2): os.close(each)\n"
                "    os.write(wait, b'x')\n"
                "    os.close(wait)\n"
                "    while os.path.exists(sys.argv[1]): time.sleep(0.01)\n"
                "    os._exit(0)\n"
                "os.read(ready, 1)")
        try:
            done = self.run_in_folder(*self.python(code, str(prepared)))
            (trace,) = self.folder.glob("coroscope.cst.*")
            info = coroscope("info", str(trace))
            health = json.loads(coroscope("info", str(trace), "--json").stdout)["health"]
        finally:
            prepared.unlink()
        self.assertIn("The session still records: ", info.stdout)
        self.assertEqual((health["finished"], health["being_recorded"]), (False, True))
        self.assertRegex(done.stdout, r"\ntrace: coroscope\.cst\.\d+ \(a process that the program left still records\)\n")
        self.assertIn("The session still records: ", done.stdout)
        self.assertNotIn("The process ended", done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertFalse((self.folder / "coroscope.cst").exists())

    def test_a_child_that_still_has_the_lock_of_its_parent_does_not_count_as_recording(self):
        unfinished = trace_builder.service()
        unfinished.finished = False
        prepared = unfinished.write(self.folder / "unfinished")
        # Acts as a daemon's parent: it ends while the child has not closed the trace that it inherited.
        code = ("import fcntl, os, shutil, sys, time\n"
                "path = os.environ['COROSCOPE_TRACE']\n"
                "shutil.copy(sys.argv[1], path)\n"
                "file = open(path, 'r+b')\n"
                "os.pwrite(file.fileno(), os.getpid().to_bytes(4, 'little'), 28)  # who records\n"
                "fcntl.flock(file, fcntl.LOCK_EX)\n"
                "if os.fork() == 0: time.sleep(0.3)\n"
                "os._exit(0)")
        done = self.run_in_folder(*self.python(code, str(prepared)))
        self.assertEqual(self.traces_told(done), ["coroscope.cst"])
        self.assertIn("The process ended before the session was stopped", done.stdout)
        self.assertNotIn("still records", done.stdout)


class Killed(RunTest):
    def unfinished(self, spare_chunks):
        """A trace whose session was not stopped, with that many unused chunks at its end."""
        trace = trace_builder.service()
        trace.finished = False
        data = bytearray(trace.data())
        used = len(data)
        chunks = int.from_bytes(data[40:48], "little") + spare_chunks
        data[40:48] = chunks.to_bytes(8, "little")
        path = self.folder / "prepared"
        path.write_bytes(data + bytes(spare_chunks * trace_builder.CHUNK_BYTES))
        return path, used

    def kill(self, path, number, *options):
        code = RECORD + "; import signal; os.kill(os.getpid(), int(sys.argv[2]))"
        return self.run_in_folder(*options, *self.python(code, str(path), str(int(number))))

    def test_the_last_line_names_the_signal(self):
        for number, name in ((signal.SIGKILL, "Killed"), (signal.SIGTERM, "Terminated")):
            path, _ = self.unfinished(0)
            done = self.kill(path, number)
            self.assertEqual(done.returncode, 128 + number)
            self.assertTrue(done.stdout.endswith(f" was ended by signal {int(number)} ({name})\n"), done.stdout)
            self.assertIn("\nScopes that were open when it ended: unknown\n", done.stdout)
            self.assertIn("\nTasks that had not ended: 0\n", done.stdout)

    def test_tasks_that_had_not_ended_are_listed_with_their_place_and_state(self):
        trace = trace_builder.Trace(finished=False)
        spawned = trace.site(b"session", b"src/server.cpp", 30, trace_builder.KIND_COROUTINE)
        query = trace.site(b"db.query", b"src/store.cpp", 42, trace_builder.KIND_AWAIT)
        records = []
        for task in (1, 2, 3):
            records += [trace_builder.task_record(trace_builder.SPAWN, task * 100, task, 0, spawned),
                        trace_builder.task_record(trace_builder.RESUME, task * 100 + 10, task)]
            if task != 3:
                records.append(trace_builder.task_record(trace_builder.SUSPEND, task * 100 + 20, task, 0, query))
        trace.thread(1, b"main", records)
        done = self.kill(trace.write(self.folder / "prepared"), signal.SIGKILL)
        self.assertIn("\nTasks that had not ended: 3\n  2 suspended session (src/server.cpp:30)\n"
                      "  1 running session (src/server.cpp:30)\n", done.stdout)

    def test_tasks_and_scopes_are_named_if_the_program_left_by_exit_without_stopping_its_session(self):
        trace = trace_builder.Trace(finished=False)
        trace.thread(1, b"main", [])
        trace.open_scope(1, trace.site(b"lock", b"src/lock.cpp", 2), 4_000_000)
        path = trace.write(self.folder / "prepared")
        done = self.run_in_folder(*self.python(RECORD + "; os._exit(3)", str(path)))
        self.assertEqual(done.returncode, 3)
        self.assertTrue(done.stdout.endswith(
            "\nTasks that had not ended: 0\nScopes that had not ended: 1\n"
            "  thread 1001 main: lock (src/lock.cpp:2) for at least 6.0 ms\n"), done.stdout)

    def test_open_scopes_are_named_by_thread_and_task_innermost_first(self):
        trace = trace_builder.Trace(finished=False)
        loop = trace.site(b"main loop", b"src/main.cpp", 5)
        request = trace.site(b"handle request", b"src/main.cpp", 9)
        wait = trace.site(b"lock", b"src/lock.cpp", 2)
        trace.thread(1, b"main", [trace_builder.task_record(trace_builder.SPAWN, 100, 7)])
        trace.thread(2, b"worker", [])
        trace.open_scope(1, loop, 1_000_000)
        trace.open_scope(1, request, 2_000_000)
        trace.open_scope(1, request, 9_000_000, task=7, flags=trace_builder.IN_FRAME)
        trace.open_scope(2, wait, 3_000_000)
        trace.open_scope(1, wait, 4_000_000)
        done = self.kill(trace.write(self.folder / "prepared"), signal.SIGKILL)
        self.assertIn("\nScopes that had not ended: 5\n"
                      "  thread 1001 main: lock (src/lock.cpp:2) for at least 6.0 ms, in handle request (src/main.cpp:9) "
                      "for at least 8.0 ms, in main loop (src/main.cpp:5) for at least 9.0 ms\n"
                      "  thread 1002 worker: lock (src/lock.cpp:2) for at least 7.0 ms\n"
                      "  task 7: handle request (src/main.cpp:9) for at least 1.0 ms\n", done.stdout)

    def test_tasks_of_two_processes_with_one_id_are_two_tasks(self):
        for name in ("parent", "child"):
            trace = trace_builder.Trace(finished=False)
            waits = trace.site(b"waits in " + name.encode(), b"src/main.cpp", 9)
            trace.thread(1, b"main", [trace_builder.task_record(trace_builder.SPAWN, 100, 7)])
            trace.open_scope(1, waits, 9_000_000, task=7, flags=trace_builder.IN_FRAME)
            trace.write(self.folder / name)
        code = ("import os, shutil, signal; path = os.environ['COROSCOPE_TRACE']; shutil.copy('parent', path); "
                "shutil.copy('child', path + '.101'); os.kill(os.getpid(), signal.SIGKILL)")
        done = self.run_in_folder(*self.python(code))
        self.assertIn("\n  task 7 of coroscope.cst: waits in parent (src/main.cpp:9) for at least 1.0 ms\n"
                      "  task 7 of coroscope.cst.101: waits in child (src/main.cpp:9) for at least 1.0 ms\n", done.stdout)

    def test_bytes_that_are_not_utf_8_are_not_printed(self):
        trace = trace_builder.Trace(finished=False)
        wait = trace.site(b"wait", b"src/main.cpp", 9)
        trace.thread(1, b"a\x9b\xc3\xa4\x1b", [])
        trace.open_scope(1, wait, 9_000_000)
        done = self.kill(trace.write(self.folder / "prepared"), signal.SIGKILL)
        self.assertIn("\n  thread 1001 a?\u00e4?: wait (src/main.cpp:9) for at least 1.0 ms\n", done.stdout)

    def test_the_innermost_scopes_of_many_threads_with_deep_stacks_are_named(self):
        trace = trace_builder.Trace(finished=False)
        level = trace.site(b"level", b"src/main.cpp", 5)
        for thread in range(1, 12):
            trace.thread(thread, b"worker", [])
            for depth in range(9):
                trace.open_scope(thread, level, depth)
        done = self.kill(trace.write(self.folder / "prepared"), signal.SIGKILL)
        self.assertIn("\nScopes that had not ended: 99\n", done.stdout)
        self.assertEqual(done.stdout.count(", in 3 more\n"), 8)
        self.assertIn("\n  and scopes of 3 more threads and tasks\n", done.stdout)

    def test_the_signal_that_ended_a_program_without_a_trace_is_named(self):
        done = self.run_in_folder(*self.python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
        self.assertTrue(done.stdout.endswith(" was ended by signal 9 (Killed)\n"))

    def test_unused_room_is_given_back_and_nothing_is_lost(self):
        for options in ((), ("--no-summary",)):
            path, used = self.unfinished(200)
            self.kill(path, signal.SIGKILL, *options)
            trace = self.folder / "coroscope.cst"
            self.assertEqual(trace.stat().st_size, used)
            self.assertEqual(trace.read_bytes()[:40], path.read_bytes()[:40])
            self.assertEqual(trace.read_bytes()[48:], path.read_bytes()[48:used])
            done = coroscope("info", "coroscope.cst", "--json", cwd=self.folder)
            self.assert_success(done)
            self.assertEqual(json.loads(done.stdout)["tasks"], 20)

    def test_the_cut_of_a_truncated_trace_is_still_reported(self):
        path, used = self.unfinished(200)
        path.write_bytes(path.read_bytes()[:used - 1])
        done = self.kill(path, signal.SIGKILL)
        self.assertIn("warning: the file is cut off at byte ", done.stderr)
        self.assertEqual((self.folder / "coroscope.cst").stat().st_size, used - 1)

    def test_a_file_that_is_no_trace_is_not_cut(self):
        text = self.folder / "prepared"
        text.write_bytes(b"no trace" * 1000)
        self.kill(text, signal.SIGKILL)
        self.assertEqual((self.folder / "coroscope.cst").stat().st_size, 8000)


if __name__ == "__main__":
    tool.main()
