# SPDX-License-Identifier: Apache-2.0
"""Rows of programs that were not built, or of parts that are not installed: they stay in the table and name their
needs."""

import functools

ASIO = "Boost.Asio with coroutines"
VALGRIND = "valgrind"


def not_measured(name, what):
    return {"name": name, "value": None, "unit": None, "floor": None, "ratio": None,
            "instructions": None, "note": f"not measured: needs {what}", "void": True}


def row(name, lacking, measure):
    """The name and how to measure it, if nothing is lacking."""
    return name, functools.partial(not_measured, name, lacking) if lacking else measure
