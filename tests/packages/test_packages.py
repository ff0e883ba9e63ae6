#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the Debian packages in fresh roots, uses them as the documents say, and removes them.
usage: test_packages.py SOURCES PACKAGES BASE

PACKAGES is the folder of the .deb files, BASE a folder that debootstrap made; each class has a copy of it. The program
needs root's rights and Debian's archive. ./dev test --packages runs it."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

SOURCES, PACKAGES, BASE = (pathlib.Path(each).resolve() for each in sys.argv[1:4])
sys.path.insert(0, str(SOURCES / "tests" / "integration"))
import packaging_recipes  # noqa: E402  (the folder is known now only)

INSTALL = ("apt-get", "-qq", "--assume-yes", "--no-install-recommends", "install")
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}


def shown(document, language, words):
    """The only block of a document that has these words."""
    text = (SOURCES / document).read_text(encoding="utf-8")
    block, = (each for each in re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL) if words in each)
    return block


class Root(unittest.TestCase):
    """A fresh root, in which commands run."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.mkdtemp(prefix="root-", dir=BASE.parent)
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.root = pathlib.Path(folder, "root")
        subprocess.run(["cp", "-a", BASE, cls.root], check=True)
        shutil.copy2("/etc/resolv.conf", cls.root / "etc")
        subprocess.run(["mount", "-t", "proc", "proc", cls.root / "proc"], check=True)
        cls.addClassCleanup(subprocess.run, ["umount", cls.root / "proc"], check=True)
        (cls.root / "debs").mkdir()
        for each in PACKAGES.glob("*.deb"):
            shutil.copy2(each, cls.root / "debs")
        cls.call("apt-get", "-qq", "update")

    @classmethod
    def call(cls, *command):
        """Runs a command in the root and returns its output."""
        done = subprocess.run(["chroot", cls.root, *command], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-4000:]}")
        return done.stdout

    @classmethod
    def shell(cls, script):
        return cls.call("sh", "-ec", script)

    @classmethod
    def install(cls, *names):
        """Installs packages of ours, and of Debian's archive."""
        own = [f"/debs/{each.name}" for name in names for each in PACKAGES.glob(f"{name}_*.deb")]
        cls.call(*INSTALL, *own, *(name for name in names if not list(PACKAGES.glob(f"{name}_*.deb"))))

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def packages(self):
        return set(self.shell("dpkg-query -W -f '${Package}\\n'").split())

    def check_removed(self):
        """Removes our packages. Nothing of them may be left."""
        self.shell("dpkg --purge $(dpkg-query -W -f '${Package}\\n' '*coroscope*')")
        self.assertEqual(self.shell("find / -xdev -path /debs -prune -o -path /proc -prune -o -path /tried -prune"
                                    " -o -name '*coroscope*' -print"), "")


class RuntimeAlone(Root):
    def test_the_runtime_needs_nothing_but_the_c_and_c_plus_plus_libraries_and_leaves_nothing_behind(self):
        before = self.packages()
        self.install("libcoroscope0")
        self.assertLessEqual(self.packages() - before, {"libcoroscope0", "libstdc++6", "libgcc-s1", "libc6"})
        self.assertIn("libcoroscope.so.0", self.shell("ldconfig -p"))
        self.check_removed()


class Developer(Root):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.install("libcoroscope-dev", "libcoroscope-analysis-dev", "coroscope", "libcoroscope0-dbgsym", "g++", "cmake",
                    "meson", "ninja-build", "pkg-config", "mandoc")

    def project(self, folder):
        self.write(f"{folder}/main.cpp", shown("README.md", "cpp", "int main()"))
        self.write(f"{folder}/CMakeLists.txt", shown("docs/start/install.md", "cmake", "project("))
        self.write(f"{folder}/meson.build", shown("docs/start/install.md", "meson", "project("))

    def check_trace(self, folder):
        table = self.shell(f"cd /{folder} && coroscope table trace.cst")
        self.assertRegex(table, re.compile("^ *render ", re.MULTILINE))

    def test_a_program_is_built_by_pkg_config(self):
        self.project("tried/lines")
        line = shown("docs/start/install.md", "sh", "--libs coroscope)").splitlines()[0]
        self.shell(f"cd /tried/lines && {line} && ./a.out")
        self.check_trace("tried/lines")

    def test_a_program_is_built_statically_by_pkg_config(self):
        self.project("tried/static")
        self.shell("cd /tried/static && g++ -std=c++20 main.cpp -Wl,-Bstatic $(pkg-config --static --cflags --libs coroscope)"
                   " -Wl,-Bdynamic && ! ldd a.out | grep coroscope && ./a.out")
        self.check_trace("tried/static")

    def test_a_program_is_built_by_cmake(self):
        for name, options in ("cmake", ""), ("cmake-static", "-Dcoroscope_USE_STATIC_LIBS=ON"):
            self.project(f"tried/{name}")
            self.shell(f"cd /tried/{name} && cmake -G Ninja -B build {options} && cmake --build build && build/service")
            self.check_trace(f"tried/{name}")

    def test_a_program_that_reads_traces_is_built_by_cmake(self):
        for name, options in ("reads", ""), ("reads-static", "-Dcoroscope_USE_STATIC_LIBS=ON"):
            self.write(f"tried/{name}/consumer.cpp", (SOURCES / "tests/integration/consumer.cpp").read_text(encoding="utf-8"))
            self.write(f"tried/{name}/CMakeLists.txt",
                       "cmake_minimum_required(VERSION 3.16)\nproject(reads CXX)\n"
                       "find_package(coroscope CONFIG REQUIRED COMPONENTS analysis command)\n"
                       "add_executable(consumer consumer.cpp)\n"
                       "target_link_libraries(consumer PRIVATE coroscope::coroscope coroscope::analysis)\n")
            self.shell(f"cd /tried/{name} && cmake -G Ninja -B build {options} && cmake --build build")
            self.assertIn("consumer.work", self.shell(f"/tried/{name}/build/consumer"))

    def test_a_program_is_built_by_meson(self):
        self.project("tried/meson")
        self.shell("cd /tried/meson && meson setup build && ninja -C build && build/service")
        self.check_trace("tried/meson")

    def test_the_command_records_a_program_with_blocking_calls_and_locks(self):
        self.project("tried/run")
        self.shell("cd /tried/run && g++ -std=c++20 main.cpp $(pkg-config --cflags --libs coroscope)")
        output = self.shell("cd /tried/run && coroscope run --record blocking,locks -- ./a.out 2>&1")
        self.assertNotIn("interpose", output)
        self.check_trace("tried/run")

    def test_the_manual_and_the_completions_are_installed(self):
        self.assertIn("coroscope", self.shell("zcat /usr/share/man/man1/coroscope.1.gz | mandoc -T utf8"))
        done = self.call("bash", "-ec", "source /usr/share/bash-completion/completions/coroscope; complete -p coroscope")
        self.assertIn("coroscope", done)
        self.shell("test -s /usr/share/zsh/site-functions/_coroscope -a -s /usr/share/fish/vendor_completions.d/coroscope.fish")
        self.shell("test -s /usr/share/coroscope/gdb/coroscope.py")

    def test_the_debug_information_is_that_of_the_installed_library(self):
        build = self.shell("readelf -n /usr/lib/*/libcoroscope.so.0 | sed -n 's/.*Build ID: //p'").strip()
        self.shell(f"test -s /usr/lib/debug/.build-id/{build[:2]}/{build[2:]}.debug")

    def test_z_nothing_is_left_behind(self):  # the last one by name
        self.check_removed()


class Recipes(unittest.TestCase):
    def test_the_vcpkg_port_installs_a_command_and_libraries_that_find_package_finds(self):
        with tempfile.TemporaryDirectory(prefix="port-", dir=BASE.parent) as name:
            folder = pathlib.Path(name)
            given = types.SimpleNamespace(source=SOURCES)
            installed = packaging_recipes.run_port(given, folder, None, ["analysis", "tools"], install=True)
            (folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.16)\nproject(reads CXX)\n"
                "find_package(coroscope CONFIG REQUIRED COMPONENTS analysis memory_hook command)\n"
                f'add_executable(consumer "{SOURCES}/tests/integration/consumer.cpp")\n'
                "target_link_libraries(consumer PRIVATE coroscope::coroscope coroscope::analysis)\n", encoding="utf-8")
            for command in (["cmake", "-G", "Ninja", "-S", folder, "-B", folder / "reads", f"-DCMAKE_PREFIX_PATH={installed}"],
                            ["cmake", "--build", folder / "reads"], [folder / "reads" / "consumer"],
                            [installed / "bin" / "coroscope", "--version"]):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    program = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2)
    result = program.result
    failed = len(result.failures) + len(result.errors)
    print(f"\n{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
