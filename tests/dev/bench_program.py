# SPDX-License-Identifier: Apache-2.0
"""bench/run and its modules, for their tests. The first argument is the source tree."""

import importlib.machinery
import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "bench"))


def load(name):
    """Loads a Python program without a suffix."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "bench" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


run = load("run")
