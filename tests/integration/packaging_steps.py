# SPDX-License-Identifier: Apache-2.0
"""Steps of the packaging tests: projects as users write them, builds, and programs that record."""

import pathlib
import re
import shlex
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
FRESH = ["--wrap-mode=nodownload", "-Doptimization=0", "-Ddebug=false"]


class Failure(Exception):
    """A step failed; the message has its output."""


def step(command, **how):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(map(str, command))}: exit status {done.returncode}\n"
                      f"{done.stdout}")
    return done.stdout


def write_anew(path, text):
    """Writes the file only if its text differs, so that builds from it stay up to date otherwise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def shown(document, language, words):
    """The only block of a document that has these words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    found = [block for block in blocks if words in block]
    if len(found) != 1:
        raise Failure(f"{document.name} shows {len(found)} blocks of {language} with '{words}', 1 expected")
    return found[0]


def install_page(given):
    return given.source / "docs" / "start" / "install.md"


def documented_project(given, folder):
    """The project that the documents show to a user."""
    write_anew(folder / "main.cpp", shown(given.source / "README.md", "cpp", "int main()"))
    write_anew(folder / "meson.build", shown(install_page(given), "meson", "project("))
    write_anew(folder / "CMakeLists.txt", shown(install_page(given), "cmake", "project("))
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


def move_pkg_config(root, environment):
    """Lets pkg-config find what is installed below the root: its files get the root's name before their prefix."""
    found = list(root.rglob("pkgconfig/coroscope.pc"))
    if len(found) != 1:
        raise Failure(f"{len(found)} coroscope.pc installed, 1 expected")
    for each in found[0].parent.glob("*.pc"):
        text = each.read_text(encoding="utf-8")
        if "libcudart" in text:
            raise Failure(f"{each.name} links CUDA, which is opened at run time")
        each.write_text(re.sub("^prefix=", f"prefix={root}", text, flags=re.MULTILINE), encoding="utf-8")
    environment["PKG_CONFIG_PATH"] = str(found[0].parent)


def install(given, scratch, environment):
    """Installs into a prefix that the loader does not search, and returns its root."""
    root = scratch / "root"
    shutil.rmtree(root, ignore_errors=True)
    step(["meson", "install", "--quiet", "--no-rebuild", "--skip-subprojects",
          "-C", given.build, "--destdir", root])
    move_pkg_config(root, environment)
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


def check_recorded(folder, environment, shared=None):
    """Runs the documents' program and returns its trace. If `shared` is a boolean, the program must be linked in that
    way."""
    trace = folder / "trace.cst"
    trace.unlink(missing_ok=True)
    if shared is not None and ("libcoroscope.so.0" in step(["readelf", "-d", folder / "service"])) != shared:
        raise Failure(f"{folder / 'service'} should {'' if shared else 'not '}need libcoroscope.so.0")
    step([folder / "service"], env=environment, cwd=folder)
    if not trace.exists():
        raise Failure("the documents' program left no trace")
    return trace
