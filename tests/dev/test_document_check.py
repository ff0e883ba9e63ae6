#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/documents.py, check_documents.py and decisions.py."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests" / "documents")]

import check_documents  # noqa: E402
import check_snippets  # noqa: E402
import decisions  # noqa: E402
import documents  # noqa: E402


class Snippets(unittest.TestCase):
    def check(self, code):
        with tempfile.TemporaryDirectory() as folder:
            return check_snippets.Checker(ROOT, pathlib.Path(folder), ["c++"]).check(code, "snippet.cpp")

    def test_a_snippet_that_compiles_has_no_fault(self):
        self.assertIsNone(self.check("#include <vector>\n"))

    def test_a_snippet_is_left_out_if_the_cuda_toolkit_is_missing(self):
        self.assertEqual(self.check("#include <cuda_missing.h>\n"), (True, "there is no CUDA toolkit"))

    def test_a_snippet_whose_header_is_missing_does_not_compile(self):
        is_left_out, errors = self.check("#include <boost/missing.hpp>\n")
        self.assertFalse(is_left_out)
        self.assertIn("boost/missing.hpp", errors)


class Headings(unittest.TestCase):
    def test_an_anchor_is_the_heading_in_lower_case_without_punctuation(self):
        for heading, anchor in (("Wakes under Asio", "wakes-under-asio"), ("`why`, `check` and more", "why-check-and-more"),
                                ("A [link](a.md#b)", "a-link"), ("scope_a.b", "scope_ab"), ("N + 1", "n--1")):
            self.assertEqual(documents.anchor_of(heading), anchor)

    def test_a_repeated_heading_has_a_number(self):
        self.assertEqual([anchor for _, _, anchor in documents.headings("# A\n\n## B\n\n## B\n")], ["a", "b", "b-1"])

    def test_a_comment_in_a_block_of_code_is_no_heading(self):
        self.assertEqual(list(documents.headings("```sh\n# no heading\n```\n")), [])


class Links(unittest.TestCase):
    def targets(self, text):
        return [target for _, target in documents.links(text)]

    def test_links_in_code_are_text(self):
        self.assertEqual(self.targets("`[a](b.md)`\n\n```\n[c](d.md)\n```\n[](auto) [e](f.md)"), ["auto", "f.md"])

    def test_a_link_may_go_over_two_lines_and_may_contain_a_picture(self):
        self.assertEqual(list(documents.links("x\n[a\nb](c.md)")), [(2, "c.md")])
        self.assertEqual(self.targets("[![p](p.png)](q.md)"), ["q.md", "p.png"])

    def test_a_missing_page_and_a_missing_heading_are_found_with_their_lines(self):
        page = pathlib.Path("docs/a.md")
        text = "# A\n[no](missing.md)\n[no](#b) [yes](#a) [out](https://example.org/x#y)\n"
        self.assertEqual(list(check_documents.broken_links(page, text, {page: text})),
                         ["docs/a.md:2: missing.md does not exist", "docs/a.md:3: docs/a.md has no heading #b"])

    def test_a_page_without_a_way_from_the_readme_is_found(self):
        texts = {pathlib.Path(name): text for name, text in
                 (("README.md", "[a](docs/a.md)"), ("docs/a.md", "[b](b.md)"), ("docs/b.md", ""), ("docs/c.md", "[a](a.md)"))}
        self.assertEqual([fault.split(":")[0] for fault in check_documents.unreachable(texts)], ["docs/c.md"])


class Decisions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        patched = mock.patch.object(decisions, "FOLDER", self.folder)
        patched.start()
        self.addCleanup(patched.stop)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def test_the_index_has_the_status_and_the_links_in_both_directions(self):
        self.write("0001-a.md", "# 1. First\n\nStatus: replaced by [2](0002-b.md), 2026-01-02.\n")
        self.write("0002-b.md", "# 2. Second\n\nStatus: accepted, 2026-02-03.\n")
        found = decisions.read()
        self.assertEqual(decisions.faults_of(found), [])
        rows = [line for line in decisions.index_of(found).splitlines() if line.startswith(("| 1", "| 2"))]
        self.assertEqual(rows, ["| 1 | [First](0001-a.md) | replaced by [2](0002-b.md) | 2026-01-02 | [2](0002-b.md) |",
                                "| 2 | [Second](0002-b.md) | accepted | 2026-02-03 | [1](0001-a.md) |"])

    def test_a_decision_without_status_a_wrong_title_and_a_number_twice_are_faults(self):
        self.write("0001-a.md", "# 2. A\n\nStatus: accepted, 2026-01-02.\n")
        self.write("0001-b.md", "# 1. B\n")
        self.write("other.md", "")
        faults = "\n".join(decisions.faults_of(decisions.read()))
        for expected in ('0001-a.md: the title must be "# 1. …"', "0001-b.md: a line", "1 is the number of several",
                         "other.md: the name must be"):
            self.assertIn(expected, faults)


if __name__ == "__main__":
    unittest.main()
