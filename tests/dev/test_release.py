#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of ./dev release, in a small repository of the files that name the version."""

import hashlib
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
NAMING = ("meson.build", "CHANGELOG.md", "docs/start/install.md", "packaging/vcpkg/coroscope/vcpkg.json")
FILES = (*NAMING, "scripts/release.py", "scripts/tree.py", "dev")


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="coroscope-release-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name) / "tree"
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)
        (self.root / ".gitignore").write_text("/build/\n__pycache__/\n", encoding="utf-8")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", *arguments],
                       cwd=self.root, check=True, capture_output=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a commit")

    def release(self, *arguments):
        return subprocess.run([sys.executable, self.root / "scripts" / "release.py", *arguments], cwd=self.root,
                              capture_output=True, text=True, check=False)

    def prepare(self, version="7.8.9", date="2031-02-03"):
        done = self.release("--prepare", version, date)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def refused(self, words, *arguments):
        done = self.release(*arguments)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn(words, done.stderr)

    def test_prepare_writes_the_version_into_every_file_that_names_it_and_dates_the_changes(self):
        self.prepare()
        self.assertIn("\n  version: '7.8.9',\n", self.read("meson.build"))
        self.assertIn('"version": "7.8.9"', self.read(NAMING[3]))
        page = self.read(NAMING[2])
        for words in ("find_package(coroscope 7.8 CONFIG", "coroscope-7.8.9.tar.xz", "libcoroscope.so.7.8.9 ",
                      "libcoroscope-interpose.so.7.8.9`"):
            self.assertIn(words, page)
        self.assertIn("\n## Unreleased\n\n## 7.8.9 (2031-02-03)\n\n", self.read("CHANGELOG.md"))

    def test_prepare_refuses_what_is_no_version_or_no_date_and_changes_nothing(self):
        for version, date in (("7.8", "2031-02-03"), ("7.8.9", "3 February")):
            self.refused("give a version as 0.2.0 and a date as 2026-01-31", "--prepare", version, date)
        self.assertEqual(self.read("meson.build"), (ROOT / "meson.build").read_text(encoding="utf-8"))

    def test_a_release_needs_a_dated_part_and_committed_files(self):
        self.prepare()
        self.refused("the folder has uncommitted changes; commit them")
        self.commit()
        (self.root / "meson.build").write_text(self.read("meson.build").replace("7.8.9", "7.9.0"), encoding="utf-8")
        self.commit()
        self.refused("CHANGELOG.md has no dated part for 7.9.0; run ./dev release --prepare VERSION DATE")

    def test_a_release_is_an_archive_of_the_files_with_checksums_a_wrap_and_notes(self):
        self.prepare()
        self.commit()
        sums = []
        for name in "one", "two":
            done = self.release("--output", str(self.root.parent / name))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            made = self.root.parent / name
            archive = made / "coroscope-7.8.9.tar.xz"
            sums.append(hashlib.sha256(archive.read_bytes()).hexdigest())
        self.assertEqual(*sums)
        with tarfile.open(archive) as packed:
            self.assertEqual({each.name for each in packed},
                             {f"coroscope-7.8.9/{name}" for name in (*FILES, ".gitignore")})
            self.assertTrue(packed.getmember("coroscope-7.8.9/dev").mode & 0o111)
        for kind in "sha256", "sha512":
            for line in (made / f"{kind.upper()}SUMS").read_text(encoding="utf-8").splitlines():
                digest, name = line.split("  ")
                self.assertEqual(hashlib.new(kind, (made / name).read_bytes()).hexdigest(), digest)
        self.assertIn(f"source_hash = {sums[0]}\n", (made / "coroscope.wrap").read_text(encoding="utf-8"))
        notes = (made / "coroscope-7.8.9.md").read_text(encoding="utf-8")
        changes = self.read("CHANGELOG.md").split("## 7.8.9 (2031-02-03)")[1].strip()
        for words in (sums[0], changes.split("\n## ")[0].strip()):
            self.assertIn(words, notes)

    def test_an_archive_of_uncommitted_files_has_the_new_ones(self):
        (self.root / "new.txt").write_text("new", encoding="utf-8")
        self.assertEqual(self.release("--uncommitted").returncode, 0)
        archive, = (self.root / "build" / "archive").glob("*.tar.xz")
        with tarfile.open(archive) as packed:
            self.assertIn("new.txt", {pathlib.Path(each.name).name for each in packed})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
