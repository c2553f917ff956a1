"""The programs that stand beside the data, in `tools/` two folders up: second opinions that share no code with transom."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType


@functools.cache
def load(folder: Path, name: str) -> ModuleType:
    """The program `name` that belongs to a folder of data. Raises FileNotFoundError, with the path, where there is none."""
    path = folder.resolve().parent.parent / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path) if path.exists() else None
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path} is missing; the checks of {folder.name} need its second opinion")
    module = importlib.util.module_from_spec(spec)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the data's folder stays as it is
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module
