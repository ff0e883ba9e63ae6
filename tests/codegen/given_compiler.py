# SPDX-License-Identifier: Apache-2.0
"""The compiler that a test of this folder is given as its first argument."""

import argparse
import shutil
import sys

SKIPPED = 77  # what Meson takes for a test that skipped itself


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


def parse(documentation, **others):
    """The arguments, `others` among them by name and what they are for. Ends the test where there is no such compiler."""
    arguments = argparse.ArgumentParser(description=documentation.splitlines()[0])
    arguments.add_argument("compiler")
    for name, purpose in others.items():
        arguments.add_argument(name, help=purpose)
    given = arguments.parse_args()
    if not shutil.which(given.compiler):
        skip(f"no {given.compiler} here")
    return given
