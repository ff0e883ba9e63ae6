# SPDX-License-Identifier: Apache-2.0
"""How functions and places of live_program are written, as regular expressions."""

NAMESPACE = r"(?:\(anonymous namespace\)::|\S*)"  # the first as clang has it
PLACE = r"\(\S*live_program\.cpp:\d+\)"
