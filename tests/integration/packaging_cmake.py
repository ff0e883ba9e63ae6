# SPDX-License-Identifier: Apache-2.0
"""Projects that use Coroscope through CMake. Each is the documents' project, with a program that uses Asio's tracking."""

import shutil
import subprocess
import sys

import packaging_recipes
from packaging_steps import (HERE, Failure, check_recorded, documented_project, install, install_page, shown, step,
                             write_anew)

FIND = "find_package(coroscope 0.1 CONFIG REQUIRED)\n"
TRACKED = """
add_executable(tracked_consumer tracked_consumer.cpp)
target_link_libraries(tracked_consumer PRIVATE coroscope::asio coroscope::fibers)
"""
READS = """
find_package(coroscope CONFIG REQUIRED COMPONENTS asio fibers analysis)
add_executable(consumer consumer.cpp)
target_link_libraries(consumer PRIVATE coroscope::coroscope coroscope::analysis)
"""
ASKS = """
cmake_minimum_required(VERSION 3.16)
project(asks NONE)
find_package(coroscope @wish@)
message(STATUS "found: ${coroscope_FOUND} ${coroscope_VERSION}, asio ${coroscope_asio_FOUND}")
"""


def cmake_project(given, folder, get=FIND, more=""):
    """The documents' project, in which `get` is the line that finds Coroscope."""
    documented_project(given, folder)
    text = (folder / "CMakeLists.txt").read_text(encoding="utf-8")
    if FIND not in text:
        raise Failure(f"{install_page(given).name} lacks the line {FIND.strip()}")
    write_anew(folder / "CMakeLists.txt", text.replace(FIND, get) + TRACKED + more)
    for source in HERE.glob("*.cpp"):
        write_anew(folder / source.name, source.read_text(encoding="utf-8"))
    return folder


def build(project, environment, *options):
    folder = project / "build"
    step(["cmake", "-G", "Ninja", "-S", project, "-B", folder, *options], env=environment)
    step(["cmake", "--build", folder], env=environment)
    step([folder / "tracked_consumer"], env=environment)
    return folder


def ask(folder, root, wish):
    """The answer of find_package to a wish: the output of CMake."""
    write_anew(folder / "CMakeLists.txt", ASKS.replace("@wish@", wish))
    place, = root.rglob("coroscopeConfig.cmake")
    done = subprocess.run(["cmake", "-S", folder, "-B", folder / "build", f"-Dcoroscope_DIR={place.parent}"],
                          capture_output=True, text=True, check=False)
    return " ".join((done.stdout + done.stderr).split())


def check_answers(folder, root, version):
    """find_package knows the versions and the components, and names the missing ones."""
    newer = f"{int(version.split('.')[0]) + 1}.0"
    for wish, expected in (
        ("CONFIG", f"found: 1 {version}, asio"),
        (f"{version} EXACT CONFIG COMPONENTS asio", f"found: 1 {version}, asio TRUE"),
        ("0.0.1 CONFIG", f"found: 1 {version}"),
        ("0.0.1...0.99 CONFIG", f"found: 1 {version}"),
        ("0.0.1...<0.0.2 CONFIG", "found: 0"),
        (f"{newer} CONFIG", "found: 0"),
        ("CONFIG OPTIONAL_COMPONENTS nonsense", f"found: 1 {version}"),
        ("CONFIG COMPONENTS nonsense", "no shared or static library or program of the component nonsense in"),
    ):
        shutil.rmtree(folder, ignore_errors=True)
        answer = ask(folder, root, wish)
        if expected.replace("1 ", "TRUE ", 1) not in answer and expected not in answer:
            raise Failure(f"find_package(coroscope {wish}) should answer: {expected}\n{answer}")


def project_version(given):
    text = (given.source / "meson.build").read_text(encoding="utf-8")
    return text.split("version: '")[1].split("'")[0]


def find_package(given, scratch, environment):
    root = install(given, scratch, environment)
    if given.tools:
        packaging_recipes.check_debian_lists(given, root)
    shutil.rmtree(scratch / "project", ignore_errors=True)
    prefix = next(root.rglob("include/coroscope/coroscope.hpp")).parents[2]
    folder = build(cmake_project(given, scratch / "project", more=READS), environment, f"-DCMAKE_PREFIX_PATH={prefix}")
    check_recorded(folder, environment, shared=True)
    if "consumer.work" not in step([folder / "consumer"], env=environment):
        raise Failure("the consumer's table lacks its scope consumer.work")
    check_answers(scratch / "asks", root, project_version(given))


def check_static_package(given, folder, root, environment):
    """Builds the documents' project with the installed static libraries, from a prefix that has moved."""
    moved = folder / "moved"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    root.rename(moved)
    prefix = next(moved.rglob("include/coroscope/coroscope.hpp")).parents[2]
    options = (f"-DCMAKE_PREFIX_PATH={prefix}", "-Dcoroscope_USE_STATIC_LIBS=ON")
    check_recorded(build(cmake_project(given, folder / "project"), environment, *options), environment, shared=False)


def put_tree(given, place):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(given.source)


def add_subdirectory(given, scratch, environment):
    project = cmake_project(given, scratch / "project", shown(install_page(given), "cmake", "add_subdirectory("))
    put_tree(given, project / "third_party" / "coroscope")
    folder = build(project, environment, "-DCOROSCOPE_INSTALL=ON")
    check_recorded(folder, environment, shared=False)
    root = scratch / "root"
    shutil.rmtree(root, ignore_errors=True)
    step(["cmake", "--install", folder, "--prefix", root])
    check_static_package(given, scratch / "static", root, environment)


def fetch_content(given, scratch, environment):
    project = cmake_project(given, scratch / "project", shown(install_page(given), "cmake", "FetchContent_Declare("))
    folder = build(project, environment, f"-DFETCHCONTENT_SOURCE_DIR_COROSCOPE={given.source}", "-DBUILD_SHARED_LIBS=ON")
    check_recorded(folder, environment, shared=True)
    # The documents' line unpacks the archive of a release.
    step([sys.executable, given.source / "scripts" / "release.py", "--uncommitted", "--output", project / "third_party"])
    unpacked = scratch / "unpacked"
    shutil.rmtree(unpacked, ignore_errors=True)
    step(["cmake", "-G", "Ninja", "-S", project, "-B", unpacked], env=environment)
    if not (unpacked / "_deps" / "coroscope-src" / "lib" / "exports.map").exists():
        raise Failure("FetchContent did not unpack the archive of a release")
    # Without COROSCOPE_INSTALL the project's installation has nothing of Coroscope.
    root = scratch / "root"
    shutil.rmtree(root, ignore_errors=True)
    step(["cmake", "--install", folder, "--prefix", root])
    if any(each.is_file() for each in root.rglob("*")):
        raise Failure("Coroscope is installed with a project that did not ask for it")
