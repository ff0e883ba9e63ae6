#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and optimises the consumer and the static runtime as one program (b_lto), and checks the contents of its
trace.

The build folder is compatibility-lto/ in the given one. It keeps the runtime's objects for the next run."""

import argparse
import os
import pathlib
import shlex
import shutil
import sys

import check_consumers

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "codegen"))
import given_compiler  # noqa: E402

LEAN = [f"-Dcoroscope:{part}=disabled" for part in ("tests", "bench", "examples", "tools")] + ["-Dcoroscope:joined=true"]


def archiver(compiler):
    """The llvm-ar that reads this clang's objects: Meson takes the first one, of any version. None for another
    compiler."""
    if "clang" not in compiler[-1]:
        return None
    major = check_consumers.run(*compiler, "-dumpversion").split(".")[0]
    for name in (f"llvm-ar-{major}", "llvm-ar"):
        if shutil.which(name) and f"version {major}." in check_consumers.run(name, "--version"):
            return name
    given_compiler.skip(f"no llvm-ar {major}, which reads the objects of this clang")


def build(source, compiler, project):
    shutil.copytree(HERE / "lto", project, dirs_exist_ok=True)
    shutil.copy2(HERE / "consumer.cpp", project)
    link = project / "subprojects" / "coroscope"
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(source)
    os.environ["CXX"] = shlex.join(compiler)
    if (found := archiver(compiler)) is not None:
        os.environ["AR"] = found
    if not (project / "build" / "build.ninja").exists():
        check_consumers.run("meson", "setup", "--wrap-mode=nodownload", "--force-fallback-for=coroscope", "-Db_lto=true",
                            "-Ddefault_library=static", "-Dbuildtype=release", "-Doptimization=2", *LEAN,
                            project / "build", project)
    check_consumers.run("ninja", "-C", project / "build", "consumer")
    return project / "build" / "consumer"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("source", type=pathlib.Path, help="Coroscope's sources")
    arguments.add_argument("build", type=pathlib.Path, help="a folder to build in")
    arguments.add_argument("describe", type=pathlib.Path, help="the program that prints what a trace says")
    arguments.add_argument("compiler", nargs="+", help="after --")
    given = arguments.parse_args()
    project = given.build / "compatibility-lto"
    trace = project / "consumer.cst"
    try:
        check_consumers.run(build(given.source, given.compiler, project), trace)
        check_consumers.check_trace(given.describe, trace)
    except check_consumers.Failure as failure:
        shutil.rmtree(project, ignore_errors=True)  # nothing half-done spoils the next run
        print(failure)
        return 1
    print("optimised as one program: as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
