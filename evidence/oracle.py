"""The independent reader of request bodies that stands beside the data: `tools/wire_oracle.py`, two folders up."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType


@functools.cache
def load(folder: Path) -> ModuleType:
    """The oracle that belongs to a folder of data. Raises FileNotFoundError, with the path, where there is none."""
    path = folder.resolve().parent.parent / "tools" / "wire_oracle.py"
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing; the checks on the wire are its second opinion")
    spec = importlib.util.spec_from_file_location("wire_oracle", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the data's folder stays as it is
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module
