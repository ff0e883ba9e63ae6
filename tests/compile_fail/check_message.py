#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A source whose offence is compiled is refused, with a message that names the alternative."""

import subprocess
import sys

SKIPPED = 77


def main():
    message, *command = sys.argv[1:]
    try:
        result = subprocess.run([*command, "-DOFFENCE"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        print(f"SKIP: no {command[0]} here")
        return SKIPPED
    if result.returncode == 0:
        print("The offence compiles.")
        return 1
    # Compilers quote a message of several literals in one piece.
    if message not in result.stderr:
        print(f"No message says: {message}\n{result.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
