# SPDX-License-Identifier: Apache-2.0
"""The project's files, for the scripts that check them."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def _from_git():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in os.fsdecode(listed.stdout).split("\0") if name]


def _from_disk():
    """The files if git can't answer, as in a source archive: all except the results of builds."""
    for folder, subfolders, names in os.walk(ROOT):
        at_root = pathlib.Path(folder) == ROOT
        subfolders[:] = [name for name in subfolders
                         if name not in {".git", "__pycache__", ".cache"}
                         and not (at_root and name.startswith("build"))
                         and not (folder == str(ROOT / "subprojects") and name != "packagefiles")]
        yield from (pathlib.Path(folder, name) for name in names)


def files():
    """Every file of the project, sorted. New files are included before they are committed."""
    try:
        found = _from_git()
    except (OSError, subprocess.CalledProcessError):
        found = list(_from_disk())
    return sorted(path for path in found if path.is_file() and not path.is_symlink())
