#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/profile_options.md has the options in the order of their declaration, which initializers must keep, and
all environment variables.

Arguments: the source tree."""

import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])


class OptionsPage(unittest.TestCase):
    def test_the_table_has_every_option_in_the_order_of_the_declaration(self):
        header = (SOURCE / "include/coroscope/profile.hpp").read_text()
        declaration = re.search(r"struct profile_options \{\n(.*?)\n\};", header, re.DOTALL).group(1)
        declared = re.findall(r"^    [\w:*() ]*?\b(\w+)\)?(?:\(\) noexcept)?(?: = [^;]+|\{\});", declaration, re.MULTILINE)
        page = (SOURCE / "docs/reference/profile_options.md").read_text()
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", page.split("\n## ")[0], re.MULTILINE)
        listed = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        self.assertEqual(listed, declared)

    def test_the_table_of_variables_has_each_variable_that_a_library_reads(self):
        read = {name for path in (SOURCE / "lib").glob("**/*.[ch]pp")
                for name in re.findall(r'"(COROSCOPE_[A-Z_]+)"', path.read_text(encoding="utf-8"))}
        read.discard("COROSCOPE_TRACE_OWNER")  # set by one process of a recording for the others
        page = (SOURCE / "docs/reference/profile_options.md").read_text(encoding="utf-8")
        rows = "".join(line for line in page.splitlines() if line.startswith("| `COROSCOPE_"))
        self.assertGreater(len(read), 20)
        self.assertLessEqual(read, set(re.findall(r"`(COROSCOPE_[A-Z_]+)=", rows)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
