"""The window as one page of HTML that stands by itself: no script, no network, everything escaped."""

from transom.view.page import page

__all__ = ["page"]
