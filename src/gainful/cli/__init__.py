"""The command line: parse, call the public package, print, exit code."""
