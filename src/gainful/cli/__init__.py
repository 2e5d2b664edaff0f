"""The command line: parse, call the public package, print, exit code."""

from gainful.cli.main import main

__all__ = ["main"]
