"""Where sessions are kept: messages as they were appended, payloads once, one state each.

The rule: what `append` returned from is there after a crash, and what is read back is byte for byte what was appended. Every key
begins with the tenant, and a shelf is bound to one.
"""

from transom.store.database import Database
from transom.store.log import StoredLog
from transom.store.rows import Head, Row
from transom.store.shelf import Shelf, Summary, is_whole

__all__ = ["Database", "Head", "Row", "Shelf", "StoredLog", "Summary", "is_whole"]
