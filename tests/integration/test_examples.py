#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies each example that is a project of its own, builds it by CMake and by Meson against an installation, runs it, and
reads its trace. usage: test_examples.py [--prefix PREFIX] COROSCOPE SOURCE BUILD -- COMPILER

Without PREFIX the build folder is installed first. An example whose library is missing is skipped, and named."""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import sys

import packaging_steps

# The header without which an example is skipped, the command that its README names, and a row of that command.
EXAMPLES = {
    "hello": (None, "table", r"^ *render\b"),
    "asio_echo": ("boost/asio.hpp", "requests", r"^ *echo\b"),
    "thread_pool": (None, "executors", r"^ *parsers\b"),
    "own_coroutine": (None, "awaits", r"^ *network\b"),
    "futures": (None, "tasks", r"^ *report\b"),
    "fibers": ("boost/fiber/all.hpp", "tasks", r"^ *consume\b"),
}


def by_cmake(project, environment, prefix):
    folder = project / "build-cmake"
    packaging_steps.step(["cmake", "-S", project, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}"], env=environment)
    packaging_steps.step(["cmake", "--build", folder], env=environment)
    return folder


def by_meson(project, environment, _):
    folder = project / "build-meson"
    packaging_steps.step(["meson", "setup", *packaging_steps.FRESH, folder, project], env=environment)
    packaging_steps.step(["ninja", "-C", folder], env=environment)
    return folder


def check(name, folder, environment, command):
    _, verb, row = EXAMPLES[name]
    packaging_steps.step([folder / name], env=environment, cwd=folder)
    said = packaging_steps.step([command, verb, folder / f"{name}.cst"], env=environment)
    if not re.search(row, said, re.MULTILINE):
        raise packaging_steps.Failure(f"{name}: coroscope {verb} has no row {row}\n{said}")


def check_example(given, name, scratch, environment, prefix):
    project = scratch / name
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(given.source / "examples" / name, project)
    readme = (project / "README.md").read_text(encoding="utf-8")
    if f"coroscope {EXAMPLES[name][1]} {name}.cst" not in readme:
        raise packaging_steps.Failure(f"{name}/README.md does not name coroscope {EXAMPLES[name][1]}")
    ways = ([by_meson] if environment["PKG_CONFIG_PATH"] else []) + ([by_cmake] if shutil.which("cmake") else [])
    for way in ways:
        check(name, way(project, environment, prefix), environment, given.command)
    print(f"{name}: as expected, by {' and by '.join(way.__name__[3:] for way in ways)}", flush=True)


def has_header(header, environment):
    if header is None:
        return True
    probe = ["sh", "-c", f"echo '#include <{header}>' | {environment['CXX']} -std=c++20 -fsyntax-only -x c++ -"]
    try:
        packaging_steps.step(probe, env=environment)
    except packaging_steps.Failure:
        return False
    return True


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--prefix", type=pathlib.Path, help="an installation; without pkg-config files, only CMake is tried")
    arguments.add_argument("command", type=pathlib.Path, help="the coroscope program")
    arguments.add_argument("source", type=pathlib.Path)
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("compiler", nargs="+", help="after --")
    given = arguments.parse_args()
    scratch = given.build / "packaging" / "examples"
    scratch.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, CXX=shlex.join(given.compiler))
    environment.pop("LD_LIBRARY_PATH", None)
    failed = 0
    try:
        prefix = given.prefix
        if prefix is None:
            prefix = next(packaging_steps.install(given, scratch, environment).rglob("include/coroscope")).parents[1]
        else:
            found = [str(each.parent) for each in prefix.rglob("pkgconfig/coroscope.pc")]
            environment["PKG_CONFIG_PATH"] = ":".join(found)
    except packaging_steps.Failure as failure:
        print(failure)
        return 1
    for name, (header, *_) in EXAMPLES.items():
        if not has_header(header, environment):
            print(f"SKIP: {name}: no <{header}>")
            continue
        try:
            check_example(given, name, scratch, environment, prefix)
        except packaging_steps.Failure as failure:
            failed += 1
            print(failure, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
