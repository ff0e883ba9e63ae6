# SPDX-License-Identifier: Apache-2.0
"""The Conan recipe and the vcpkg port as far as they can be checked without Conan and vcpkg: their code runs against small
stand-ins for the programs' own functions, and CMake is called with the options that they pass. And the lists of files of the
Debian packages."""

import importlib.util
import json
import pathlib
import re
import shutil
import sys
import types

from packaging_steps import Failure, step

# The functions of vcpkg that the port calls, as far as it uses them
STAND_INS = """
function(vcpkg_check_features)
  cmake_parse_arguments(given "" "OUT_FEATURE_OPTIONS" "FEATURES" ${ARGN})
  set(options)
  while(given_FEATURES)
    list(POP_FRONT given_FEATURES name option)
    if(name IN_LIST FEATURES)
      list(APPEND options "-D${option}=ON")
    else()
      list(APPEND options "-D${option}=OFF")
    endif()
  endwhile()
  set(${given_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(given "" "SOURCE_PATH" "OPTIONS" ${ARGN})
  execute_process(COMMAND "${CMAKE_COMMAND}" -G Ninja -S "${given_SOURCE_PATH}" -B "${BUILD}" -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=None
    "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${given_OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
  if(INSTALL)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${BUILD}" --target install COMMAND_ERROR_IS_FATAL ANY)
  endif()
endfunction()
function(vcpkg_copy_tools)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(given "" "" "FILE_LIST" ${ARGN})
  file(INSTALL ${given_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/coroscope" RENAME copyright)
endfunction()
"""


def check_debian_lists(given, root):
    """Each installed file is in exactly one of the Debian packages, and each line of their lists names a file."""
    prefix = next(root.rglob("include/coroscope/coroscope.hpp")).parents[2]
    files = {"usr" / each.relative_to(prefix) for each in prefix.rglob("*") if not each.is_dir() or each.is_symlink()}
    files = {each for each in files if "coroscope-cuda" not in each.name}
    owners = {}
    for file in (given.source / "packaging" / "debian").glob("*.install"):
        for line in file.read_text(encoding="utf-8").split():
            named = {each for each in files if each.match(line) or any(above.match(line) for above in each.parents)}
            if not named and not line.endswith(".a"):  # static libraries are built for the packages only
                raise Failure(f"{file}: {line} is not installed by Meson")
            for each in named:
                if each in owners:
                    raise Failure(f"{file}: {each} is in {owners[each]}, too")
                owners[each] = file.name
    left = sorted(map(str, files - owners.keys()))
    if left:
        raise Failure(f"no Debian package has {left}; add them to a list in packaging/debian")


def check_port_description(file, version):
    port = json.loads(file.read_text(encoding="utf-8"))
    names = [each if isinstance(each, str) else each["name"] for feature in [port, *port["features"].values()]
             for each in feature["dependencies"]]
    if port["name"] != "coroscope" or port["version"] != version:
        raise Failure(f"{file}: name and version should be coroscope {version}")
    if not all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", each) for each in names):
        raise Failure(f"{file}: {names} has a name that vcpkg does not allow")
    return list(port["features"])


def run_port(given, scratch, environment, features, install=False):
    """Runs portfile.cmake, and returns the folder into which it installs."""
    port = given.source / "packaging" / "vcpkg" / "coroscope"
    packages, build, script = (scratch / name for name in ("packages", "build", "port.cmake"))
    script.parent.mkdir(parents=True, exist_ok=True)
    places = {"CURRENT_PORT_DIR": port, "CURRENT_PACKAGES_DIR": packages, "BUILD": build, "FEATURES": ";".join(features),
              "INSTALL": "ON" if install else "OFF"}
    text = "".join(f'set({name} "{value}")\n' for name, value in places.items())
    script.write_text(f'cmake_minimum_required(VERSION 3.21)\n{text}{STAND_INS}include("{port}/portfile.cmake")\n', encoding="utf-8")
    step(["cmake", "-P", script], env=environment)
    if not (packages / "share" / "coroscope" / "copyright").exists():
        raise Failure("the vcpkg port installs no copyright file")
    return packages


def stand_in(name, **members):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)


def load_recipe(file, calls):
    """Loads conanfile.py with stand-ins for Conan's modules. `calls` gets the name of each call."""
    class Toolchain:
        def __init__(self, recipe):
            self.cache_variables = recipe.variables = {}

        def generate(self):
            calls.append("toolchain")

    class Deps(Toolchain):
        def __init__(self, _):
            pass

    class Recipe:
        def requires(self, name):
            calls.append(name)

    stand_in("conan", ConanFile=Recipe)
    stand_in("conan.errors", ConanInvalidConfiguration=ValueError)
    stand_in("conan.tools")
    stand_in("conan.tools.build", check_min_cppstd=lambda recipe, standard: calls.append(f"C++{standard}"))
    stand_in("conan.tools.cmake", CMake=None, CMakeDeps=Deps, CMakeToolchain=Toolchain, cmake_layout=calls.append)
    stand_in("conan.tools.files", copy=lambda recipe, pattern, src, dst: calls.append((pattern, src)))
    spec = importlib.util.spec_from_file_location("conanfile", file)
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module.CoroscopeRecipe()


def conan_options(given, version):
    """The definitions that the recipe passes to CMake."""
    calls = []
    recipe = load_recipe(given.source / "packaging" / "conan" / "conanfile.py", calls)
    recipe.recipe_folder = str(given.source / "packaging" / "conan")
    recipe.export_sources_folder = "exported"
    recipe.options = types.SimpleNamespace(**{**recipe.default_options, "tools": bool(given.tools)})
    recipe.settings = types.SimpleNamespace(os="Linux")
    recipe.set_version()
    if recipe.version != version:
        raise Failure(f"the Conan recipe has version {recipe.version}, {version} expected")
    for call in (recipe.export_sources, recipe.requirements, recipe.validate, recipe.generate):
        call()
    for pattern, folder in (each for each in calls if isinstance(each, tuple)):
        if not list(pathlib.Path(folder).glob(pattern)):
            raise Failure(f"the Conan recipe exports {pattern}, which is not in {folder}")
    recipe.settings.os = "Windows"
    try:
        recipe.validate()
    except ValueError:
        return [f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"
                for name, value in recipe.variables.items()]
    raise Failure("the Conan recipe should refuse Windows")


def recipes(given, scratch, environment):
    version = (given.source / "meson.build").read_text(encoding="utf-8").split("version: '")[1].split("'")[0]
    shutil.rmtree(scratch, ignore_errors=True)
    features = check_port_description(given.source / "packaging" / "vcpkg" / "coroscope" / "vcpkg.json", version)
    run_port(given, scratch / "vcpkg", environment, features if given.tools else [])
    step(["cmake", "-G", "Ninja", "-S", given.source, "-B", scratch / "conan", *conan_options(given, version)], env=environment)
