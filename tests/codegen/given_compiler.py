# SPDX-License-Identifier: Apache-2.0
"""The compiler that a test of this folder gets as its first argument."""

import argparse
import shutil
import sys

SKIPPED = 77  # Meson's status of a test that skipped itself


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIPPED)


def parse(documentation, **others):
    """Parses the arguments. `others` has further arguments by name, with their purposes. Skips the test if there is no
    such compiler."""
    arguments = argparse.ArgumentParser(description=documentation.splitlines()[0])
    arguments.add_argument("compiler")
    for name, purpose in others.items():
        arguments.add_argument(name, help=purpose)
    given = arguments.parse_args()
    if not shutil.which(given.compiler):
        skip(f"no {given.compiler} here")
    return given
