"""The command line: files in, the public API, tables or JSON out. It decides nothing about a request."""

from transom.cli.app import app, main

__all__ = ["app", "main"]
