#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check_prose.py: the words that it counts in comments, tests' names and documents, and its limits."""

import contextlib
import io
import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
import check_prose  # noqa: E402

LIMITS = check_prose.Limits


def counted(name, text):
    """(line, word) of each counted word of a file."""
    return [(number, word) for number, word in check_prose.words(name, text) if word in check_prose.COUNTED]


class Sources(unittest.TestCase):
    def counted(self, text):
        return counted("include/a.hpp", text)

    def test_the_words_of_all_kinds_of_comments_are_counted_with_their_lines(self):
        self.assertEqual(self.counted("// what\n/// Where it is.\nint a;  ///< who\n/* one\n * stands */\n"),
                         [(1, "what"), (2, "where"), (3, "who"), (5, "stands")])

    def test_code_and_its_literals_are_not_counted(self):
        self.assertEqual(self.counted('int what = 1\'000;  // a\nauto t = "// who";\nauto r = R"(// told)";\n'
                                      "char c = '\"';  // nobody\n"), [(4, "nobody")])

    def test_code_spans_and_quoted_words_are_not_counted_even_if_they_go_over_a_line(self):
        self.assertEqual(self.counted('// `where` and `what\n// who` and "told\n// stands" and somebody\n'),
                         [(3, "somebody")])

    def test_an_odd_quotation_mark_hides_nothing_behind_its_paragraph(self):
        self.assertEqual(self.counted('// 5" wide\n//\n// what\n// 7" high\n'), [(3, "what")])

    def test_examples_are_not_counted_and_the_second_line_of_a_list_item_is(self):
        self.assertEqual(self.counted("// text\n//\n//   what(who);\n//   told;\n//\n// - item\n//   where\n"),
                         [(7, "where")])

    def test_the_licence_line_has_no_words(self):
        text = "// SPDX-License-Identifier: Apache-2.0\n// one two\n"
        self.assertEqual([word for _, word in check_prose.words("lib/a.cpp", text)], ["one", "two"])

    def test_a_comment_line_is_measured_and_a_line_of_code_is_not(self):
        text = "// " + "a" * 98 + "\n// " + "a" * 97 + "\n" + "int a = 0;" * 11 + "\n"
        self.assertEqual(list(check_prose.long_comment_lines("lib/a.cpp", text, 100)), [1])


class TestNames(unittest.TestCase):
    def test_names_of_cpp_tests_are_counted_even_in_several_literals(self):
        text = ('TEST_SUITE("who") {\nTEST_CASE(\n    "told "\n    "and \\"what\\"") {\n    SUBCASE("stands") {}\n'
                '    CHECK(name == "nobody");\n}\n}\n')
        self.assertEqual(counted("tests/a.cpp", text), [(1, "who"), (2, "told"), (5, "stands")])

    def test_a_name_ends_no_comment_before_it(self):
        self.assertEqual(counted("tests/a.cpp", '// what\nTEST_CASE("who") {}\n// told\n'),
                         [(1, "what"), (3, "told"), (2, "who")])

    def test_names_of_python_tests_are_counted(self):
        text = "def test_what_is(self):\n    test_who()\n\n\ndef where():\n    pass\n"
        self.assertEqual(counted("tests/a.py", text), [(1, "what")])


class Python(unittest.TestCase):
    def test_comments_and_docstrings_are_counted_with_their_lines(self):
        text = ('#!/usr/bin/env what\n# SPDX-License-Identifier: what\n"""Who.\n\nWhere.\n"""\n\n\nclass a:\n'
                '    """What.\n\n    Who."""\n    b = 1  # told\n\n    def c():\n        # stands\n        """Nobody."""\n')
        self.assertEqual(counted("scripts/a.py", text), [
            (3, "who"), (5, "where"), (10, "what"), (12, "who"), (13, "told"), (16, "stands"), (17, "nobody")])

    def test_other_strings_and_code_are_not_counted(self):
        text = 'what = """who"""\nwhere("told",\n      """stands""")\nx = {\n    "nobody": 1,  # somebody\n}\n'
        self.assertEqual(counted("scripts/a.py", text), [(5, "somebody")])

    def test_an_indented_example_of_a_docstring_is_not_counted(self):
        text = 'def f():\n    """Text.\n\n        what\n\n    who\n    """\n'
        self.assertEqual(counted("scripts/a.py", text), [(6, "who")])


class Shell(unittest.TestCase):
    def test_comments_are_counted_with_their_lines(self):
        for name in ("scripts/a.sh", "dev", ".ci/run"):
            with self.subTest(name):
                self.assertEqual(counted(name, "#!/bin/sh\n# what\nls # who\nls;# told\n"),
                                 [(2, "what"), (3, "who"), (4, "told")])

    def test_strings_expansions_and_here_documents_are_not_counted(self):
        text = ("a='# what' b=\"\\\" # who\" c=${a#where} d=$# e=\\#\ncat <<'END'\n# told, isn't it\nEND\n"
                "cat <<-END\n\t# stands\n\tEND\n# nobody\n")
        self.assertEqual(counted("scripts/a.sh", text), [(8, "nobody")])


class Documents(unittest.TestCase):
    def test_text_is_counted_and_code_and_targets_of_links_are_not(self):
        text = "What\n\n```sh\nwho\n```\n\n    told\n\n[stands](where.md) <!-- nobody -->\n"
        self.assertEqual(counted("docs/a.md", text), [(1, "what"), (9, "stands")])

    def test_the_cells_of_a_table_are_counted(self):
        self.assertEqual(counted("docs/a.md", "| who | `what` |\n"), [(1, "who")])


class Report(unittest.TestCase):
    def run_report(self, texts, folders, listing=False):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            kept = check_prose.report(*check_prose.tally(texts.items(), folders), folders, listing)
        return kept, printed.getvalue().splitlines()

    def test_each_folder_has_a_line_and_the_limit_is_for_all_folders_of_an_entry(self):
        texts = {"lib/a/x.hpp": "// what one two three", "lib/b/y.hpp": "// one two three four five six"}
        kept, lines = self.run_report(texts, {"lib": LIMITS(at_most=100)})
        self.assertTrue(kept)
        self.assertEqual(lines, ["lib/a: 250.0 of at most 100, 0.0 duties, 4 words",
                                 "lib/b: 0.0 of at most 100, 0.0 duties, 6 words"])

    def test_an_entry_over_its_limit_fails_and_names_the_files_with_most_of_the_words(self):
        texts = {"lib/few.hpp": "// what one", "lib/most.hpp": "// who told\n// where"}
        kept, lines = self.run_report(texts, {"lib": LIMITS(at_most=799)})
        self.assertFalse(kept)
        self.assertRegex(lines[-1], r"^lib: 800\.0 of .* at most 799\..* lib/most\.hpp, lib/few\.hpp\)$")
        self.assertTrue(self.run_report(texts, {"lib": LIMITS(at_most=800)})[0])

    def test_an_entry_with_too_few_duties_fails(self):
        folders = {"include": LIMITS(at_most=5, duties=200)}
        self.assertTrue(self.run_report({"include/a.hpp": "// It must be one."}, folders)[0])
        kept, lines = self.run_report({"include/a.hpp": "// It may be one."}, folders)
        self.assertFalse(kept)
        self.assertRegex(lines[-1], r"^include: 0\.0 of must, should ")

    def test_a_long_comment_line_fails_only_in_an_entry_that_bounds_it(self):
        texts = {"lib/a.hpp": "//" + " a" * 50}
        self.assertTrue(self.run_report(texts, {"lib": LIMITS(at_most=5)})[0])
        kept, lines = self.run_report(texts, {"lib": LIMITS(at_most=5, columns=100)})
        self.assertFalse(kept)
        self.assertEqual(lines[-1], "lib/a.hpp:1: a comment line of more than 100 columns")

    def test_comments_of_python_and_of_shell_have_no_bound_of_columns(self):
        texts = {"lib/a.py": "#" + " a" * 60 + "\n", "lib/a.sh": "#" + " a" * 60 + "\n"}
        kept, lines = self.run_report(texts, {"lib": LIMITS(at_most=5, columns=100)})
        self.assertTrue(kept)
        self.assertEqual(lines, ["lib: 0.0 of at most 5, 0.0 duties, 120 words"])

    def test_files_of_other_kinds_are_not_read(self):
        self.assertEqual(self.run_report({"lib/meson.build": "# what\n"}, {"lib": LIMITS(at_most=5)}), (True, []))

    def test_a_file_counts_for_the_longest_entry_that_contains_it(self):
        folders = dict.fromkeys(("docs", "docs/decisions", "README.md"))
        self.assertEqual([check_prose.entry_of(name, folders)
                          for name in ("docs/a.md", "docs/decisions/1.md", "README.md", "docs_old/a.md")],
                         ["docs", "docs/decisions", "README.md", None])

    def test_the_listing_has_the_place_of_each_word(self):
        _, lines = self.run_report({"lib/a.hpp": "\n// what"}, {"lib": LIMITS(at_most=1000)}, listing=True)
        self.assertIn("lib/a.hpp:2: what", lines)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
