# SPDX-License-Identifier: Apache-2.0
"""Projects that use Coroscope through Meson and pkg-config."""

import json
import pathlib
import re
import shutil
import sys

import packaging_cmake
from packaging_steps import (HERE, Failure, build, check_consumers, check_recorded, consumer_project, documented_project,
                             install, install_page, move_pkg_config, put_into_subprojects, set_up, shown, step, write_anew)

LEAN = [f"-Dcoroscope:{part}=disabled" for part in ("tests", "bench", "examples", "tools")] + ["-Dcoroscope:joined=true"]


def put_wrap(given, scratch, project):
    """Makes a release of the sources as they are, and puts its wrap file and archive into the project. A project that has
    these already stays as it is."""
    step([sys.executable, given.source / "scripts" / "release.py", "--uncommitted", "--output", scratch / "archive"])
    wrap = project / "subprojects" / "coroscope.wrap"
    text = (scratch / "archive" / wrap.name).read_text(encoding="utf-8")
    if wrap.exists() and wrap.read_text(encoding="utf-8") == text:
        return
    shutil.rmtree(wrap.parent, ignore_errors=True)
    shutil.rmtree(project / "build", ignore_errors=True)  # the files of an archive have one time
    packaged, = (scratch / "archive").glob("*.tar.xz")
    (wrap.parent / "packagefiles").mkdir(parents=True)
    shutil.copy2(packaged, wrap.parent / "packagefiles")
    wrap.write_text(text, encoding="utf-8")


def wrap(given, scratch, environment):
    project = consumer_project(given, scratch / "project")
    put_wrap(given, scratch, project)
    parts = ",".join(f"coroscope{part}" for part in ("", "-analysis", "-asio", "-fibers"))
    check_consumers(build(project, environment, f"--force-fallback-for={parts}", *LEAN), environment)


def check_installs(folder, environment, root):
    """Installs the project with and without its subprojects."""
    for options, expected in (("--skip-subprojects",), False), ((), True):
        shutil.rmtree(root, ignore_errors=True)
        step(["meson", "install", "--quiet", "--no-rebuild", *options, "-C", folder, "--destdir", root], env=environment)
        for wanted in "libcoroscope.so.0", "libcoroscope.a", "coroscope.hpp", "coroscope.pc", "coroscopeConfig.cmake":
            if any(root.rglob(wanted)) != expected:
                raise Failure(f"meson install {' '.join(options)}: {wanted} should {'' if expected else 'not '}be installed")


def check_built_before_installed(folder):
    targets = json.loads(step(["meson", "introspect", "--targets", folder]))
    for each in targets:
        if each["installed"] and not each["build_by_default"]:
            raise Failure(f"{each['name']} would be installed, but nothing builds it")


def recording(given, scratch, environment):
    project = documented_project(given, scratch / "project")
    put_into_subprojects(given, project)
    packages = scratch / "packages"
    packages.mkdir(exist_ok=True)
    described = step(["pkg-config", "--variable=pcfiledir", "libxxhash"]).strip()
    shutil.copy2(pathlib.Path(described, "libxxhash.pc"), packages)
    poor = dict(environment, PKG_CONFIG_LIBDIR=str(packages), PKG_CONFIG_PATH="", CMAKE="false")
    folder = build(project, poor, "-Dcoroscope:default_library=both", "-Dcoroscope:joined=true")
    check_recorded(folder, poor)
    root = scratch / "root"
    check_installs(folder, poor, root)
    move_pkg_config(root, poor)
    check_static_line(given, scratch / "static", poor)
    packaging_cmake.check_static_package(given, scratch / "static-cmake", root, environment)
    # Even if all libraries are found, no part of the analysis is built for a program that does not link it.
    found = scratch / "found"
    shutil.rmtree(found, ignore_errors=True)
    set_up(found, project, environment, "--force-fallback-for=coroscope")
    check_built_before_installed(found)
    planned = step(["ninja", "-n", "-v", "-C", found], env=environment)
    for name in "trace", "analysis", "cuda", "memory-hook":
        if f"libcoroscope-{name}." in planned:
            raise Failure(f"coroscope-{name} would be built for a program that only records")


def check_command_lines(given, folder, environment):
    """Runs the documents' lines for a compiler without a build system."""
    shutil.rmtree(folder, ignore_errors=True)
    lines = shown(install_page(given), "sh", "--libs coroscope)").splitlines()
    programs = (shown(given.source / "README.md", "cpp", "int main()"),
                (HERE / "tracked_consumer.cpp").read_text(encoding="utf-8"))
    for line, program in zip(lines, programs, strict=True):
        write_anew(folder / "main.cpp", program)
        step(["sh", "-ec", line.replace("g++", environment["CXX"], 1)], env=environment, cwd=folder)


def check_static_line(given, folder, environment):
    """Links the documents' program with the installed static library alone, as pkg-config says."""
    shutil.rmtree(folder, ignore_errors=True)
    write_anew(folder / "main.cpp", shown(given.source / "README.md", "cpp", "int main()"))
    flags = "-Wl,-Bstatic $(pkg-config --static --cflags --libs coroscope) -Wl,-Bdynamic"
    step(["sh", "-ec", f"{environment['CXX']} -std=c++20 main.cpp -o service {flags}"], env=environment, cwd=folder)
    check_recorded(folder, environment, shared=False)


def installed(given, scratch, environment):
    root = install(given, scratch, environment)
    check_command_lines(given, scratch / "lines", environment)
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
