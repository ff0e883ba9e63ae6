#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a small project against Coroscope as its users do, and runs it.

`wrap`: the project has the wrap file of a release, and reads traces, too. `installed`: an installation of the build
folder, found through pkg-config, with the command. `recording`: the documents' project for Meson, with the sources in
subprojects/ and without the libraries that only the analysis needs; then programs that use what this project installed,
linked statically. `find-package`: the documents' project for CMake against an installation of the build folder.
`add-subdirectory` (static) and `fetch-content` (shared): the same with the sources. `lists`: CMake and Meson compile the
same sources in the same way. `recipes`: what can be checked of the Conan recipe and the vcpkg port without their programs.

All builds are in packaging/ in the build folder. The objects of projects that have the sources stay there for the next
run, since the libraries take long to build. The last line is the processor time."""

import argparse
import os
import pathlib
import resource
import shlex
import shutil
import sys

import packaging_cmake
import packaging_lists
import packaging_meson
import packaging_recipes
from packaging_steps import Failure

WAYS = {"wrap": packaging_meson.wrap, "installed": packaging_meson.installed, "recording": packaging_meson.recording,
        "find-package": packaging_cmake.find_package, "add-subdirectory": packaging_cmake.add_subdirectory,
        "fetch-content": packaging_cmake.fetch_content, "lists": packaging_lists.lists,
        "recipes": packaging_recipes.recipes}
OF_CMAKE = ("find-package", "add-subdirectory", "fetch-content", "lists", "recipes")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--tools", action="store_true", help="the build has the command")
    arguments.add_argument("--cuda", action="store_true", help="the build has coroscope-cuda")
    arguments.add_argument("way", choices=WAYS)
    arguments.add_argument("source", type=pathlib.Path, help="Coroscope's sources")
    arguments.add_argument("build", type=pathlib.Path, help="Coroscope's build folder")
    arguments.add_argument("compiler", nargs="+", help="after --")
    given = arguments.parse_args()

    scratch = given.build / "packaging" / given.way
    scratch.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, CXX=shlex.join(given.compiler))
    environment.pop("LD_LIBRARY_PATH", None)
    if given.way in OF_CMAKE and not shutil.which("cmake"):
        print("SKIP: no CMake")
        return 77
    try:
        WAYS[given.way](given, scratch, environment)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"processor time: {used.ru_utime + used.ru_stime:.1f} s")
        return 0
    except Failure as failure:
        shutil.rmtree(scratch, ignore_errors=True)  # nothing half-done spoils the next run
        print(failure)
        return 1


if __name__ == "__main__":
    sys.exit(main())
