"""The version, in the one place where it is written."""

VERSION = "0.2.0.dev0"
