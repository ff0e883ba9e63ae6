# SPDX-License-Identifier: Apache-2.0
"""The Conan 2 recipe of the tree in which it lies: `conan create packaging/conan`."""

import pathlib
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

FOLDERS = ("cmake", "include", "lib", "tools", "scripts", "subprojects")
FILES = ("CMakeLists.txt", "LICENSE", "meson.build")
OF_THE_ANALYSIS = ("fmt/9.1.0", "protozero/1.7.1", "simdjson/3.2.0", "sqlite3/3.44.2", "zlib/1.3.1", "zstd/1.5.5")


class CoroscopeRecipe(ConanFile):
    name = "coroscope"
    license = "Apache-2.0"
    description = "Profiler for C++20 coroutines and tasks"
    topics = ("profiler", "coroutines", "asio")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], "analysis": [True, False], "tools": [True, False]}
    default_options = {"shared": True, "fPIC": True, "analysis": False, "tools": False}

    def _root(self):
        return pathlib.Path(self.recipe_folder).parents[1]

    def set_version(self):
        text = (self._root() / "meson.build").read_text(encoding="utf-8")
        self.version = re.search(r"^  version: '([0-9.]+)'", text, re.MULTILINE)[1]

    def export_sources(self):
        for name in FILES:
            copy(self, name, src=str(self._root()), dst=self.export_sources_folder)
        for name in FOLDERS:
            copy(self, f"{name}/*", src=str(self._root()), dst=self.export_sources_folder)

    def _reads_traces(self):
        return bool(self.options.analysis or self.options.tools)

    def requirements(self):
        for each in ("xxhash/0.8.2", "concurrentqueue/1.0.4"):
            self.requires(each)
        if self._reads_traces():
            for each in OF_THE_ANALYSIS:
                self.requires(each)
        if self.options.tools:
            self.requires("cli11/2.3.2")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Coroscope runs on Linux only")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["COROSCOPE_ANALYSIS"] = self._reads_traces()
        toolchain.cache_variables["COROSCOPE_TOOLS"] = bool(self.options.tools)
        toolchain.cache_variables["COROSCOPE_MEMORY_HOOK"] = True
        toolchain.cache_variables["COROSCOPE_SYMBOLS"] = False
        toolchain.cache_variables["COROSCOPE_INSTALL"] = True
        toolchain.cache_variables["COROSCOPE_CMAKE_FOLDER"] = "lib/cmake/coroscope"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=str(pathlib.Path(self.package_folder) / "licenses"))
        CMake(self).install()

    def package_info(self):
        # Coroscope's own package for CMake has the targets.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append("lib/cmake/coroscope")
        self.cpp_info.libs = ["coroscope"]
