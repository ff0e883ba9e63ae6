#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the runtime and programs that use it by a compiler that does not build the project, runs the programs, and
compares their trace with the expected one.

All files are copied into FOLDER, and each command runs there with relative paths, so that the compiler may see another
root (--enter 'chroot ROOT …') and the programs may need an emulator (--runner 'qemu-aarch64 …')."""

import argparse
import pathlib
import shlex
import shutil
import subprocess
import sys

import check_consumers

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = ["-D_FILE_OFFSET_BITS=64", "-DCOROSCOPE_HAS_ITT=0", "-DCOROSCOPE_HAS_NVTX=0", "-DCOROSCOPE_HAS_USDT=0"]
# Headers of other libraries that the runtime's sources include: files or folders, the first that is there.
BORROWED = (("xxhash.h",), ("concurrentqueue", "concurrentqueue.h"))


def copy_sources(folder):
    for part in "include", "lib":
        shutil.copytree(ROOT / part, folder / part, dirs_exist_ok=True)
    for program in "compatibility/consumer.cpp", "first_contact/usual_handles.cpp":
        shutil.copy2(ROOT / "tests" / program, folder)
    (folder / "borrowed").mkdir(exist_ok=True)
    for names in BORROWED:
        found = next(path for path in (pathlib.Path("/usr/include", name) for name in names) if path.exists())
        copy = shutil.copytree if found.is_dir() else shutil.copy2
        if not (folder / "borrowed" / found.name).exists():
            copy(found, folder / "borrowed" / found.name)


def units(folder):
    """Writes one source for each room, which includes the room's sources."""
    rooms = sorted((folder / "lib/runtime").iterdir()) + [folder / "lib/integration"]
    for room in rooms:
        sources = sorted(room.rglob("*.cpp"))
        if not sources:
            continue
        unit = folder / f"{room.name}.cpp"
        unit.write_text("".join(f'#include "{source.relative_to(folder)}"\n' for source in sources), encoding="utf-8")
        yield unit.name


class Build:
    def __init__(self, given):
        self.folder, self.compiler = given.folder, given.compiler
        self.enter, self.runner = shlex.split(given.enter), shlex.split(given.runner)

    def run(self, *command):
        words = [*self.enter, *command]
        done = subprocess.run(words, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise check_consumers.Failure(f"{shlex.join(words)}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def compile(self, *arguments):
        return self.run(*self.compiler, "-std=c++20", "-Iinclude", "-isystem", "borrowed", *arguments)

    def runtime(self):
        objects = []
        for unit in units(self.folder):
            objects.append(unit.replace(".cpp", ".o"))
            self.compile("-O1", "-Wno-subobject-linkage" if "g++" in self.compiler[-1] else "-w", *SETTINGS, "-c", unit,
                         "-o", objects[-1])
        return objects

    def program(self, name, objects, *options):
        self.compile(*check_consumers.WARNINGS, "-O1", *options, f"{name}.cpp", *objects, "-pthread", "-ldl", "-o", name)
        return [*self.runner, f"./{name}"]


def check(given):
    copy_sources(given.folder)
    build = Build(given)
    print(build.run(*given.compiler, "--version").splitlines()[0], flush=True)
    objects = build.runtime()
    for options in [], ["-std=c++2b"]:
        (given.folder / "consumer.cst").unlink(missing_ok=True)
        build.run(*build.program("consumer", objects, *options), "consumer.cst")
        check_consumers.check_trace(given.describe, given.folder / "consumer.cst")
        build.run(*build.program("usual_handles", objects, *options))
        print(f"{' '.join(options) or '-std=c++20'}: as expected", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--enter", default="", help="runs a command in the compiler's own root")
    arguments.add_argument("--runner", default="", help="runs a program of the compiler")
    arguments.add_argument("describe", type=pathlib.Path, help="the program that prints what a trace says")
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("compiler", nargs="+", help="after --")
    given = arguments.parse_args()
    given.describe, given.folder = given.describe.resolve(), given.folder.resolve()
    given.folder.mkdir(parents=True, exist_ok=True)
    try:
        check(given)
    except check_consumers.Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
