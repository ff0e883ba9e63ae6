#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of ./dev on systems that lack its tools: it names the missing parts, installs nothing, and ends with one clear
line.

Each of these tests sees a system that has the shell's everyday tools and nothing else: no compiler, no Meson and no
apt-get."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
EVERYDAY = ["bash", "cat", "cut", "dirname", "env", "head", "mktemp", "readlink", "rm", "sed", "sort", "uname"]
PARTS = re.compile(r"^option\('(\w+)', type: 'feature'", re.MULTILINE)


class BareSystem(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="coroscope-dev-")
        self.addCleanup(folder.cleanup)
        self.tools = pathlib.Path(folder.name)
        for name in EVERYDAY:
            (self.tools / name).symlink_to(shutil.which(name))

    def have(self, name, prints):
        """Makes a tool of that name, which prints a line and succeeds."""
        path = self.tools / name
        path.write_text(f"#!/bin/sh\necho '{prints}'\n")
        path.chmod(0o755)

    def dev(self, *arguments, **variables):
        environment = {"PATH": str(self.tools), "HOME": str(self.tools), **variables}
        return subprocess.run([ROOT / "dev", *arguments], env=environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=60, check=False)

    def assert_missing(self, done, *whats):
        self.assertEqual(done.returncode, 1, done)
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], r"^dev: not found on .+:$")
        self.assertEqual(lines[-1], "dev: install these and run this again; dev installs packages on Debian 12 only")
        for what in whats:
            self.assertTrue(any(line.startswith(f"    {what} ") for line in lines), (what, done.stderr))

    def assert_usage_error(self, done, message):
        self.assertEqual((done.returncode, done.stderr), (2, f"dev: {message}\n"))


class MissingParts(BareSystem):
    def test_every_verb_that_builds_names_compiler_meson_and_ninja(self):
        for verb in ("build", "test", "demo", "bench", "abi"):
            with self.subTest(verb):
                self.assert_missing(self.dev(verb), "compiler", "tool:meson>=1.0", "tool:ninja")

    def test_each_missing_part_is_named_with_its_package(self):
        self.assertIn("runs the build (in Debian: ninja-build)\n", self.dev("build").stderr)

    def test_installed_parts_are_not_named(self):
        self.have("ninja", "1.11.1")
        self.assertNotIn("ninja", self.dev("build").stderr)

    def test_a_meson_that_is_too_old_is_missing(self):
        self.have("meson", "0.63.2")
        self.assert_missing(self.dev("build"), "tool:meson>=1.0")
        self.have("meson", "1.10.0")
        self.assertNotIn("meson", self.dev("build").stderr)

    def test_the_checks_need_python(self):
        self.assert_missing(self.dev("lint", "--quick"), "tool:python3")

    def test_the_formatter_is_named(self):
        self.assert_missing(self.dev("format"), "tool:clang-format-19")

    def test_a_sanitizer_that_the_compiler_lacks_is_named(self):
        self.assert_missing(self.dev("test", "--sanitize", "thread"), "sanitizer:thread")

    def test_clangs_sanitizers_need_a_symbolizer_to_name_functions(self):
        self.have("clang++-19", "")
        for sanitizer in ("address", "thread"):
            done = self.dev("test", "--sanitize", sanitizer, "--compiler", "clang++-19")
            self.assert_missing(done, "tool:llvm-symbolizer-19")

    def test_a_compiler_that_is_not_installed_is_named(self):
        done = self.dev("build", "--compiler", "nosuch++")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "dev: no compiler nosuch++: install it, or name another with --compiler\n"))


class Toolkit(BareSystem):
    def shell(self, command, **variables):
        """Runs a function of the scripts on a system whose toolkit is only the one that the test made."""
        script = f"source scripts/dev/common.sh; source scripts/dev/packages.sh; source scripts/dev/gpu.sh; {command}"
        return subprocess.run(["bash", "-c", script], cwd=ROOT, env={"PATH": str(self.tools), **variables},
                              capture_output=True, text=True, check=False)

    def tell_cuda(self, **variables):
        done = self.shell("tell_cuda", **variables)
        self.assertEqual(done.returncode, 0, done)
        return done.stderr

    def toolkit(self, name):
        """Makes a folder with a toolkit's headers and its nvcc."""
        folder = self.tools / name
        (folder / "include").mkdir(parents=True)
        (folder / "bin").mkdir()
        for file in ("include/cupti.h", "include/cuda_runtime_api.h", "bin/nvcc"):
            (folder / file).touch(0o755)
        return folder

    def where(self, path=None, **variables):
        environment = {"PATH": f"{self.tools}:{path}" if path else str(self.tools), **variables}
        done = subprocess.run([ROOT / "scripts/cuda_toolkit.sh"], cwd=self.tools, env=environment, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.strip()

    @unittest.skipIf(pathlib.Path("/usr/include/cupti.h").exists(), "CUPTI's headers are the system's")
    def test_a_build_without_the_toolkit_names_the_omitted_parts_and_a_build_with_it_prints_nothing(self):
        self.assertEqual(self.tell_cuda(CUDA_PATH=str(self.tools)),
                         f"dev: without the CUDA toolkit (no cupti.h below {self.tools}): "
                         "coroscope-cuda and its tests are left out\n")
        self.toolkit("cuda")
        self.assertEqual(self.tell_cuda(CUDA_PATH=str(self.tools / "cuda")), "")
        self.assertEqual(self.tell_cuda(CUDA_HOME=str(self.tools / "cuda")), "")

    def test_the_toolkit_is_that_of_cuda_home_then_cuda_path_then_nvcc_then_the_usual_folder(self):
        home, path, other = (str(self.toolkit(name)) for name in ("home", "path", "other"))
        self.assertEqual(self.where(f"{other}/bin", CUDA_HOME=home, CUDA_PATH=path), home)
        self.assertEqual(self.where(f"{other}/bin", CUDA_HOME="", CUDA_PATH=path), path)
        self.assertEqual(self.where(f"{other}/bin"), other)
        self.assertEqual(self.where(), "/usr/local/cuda")
        self.assertEqual(self.where(CUDA_HOME="home"), home)
        self.assertEqual(self.where(CUDA_HOME="nowhere"), "nowhere")

    def test_a_link_to_nvcc_leads_to_its_toolkit_and_a_wrapper_of_it_to_none(self):
        folder = self.toolkit("cuda")
        (self.tools / "links").mkdir()
        (self.tools / "links" / "nvcc").symlink_to(folder / "bin" / "nvcc")
        self.assertEqual(self.where(self.tools / "links"), str(folder))
        (folder / "include" / "cuda_runtime_api.h").unlink()
        self.assertEqual(self.where(self.tools / "links"), "/usr/local/cuda")

    def test_the_suite_for_gpus_takes_the_toolkits_nvcc_and_no_other(self):
        folder = self.toolkit("cuda")
        self.have("nvcc", "of another toolkit")
        self.assertEqual(self.shell("require_nvcc", CUDA_HOME=str(folder)).returncode, 0)
        (folder / "bin" / "nvcc").unlink()
        done = self.shell("require_nvcc", CUDA_HOME=str(folder))
        self.assertEqual((done.returncode, done.stderr),
                         (1, f"dev: test --gpu: there is no {folder}/bin/nvcc: install the CUDA toolkit, "
                             "or name its folder in CUDA_HOME\n"))

    def test_the_build_takes_the_same_toolkit(self):
        folder = self.toolkit("cuda")
        meson = (ROOT / "meson.build").read_text()
        begin, end = meson.index("# CUDA's headers,"), meson.index("# CUDA's runtime,")
        project = self.tools / "project"
        (project / "scripts").mkdir(parents=True)
        shutil.copy(ROOT / "scripts/cuda_toolkit.sh", project / "scripts")
        (project / "meson.build").write_text("project('p')\nfs = import('fs')\n" + meson[begin:end] +
                                             "message('taken: ' + cuda_toolkit)\n"
                                             "assert(cuda_headers.found())\n")
        for number, variables in enumerate(({"CUDA_HOME": str(folder)}, {"CUDA_PATH": str(folder)}, {})):
            environment = {key: value for key, value in os.environ.items() if not key.startswith("CUDA_")}
            environment |= {"PATH": f"{folder}/bin:{os.environ['PATH']}", **variables}
            done = subprocess.run(["meson", "setup", project / f"build{number}", project], env=environment,
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertIn(f"taken: {folder}\n", done.stdout)
            self.assertEqual(done.returncode, 0, done.stdout)


class Installing(BareSystem):
    def test_installing_waits_for_another_apt_get(self):
        # Another apt-get holds the lock. This one waits for it as long as its option allows.
        for name, script in (("sudo", 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'),
                             ("apt-get", 'case "$*" in *DPkg::Lock::Timeout=300*) ;; *) exit 100 ;; esac')):
            self.have(name, "")
            (self.tools / name).write_text(f"#!/bin/sh\n{script}\n")
        script = "source scripts/dev/common.sh; source scripts/dev/packages.sh; apt_install package"
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, env={"PATH": str(self.tools)}, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Configuring(BareSystem):
    def test_compiler_options_that_are_new_reach_a_folder_that_was_configured_before(self):
        project = self.tools / "project"
        project.mkdir()
        (project / "meson.build").write_text("project('p', 'cpp')\nexecutable('t', 't.cpp')\n")
        (project / "t.cpp").write_text("int main() {}\n")
        scripts = "".join(f"source {ROOT}/scripts/dev/{part}.sh; " for part in ("common", "packages", "configure"))
        for number in (1, 2):
            script = f"root=$PWD; {scripts} kind_options() {{ echo -Dcpp_args=-DX={number}; }}; configure build any && ninja -C build"
            done = subprocess.run(["bash", "-ec", script], cwd=project, capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done)
            given = set(re.findall(r"-DX=\d", (project / "build/build.ninja").read_text()))
            self.assertEqual(given, {f"-DX={number}"})


class NoDoctest(BareSystem):
    """Coroscope's own build, with all features disabled, on a system on which no compiler and no CMake finds doctest.
    """

    def setUp(self):
        super().setUp()
        self.compiler = self.tools / "compiler"
        self.compiler.write_text("""#!/bin/sh
for each; do
    case $each in *.cpp) ! grep -q doctest/doctest.h "$each" || exit 1 ;; esac
done
exec $USUAL_CXX "$@"
""")
        self.compiler.chmod(0o755)
        self.native = self.tools / "native.ini"
        self.native.write_text(f"[binaries]\ncpp = '{self.compiler}'\ncmake = 'false'\n")

    def configured(self, tests, analysis="auto"):
        environment = os.environ | {"USUAL_CXX": os.environ.get("CXX", "c++")}
        options = [f"-D{part}=disabled" for part in PARTS.findall((ROOT / "meson_options.txt").read_text())]
        return subprocess.run(["meson", "setup", "--wrap-mode=nodownload", "--native-file", self.native, *options,
                               f"-Dtests={tests}", f"-Danalysis={analysis}", self.tools / tests, ROOT],
                              env=environment, capture_output=True, text=True, timeout=120, check=False)

    def test_a_build_that_does_not_require_the_tests_omits_them(self):
        done = self.configured("auto")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"tests +: NO")

    def test_a_build_that_requires_the_tests_fails_and_names_the_missing_dependency(self):
        done = self.configured("enabled")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"fallback subproject for the dependency doctest\n+\S*meson.build:\d+:\d+: ERROR: ")

    def test_a_build_without_the_analysis_omits_the_tests(self):
        done = self.configured("auto", analysis="disabled")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"analysis +: NO\n +tests +: NO")

    def test_a_build_that_requires_the_tests_without_the_analysis_fails_and_names_the_reason(self):
        done = self.configured("enabled", analysis="disabled")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Feature tests cannot be enabled: coroscope-analysis, which reads traces, is not built: "
                      "the option analysis is disabled", done.stdout)


class NoGpu(BareSystem):
    @unittest.skipIf(list(pathlib.Path("/dev").glob("nvidia[0-9]*")) or pathlib.Path("/dev/dxg").exists(),
                     "there is a GPU")
    def test_a_machine_without_a_gpu_fails_in_one_line_before_anything_is_built(self):
        done = self.dev("test", "--gpu")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "dev: test --gpu: this machine has no NVIDIA GPU (no /dev/nvidia0): "
                             "run it on one that has\n"))


class Benchmarks(BareSystem):
    def test_standard_output_has_only_the_table(self):
        (self.tools / "bench").mkdir()
        measure = self.tools / "bench" / "run"
        measure.write_text("#!/bin/sh\necho '| row |'\n")
        measure.chmod(0o755)
        stand_ins = ("require() { :; }; want() { :; }; build_folder() { echo folder; }; "
                     "configure() { echo Meson; }; ninja() { echo built; }")
        script = f"{stand_ins}; source {ROOT}/scripts/dev/bench.sh; verb_main --markdown"
        done = subprocess.run(["bash", "-c", script], cwd=self.tools, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "| row |\n")


class WrongUse(BareSystem):
    def test_a_fuzzer_that_does_not_exist_is_refused(self):
        self.assert_usage_error(self.dev("fuzz", "pdf"), "fuzz: no target pdf; there are native packed events nvprof nsight")

    def test_a_verb_that_does_not_exist_is_refused(self):
        self.assert_usage_error(self.dev("tset"), 'no verb "tset"; ./dev help lists them')

    def test_a_sanitizer_that_does_not_exist_is_refused_before_anything_is_built(self):
        for verb in ("build", "test"):
            self.assert_usage_error(self.dev(verb, "--sanitize", "memory"),
                                    'no sanitizer "memory"; there are address, thread and valgrind')

    def test_the_suite_for_gpus_takes_neither_a_sanitizer_nor_names(self):
        for more in (["--sanitize", "thread"], ["headers"]):
            self.assert_usage_error(self.dev("test", "--gpu", *more),
                                    "test: --gpu takes neither a sanitizer nor names")

    def test_the_suite_for_versions_of_asio_takes_a_compiler_only(self):
        for more in (["--sanitize", "thread"], ["headers"]):
            self.assert_usage_error(self.dev("test", "--asio-versions", *more),
                                    "test: --asio-versions takes a compiler only")

    def test_suites_in_which_compilers_differ_need_a_compiler(self):
        self.assert_usage_error(self.dev("test", "--differing"), "test: --differing needs --compiler")

    def test_an_option_without_its_value_is_refused(self):
        self.assert_usage_error(self.dev("test", "--sanitize"), "--sanitize needs a value")


class Suites(unittest.TestCase):
    def setUp(self):
        lines = (ROOT / "docs" / "contributing" / "suites.md").read_text(encoding="utf-8").splitlines()
        self.rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| `")]

    def test_the_table_has_a_row_for_each_folder_of_tests(self):
        folders = sorted(each.parent.name for each in (ROOT / "tests").glob("*/meson.build"))
        names = [row[0].strip("`") for row in self.rows]
        self.assertEqual([name for name in names if "/" not in name], folders)
        self.assertEqual(names, sorted(set(names)))

    def test_a_part_of_a_folder_is_one_that_the_build_of_the_folder_asks_for(self):
        for name in (row[0].strip("`") for row in self.rows if "/" in row[0]):
            with self.subTest(name):
                build = (ROOT / "tests" / name.split("/")[0] / "meson.build").read_text(encoding="utf-8")
                self.assertIn(f"runs_here['{name}']", build)

    def test_a_folder_that_a_suite_leaves_out_has_a_reason(self):
        for name, *suites, reason in self.rows:
            with self.subTest(name):
                self.assertEqual(len(suites), 3)
                self.assertLessEqual(set(suites), {"yes", "no"})
                self.assertEqual("no" in suites, bool(reason))


class AsioVersions(unittest.TestCase):
    def test_versions_that_no_archive_has_are_counted_as_skipped(self):
        with tempfile.TemporaryDirectory(prefix="coroscope-asio-") as folder:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c",
                 "source scripts/dev/common.sh; source scripts/dev/asio_versions.sh; root=$1\n"
                 "ninja() { :; }; debian_archive() { :; }; apt-get() { return 100; }; asio_suite build", "bash", folder],
                cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(lines[-1], r"^0 passed, 0 failed, [1-9]\d* skipped$")
        self.assertRegex(lines[0], r"^libasio-dev of .*: skipped")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
