# SPDX-License-Identifier: Apache-2.0
"""CMake and Meson compile the same sources of Coroscope with the same definitions."""

import json
import pathlib
import re
import shutil

from packaging_steps import Failure, step

# CMake's targets, and the names of Meson's
TARGETS = {"coroscope": "coroscope", "coroscope_trace": "coroscope-trace", "coroscope_analysis": "coroscope-analysis",
           "coroscope_cuda": "coroscope-cuda", "coroscope_memory_hook": "coroscope-memory-hook",
           "coroscope_interpose": "coroscope-interpose", "coroscope_command": "coroscope"}
# Meson compiles the runtime's rooms, and sources of the analysis with other options, as targets of their own.
PARTS = {"analysis-printing": "coroscope-analysis"}
ROOM = "coroscope-room-"
INCLUDED = re.compile(r'^#include ?["<](.*)[">]', re.MULTILINE)
OWN = re.compile(r"-D(COROSCOPE_[^=]+=.*)")
FLAGS = ("-fno-tree-slp-vectorize", "-fexceptions", "-U_FORTIFY_SOURCE")


def placed(path, build):
    """A source as both builds name it: the full path, or the name alone if it is made in the build folder."""
    resolved = path.resolve()
    return resolved.name if resolved.is_relative_to(build.resolve()) else resolved


def of_meson(given):
    """By name and whether it is a program: the sources and the definitions. Joined sources count one by one."""
    found = {}
    for target in json.loads(step(["meson", "introspect", "--targets", given.build])):
        if not target["type"].endswith(("library", "executable")):
            continue
        names, words = set(), set()
        for part in target["target_sources"]:
            words.update(part.get("parameters", ()))
            for each in map(pathlib.Path, part["sources"] + part["generated_sources"]):
                joined = "-unity" in each.name and INCLUDED.findall(each.read_text(encoding="utf-8"))
                names.update(placed(each.parent / name, given.build) for name in joined or [each])
        own = {match[1] for match in map(OWN.match, words) if match} | words.intersection(FLAGS)
        found[target["name"], target["type"] == "executable"] = names, own
    for (name, _), (names, own) in list(found.items()):
        whole = "coroscope" if name.startswith(ROOM) else PARTS.get(name)
        if whole:
            found[whole, False][0].update(names)
            found[whole, False][1].update(own)
    return found


def of_cmake(given, folder, environment):
    """The same by the name of the target, from what CMake writes for other programs."""
    query = folder / ".cmake" / "api" / "v1" / "query"
    query.mkdir(parents=True)
    (query / "codemodel-v2").touch()
    installs, = (each["value"] for each in json.loads(step(["meson", "introspect", "--buildoptions", given.build]))
                 if each["name"] == "libdir")
    options = [f"-DCMAKE_INSTALL_LIBDIR={installs}"]
    options += [f"-DCOROSCOPE_{part}=ON" for part in ("TOOLS", *(["CUDA"] if given.cuda else []))]
    step(["cmake", "-G", "Ninja", "-S", given.source, "-B", folder, "-DCOROSCOPE_JOINED=OFF", *options], env=environment)
    reply = folder / ".cmake" / "api" / "v1" / "reply"
    found = {}
    for file in reply.glob("target-*.json"):
        target = json.loads(file.read_text(encoding="utf-8"))
        names = {placed(given.source / each["path"], folder) for each in target.get("sources", ()) if "compileGroupIndex" in each}
        words = set()
        for group in target.get("compileGroups", ()):
            words.update(each["define"] for each in group.get("defines", ()) if each["define"].startswith("COROSCOPE_"))
            words.update(word for each in group.get("compileCommandFragments", ()) for word in each["fragment"].split())
        found[target["name"]] = names, {word for word in words if word.startswith("COROSCOPE_") or word in FLAGS}
    return found


def lists(given, scratch, environment):
    folder = scratch / "build"
    shutil.rmtree(folder, ignore_errors=True)
    meson, cmake = of_meson(given), of_cmake(given, folder, environment)
    compared = 0
    for target, name in TARGETS.items():
        key = name, target == "coroscope_command"
        if target in cmake and key in meson:
            compared += 1
            for what, here, there in zip(("sources", "definitions"), cmake[target], meson[key], strict=True):
                if here != there:
                    raise Failure(f"{target}: {what} of CMake alone: {sorted(map(str, here - there))}; of Meson alone: "
                                  f"{sorted(map(str, there - here))}")
    if compared < len(TARGETS) - (not given.cuda) - 3 * (not given.tools):
        raise Failure(f"only {compared} libraries and programs were compared")
