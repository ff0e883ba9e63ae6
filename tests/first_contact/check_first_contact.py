#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first steps of a new user, by one compiler: correct code compiles, and each mistake gets one line that names
the remedy. usage: check_first_contact.py COMPILER LIBRARY COROSCOPE"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
COMPILER, LIBRARY, *COROSCOPE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:4]
IS_CLANG = "clang" in COMPILER
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


def run(*command, **how):
    return subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                          timeout=300, check=False, **how)


class FirstContact(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="coroscope-first-contact-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, source, *options):
        return run(COMPILER, "-std=c++20", f"-I{INCLUDE}", HERE / source, *options)

    def built(self, source, *options):
        program = self.folder / "program"
        done = self.compile(source, *WARNINGS, *options, "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def linked(self, source, *options):
        return self.built(source, *options, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-pthread")

    def succeed(self, *command):
        done = run(*command, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def errors(self, source, *options):
        done = self.compile(source, "-fsyntax-only", *options)
        self.assertNotEqual(done.returncode, 0)
        return [line for line in done.stderr.splitlines() if "error:" in line]

    def test_usual_handles_of_the_promise_type_compile_and_find_the_promise(self):
        for options in ["-O0"], ["-O2"], ["-O0", "-DCOROSCOPE_ENABLED=0"]:
            self.succeed(self.linked("usual_handles.cpp", *options))

    def test_several_scopes_on_a_line_and_in_macros_are_recorded(self):
        trace = self.folder / "trace.cst"
        self.succeed(self.linked("several_scopes.cpp", "-O1"), trace)
        self.built("several_scopes.cpp", "-DCOROSCOPE_ENABLED=0")
        if not COROSCOPE:
            return
        table = self.succeed(pathlib.Path(*COROSCOPE).resolve(), "table", trace)
        for label in ("first", "second", "on_one_line", "third", "fourth", "first of a macro", "second of a macro",
                      "label of a macro", "joined label", "raw label", "template again", "lambda", "lambda again",
                      "coroutine again"):
            self.assertRegex(table, rf"(?m)^ *{label}\b", label)

    def test_a_label_that_is_a_variable_is_refused_and_the_error_names_record_function(self):
        for source in "labels.cpp", "values.cpp":
            self.assertEqual(self.compile(source, "-fsyntax-only").returncode, 0)
            for enabled in 0, 1:
                found = self.errors(source, "-DOFFENCE", f"-DCOROSCOPE_ENABLED={enabled}")
                self.assertEqual(len(found), 1, found)
                self.assertIn("write `const coroscope::record_function range(label);`", found[0])

    def test_a_session_without_a_name_warns(self):
        for enabled in 0, 1:
            options = ["-Werror", "-fsyntax-only", f"-DCOROSCOPE_ENABLED={enabled}"]
            self.assertEqual(self.compile("unnamed_session.cpp", *options).returncode, 0)
            warned = self.compile("unnamed_session.cpp", *options, "-DOFFENCE")
            self.assertNotEqual(warned.returncode, 0)
            self.assertIn("name it, as in `coroscope::profile session({", warned.stderr)

    @unittest.skipIf(IS_CLANG, "the runtime of its sanitizers is a package of its own")
    def test_a_program_under_thread_sanitizer_needs_no_library_that_is_built_for_it(self):
        self.succeed(self.linked("hand_over.cpp", "-O1", "-g", "-fsanitize=thread"))

    def test_the_name_of_a_trace_is_a_string_object_or_a_temporary_one(self):
        self.succeed(self.linked("file_names.cpp", "-O1"), self.folder)

    def test_compiled_out_a_program_needs_no_library_and_starts_nothing(self):
        for optimisation in "-O0", "-O2":
            program = self.built("compiled_out.cpp", optimisation, "-DCOROSCOPE_ENABLED=0")
            self.assertEqual(self.succeed(program), "Compiled with COROSCOPE_ENABLED=0.\n")
            self.assertEqual([each.name for each in self.folder.iterdir()], ["program"])
            self.assertNotIn("coroscope", self.succeed("ldd", program))

    def test_an_unsuitable_standard_gets_one_error_with_the_remedy(self):
        for options, remedy in ((["-std=c++17"], "compile with -std=c++20 or later"),
                                (["-U__linux__"], "Coroscope needs Linux"),
                                (["-U__cpp_impl_coroutine"], "compile with -std=c++20 or later and without")):
            found = self.errors("unsuitable.cpp", *options)
            self.assertEqual(len(found), 2, found)
            self.assertIn(remedy, found[0])
            self.assertIn("see_the_error_above", found[1])

    def test_an_old_compiler_gets_one_error_with_the_remedy(self):
        version = "__clang_major__" if IS_CLANG else "__GNUC__"
        found = self.errors("unsuitable.cpp", f"-U{version}", f"-D{version}=10", "-Wno-builtin-macro-redefined")
        self.assertIn("or later", found[0])
        self.assertIn("Coroscope needs clang 16" if IS_CLANG else "Coroscope needs g++ 12", found[0])

    def test_coroutines_without_optimisation_compile_without_a_warning(self):
        self.linked("several_scopes.cpp", "-O0")
        self.linked("several_scopes.cpp", "-Og")


if __name__ == "__main__":
    if not shutil.which(COMPILER):
        print(f"SKIP: no {COMPILER} here")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
