#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/check_definitions.py with headers and sources of a few lines."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))

import check_definitions  # noqa: E402


def in_namespace(text):
    return f"namespace coroscope::runtime::inline base {{\n{text}\n}}  // namespace\n"


def in_anonymous_namespace(text):
    return in_namespace(f"namespace {{\n{text}\n}}  // namespace\n")


class Definitions(unittest.TestCase):
    def scattered(self, header, **sources):
        """The problems of clock.hpp, beside sources given by their stems."""
        texts = {"lib/base/clock.hpp": in_namespace(header)}
        texts.update({f"lib/base/{stem}.cpp": text for stem, text in sources.items()})
        return list(check_definitions.problems(texts))

    def test_a_function_may_be_defined_in_the_source_of_its_header(self):
        self.assertEqual(self.scattered("int now() noexcept;", clock=in_namespace("int now() noexcept { return 1; }")), [])

    def test_a_function_may_be_defined_in_another_part_of_the_source(self):
        self.assertEqual(
            self.scattered("int now() noexcept;", clock_slow=in_namespace("int now() noexcept { return 1; }")), [])

    def test_a_function_that_is_defined_elsewhere_is_reported_with_both_places(self):
        self.assertEqual(
            self.scattered("\nint now() noexcept;", gate=in_namespace("int now() noexcept { return 1; }")),
            ["lib/base/clock.hpp:3: now() is defined in lib/base/gate.cpp; define it in clock.cpp, or declare it in gate.hpp"])

    def test_a_member_function_is_checked_like_a_free_one(self):
        found = self.scattered("class clock {\npublic:\n    int now() const noexcept;\n\nprivate:\n    int at_ = 0;\n};",
                               gate=in_namespace("int clock::now() const noexcept { return at_; }"))
        self.assertEqual(len(found), 1)
        self.assertIn("clock::now() is defined in lib/base/gate.cpp", found[0])

    def test_a_definition_that_names_its_namespace_is_found(self):
        found = self.scattered("int now() noexcept;",
                               gate="namespace coroscope::runtime {\nint base::now() noexcept { return 1; }\n}  // namespace\n")
        self.assertEqual(len(found), 1)
        self.assertIn("now() is defined in lib/base/gate.cpp", found[0])

    def test_a_function_of_an_anonymous_namespace_is_another_one(self):
        self.assertEqual(
            self.scattered("int now() noexcept;", gate=in_anonymous_namespace("int now() noexcept { return 1; }")), [])

    def test_a_function_with_other_parameters_is_another_one(self):
        self.assertEqual(self.scattered("int now(int zone, int year) noexcept;",
                                        gate=in_namespace("int now(int zone) noexcept { return zone; }")), [])

    def test_a_comment_or_a_text_is_no_declaration(self):
        self.assertEqual(self.scattered('// int now();\ninline constexpr const char* text = "int now();";',
                                        gate=in_namespace("int now() { return 1; }")), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
