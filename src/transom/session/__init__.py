"""Sessions: a conversation that is kept, and the request that it makes next.

The rule: what is appended is stored before anything is decided about it; a state is committed after the last stage that can
refuse.
"""

from transom.session.session import Recorded, Session, Step
from transom.session.store import Store

__all__ = ["Recorded", "Session", "Step", "Store"]
