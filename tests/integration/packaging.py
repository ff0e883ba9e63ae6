#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a small project against Coroscope as its users have it, and runs it.

`subproject`: Coroscope's sources in its subprojects/. `installed`: an installation of the build
folder, found through pkg-config, with the command. `recording`: the sources in subprojects/ where
nothing is found of what only the analysis needs; the project is the documents' one. `cmake`: the
documents' project for CMake against an installation. All of it happens in packaging/ in the build
folder, where the subproject's objects stay for the next run, since building the libraries once more
takes long.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
LEAN = [f"-Dcoroscope:{part}=disabled" for part in ("tests", "bench", "examples", "tools")]
FRESH = ["--wrap-mode=nodownload", "-Doptimization=0", "-Ddebug=false"]


class Failure(Exception):
    """A step went wrong; the message has its output."""


def step(command, **how):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(map(str, command))}: exit status {done.returncode}\n"
                      f"{done.stdout}")
    return done.stdout


def write_anew(path, text):
    """Where it says something else: what is built from it stays as it is otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def shown(document, language, words):
    """The one block of a document that has these words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found = [block for block in blocks if words in block]
    if len(found) != 1:
        raise Failure(f"{document.name} shows {len(found)} blocks of {language} with '{words}', 1 expected")
    return found[0]


def documented_project(given, folder):
    """What the documents tell a user to write."""
    integrations = given.source / "docs" / "integrations.md"
    write_anew(folder / "main.cpp", shown(given.source / "README.md", "cpp", "int main()"))
    write_anew(folder / "meson.build", shown(integrations, "meson", "project("))
    write_anew(folder / "CMakeLists.txt", shown(integrations, "cmake", "project("))
    return folder


def consumer_project(given, folder):
    shutil.copytree(HERE / given.way, folder, dirs_exist_ok=True)
    for source in HERE.glob("*.cpp"):
        shutil.copy2(source, folder)
    return folder


def put_into_subprojects(given, project):
    link = project / "subprojects" / "coroscope"
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(given.source)


def install(given, scratch, environment):
    """As into a prefix of one's own, which the loader does not search. Its pkg-config files name it."""
    root = scratch / "root"
    shutil.rmtree(root, ignore_errors=True)
    step(["meson", "install", "--quiet", "--no-rebuild", "--skip-subprojects",
          "-C", given.build, "--destdir", root])
    found = list(root.rglob("pkgconfig/coroscope.pc"))
    if len(found) != 1:
        raise Failure(f"{len(found)} coroscope.pc installed, 1 expected")
    for each in found[0].parent.glob("*.pc"):
        text = each.read_text(encoding="utf-8")
        if "libcudart" in text:
            raise Failure(f"{each.name} links CUDA, which is opened at run time")
        each.write_text(re.sub("^prefix=", f"prefix={root}", text, flags=re.MULTILINE), encoding="utf-8")
    environment["PKG_CONFIG_PATH"] = str(found[0].parent)
    return root


def set_up(folder, project, environment, *options):
    step(["meson", "setup", *FRESH, *options, folder, project], env=environment)
    return folder


def build(project, environment, *options):
    folder = set_up(project / "build", project, environment, *options)
    step(["ninja", "-C", folder], env=environment)
    return folder


def check_consumers(folder, environment):
    step([folder / "tracked_consumer"], env=environment)
    output = step([folder / "consumer"], env=environment)
    row = next((line.split() for line in output.splitlines() if "consumer.work" in line), None)
    if not row or "3" not in row:
        raise Failure(f"the consumer's table should count its scope consumer.work three times\n{output}")


def check_recorded(folder, environment):
    """Runs the documents' program; returns its trace."""
    trace = folder / "trace.cst"
    trace.unlink(missing_ok=True)
    step([folder / "service"], env=environment, cwd=folder)
    if not trace.exists():
        raise Failure("the documents' program left no trace")
    return trace


def subproject(given, scratch, environment):
    project = consumer_project(given, scratch / "project")
    put_into_subprojects(given, project)
    parts = ",".join(f"coroscope{part}" for part in ("", "-analysis", "-asio", "-fibers"))
    check_consumers(build(project, environment, f"--force-fallback-for={parts}", *LEAN), environment)


def recording(given, scratch, environment):
    project = documented_project(given, scratch / "project")
    put_into_subprojects(given, project)
    packages = scratch / "packages"
    packages.mkdir(exist_ok=True)
    described = step(["pkg-config", "--variable=pcfiledir", "libxxhash"]).strip()
    shutil.copy2(pathlib.Path(described, "libxxhash.pc"), packages)
    poor = dict(environment, PKG_CONFIG_LIBDIR=str(packages), PKG_CONFIG_PATH="", CMAKE="false")
    check_recorded(build(project, poor), poor)
    # Where all of it is found, too, nothing of the analysis is built for a program that does not link it.
    found = scratch / "found"
    shutil.rmtree(found, ignore_errors=True)
    set_up(found, project, environment, "--force-fallback-for=coroscope")
    planned = step(["ninja", "-n", "-v", "-C", found], env=environment)
    for name in "trace", "analysis":
        if f"libcoroscope-{name}." in planned:
            raise Failure(f"coroscope-{name} would be built for a program that only records")


def installed(given, scratch, environment):
    root = install(given, scratch, environment)
    for make, name in (consumer_project, "project"), (documented_project, "documented"):
        shutil.rmtree(scratch / name, ignore_errors=True)
        folder = build(make(given, scratch / name), environment)
        if make == consumer_project:
            check_consumers(folder, environment)
    trace = check_recorded(folder, environment)
    if given.tools:
        command, = root.rglob("bin/coroscope")
        table = step([command, "table", trace], env=environment)
        if not re.search(r"^ *render ", table, re.MULTILINE):
            raise Failure(f"the installed command's table lacks the scope render\n{table}")


def cmake(given, scratch, environment):
    if not shutil.which("cmake"):
        print("SKIP: no CMake")
        return 77
    install(given, scratch, environment)
    shutil.rmtree(scratch / "project", ignore_errors=True)
    project = documented_project(given, scratch / "project")
    folder = project / "build"
    step(["cmake", "-S", project, "-B", folder], env=environment)
    step(["cmake", "--build", folder], env=environment)
    check_recorded(folder, environment)
    return 0


WAYS = {way.__name__: way for way in (subproject, installed, recording, cmake)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--tools", action="store_true", help="the build has the command")
    arguments.add_argument("way", choices=WAYS)
    arguments.add_argument("source", type=pathlib.Path, help="Coroscope's sources")
    arguments.add_argument("build", type=pathlib.Path, help="Coroscope's build folder")
    arguments.add_argument("compiler", nargs="+", help="after --")
    given = arguments.parse_args()

    scratch = given.build / "packaging" / given.way
    scratch.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, CXX=shlex.join(given.compiler))
    environment.pop("LD_LIBRARY_PATH", None)
    try:
        return WAYS[given.way](given, scratch, environment) or 0
    except Failure as failure:
        shutil.rmtree(scratch, ignore_errors=True)  # nothing half-done spoils the next run
        print(failure)
        return 1


if __name__ == "__main__":
    sys.exit(main())
