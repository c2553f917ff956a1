"""What the core's values are made of: frozen, compared by their fields, cheap to define and to make, and silent about content.

They are msgspec's structures and not dataclasses: defining one compiles no source, which was nearly half of the time of importing
transom, and making one does not go through `object.__setattr__` for each field. `msgspec.structs.replace` varies them, and
`copy.replace` from Python 3.13 on.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class Frozen(Struct, frozen=True):
    """A frozen value. The fields named in `unshown` hold content, or much of it, and are left out of its `repr`."""

    unshown: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        """As a dataclass shows itself, without what is unshown."""
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in self.unshown)
        return f"{type(self).__name__}({', '.join(shown)})"
