#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a small project against Coroscope as its users have it, and runs it.

`subproject`: Coroscope's sources in its subprojects/. `installed`: an installation of the build
folder, found through pkg-config. All of it happens in packaging/ in the build folder, where the
subproject's objects stay for the next run, since building the libraries once more takes long.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LEAN = [f"-Dcoroscope:{part}=disabled" for part in ("tests", "bench", "examples", "tools")]


class Failure(Exception):
    """A step went wrong; the message has its output."""


def step(command, **how):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(map(str, command))}: exit status {done.returncode}\n"
                      f"{done.stdout}")
    return done.stdout


def start_project(way, scratch):
    project = scratch / "project"
    shutil.copytree(HERE / way, project, dirs_exist_ok=True)
    for source in HERE.glob("*.cpp"):
        shutil.copy2(source, project)
    return project


def put_into_subprojects(given, project, environment):
    link = project / "subprojects" / "coroscope"
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(given.source)
    parts = ",".join(f"coroscope{part}" for part in ("", "-analysis", "-asio", "-fibers"))
    return [f"--force-fallback-for={parts}", *LEAN]


def install(given, project, environment):
    """Into a folder that stands for the file system's root, as a package's build does it."""
    root = project.parent / "root"
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(project / "build", ignore_errors=True)
    step(["meson", "install", "--quiet", "--no-rebuild", "--skip-subprojects",
          "-C", given.build, "--destdir", root])
    found = list(root.rglob("pkgconfig/coroscope.pc"))
    if len(found) != 1:
        raise Failure(f"{len(found)} coroscope.pc installed, 1 expected")
    for each in found[0].parent.glob("*.pc"):
        if "libcudart" in each.read_text():
            raise Failure(f"{each.name} links CUDA, which is opened at run time")
    environment["PKG_CONFIG_PATH"] = str(found[0].parent)
    environment["PKG_CONFIG_SYSROOT_DIR"] = str(root)
    environment["LD_LIBRARY_PATH"] = str(found[0].parent.parent)
    return []


PREPARE = {"subproject": put_into_subprojects, "installed": install}


def build_and_run(given, scratch):
    environment = dict(os.environ, CXX=shlex.join(given.compiler))
    project = start_project(given.way, scratch)
    wanted = PREPARE[given.way](given, project, environment)
    step(["meson", "setup", "--wrap-mode=nodownload", "-Doptimization=0", "-Ddebug=false",
          *wanted, project / "build", project], env=environment)
    step(["ninja", "-C", project / "build"], env=environment)
    step([project / "build" / "tracked_consumer"], env=environment)
    return step([project / "build" / "consumer"], env=environment)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("way", choices=PREPARE)
    arguments.add_argument("source", type=pathlib.Path, help="Coroscope's sources")
    arguments.add_argument("build", type=pathlib.Path, help="Coroscope's build folder")
    arguments.add_argument("compiler", nargs="+", help="after --")
    given = arguments.parse_args()

    scratch = given.build / "packaging" / given.way
    try:
        output = build_and_run(given, scratch)
    except Failure as failure:
        shutil.rmtree(scratch, ignore_errors=True)  # nothing half-done spoils the next run
        print(failure)
        return 1
    print(output)
    row = next((line.split() for line in output.splitlines() if "consumer.work" in line), None)
    if not row or "3" not in row:
        print("the consumer's table should count its scope consumer.work three times")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
