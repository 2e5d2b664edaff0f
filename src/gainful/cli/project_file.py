"""The file of a project's settings: `gainful.toml`, or `[tool.gainful]` of a `pyproject.toml`.

Commands alone read it. What Python returns, and what `gainful trec_eval` prints, never depend on the
folder in which they are called.
"""

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gainful as gf
from gainful.message_texts import shown

NAME = "gainful.toml"
PYPROJECT = "pyproject.toml"
_PLACE = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)")


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of settings, read but not yet checked.

    Attributes:
        path: as it is shown, from the current directory.
        table: what it holds.
        content: its bytes, as they were read.
        within: whether the table is part of a `pyproject.toml`.
        is_named: whether the command line names it.
        trusted_now: whether the command line trusts it for this call.
    """

    path: str
    table: dict[str, Any]
    content: bytes = field(default=b"", repr=False)
    within: bool = False
    is_named: bool = False
    trusted_now: bool = False

    def __str__(self) -> str:
        return f"{self.path} [tool.gainful]" if self.within else self.path

    @property
    def name(self) -> str:
        """What it is called, wherever it is."""
        return f"{PYPROJECT} [tool.gainful]" if self.within else Path(self.path).name

    def resolved(self, path: str) -> str:
        """Return a path as it is from the current directory; in the file, it is from its folder."""
        return path if path == "-" else os.path.join(os.path.dirname(self.path), path)  # noqa: PTH118, PTH120 - of any text

    @property
    def is_trusted(self) -> bool:
        """Whether it may run code and send keys."""
        from gainful.cli.project_trust import is_trusted  # of use only where there is a file

        return self.trusted_now or is_trusted(self)

    @property
    def shadowed(self) -> str | None:
        """The `pyproject.toml` beside it that has a table, too, which is then not read."""
        if self.within:
            return None
        other = self.resolved(PYPROJECT)
        return other if _within(other) is not None else None


@dataclass(frozen=True, slots=True)
class ProjectFileChoice:
    """Which file the command line asks for.

    Attributes:
        path: of --config; None for the nearest.
        none: whether there is --no-config.
        trust: whether there is --trust.
    """

    path: str | None = None
    none: bool = False
    trust: bool = False

    def read(self, *, to_show: bool = False) -> ProjectFile | None:
        """Return the file, if there is one: that of --config, or the nearest.

        Args:
            to_show: whether it is only shown, and not used: then it may be anybody's.
        """
        if self.none:
            return None
        found = nearest_file() if self.path is None else read_file(self.path)
        if found is None:
            return None
        found = replace(found, is_named=self.path is not None, trusted_now=self.trust)
        if not to_show and not found.is_named:
            from gainful.cli.project_trust import (
                refuse_foreign,
            )  # of use only where there is a file

            refuse_foreign(found)
        return found


def nearest_file() -> ProjectFile | None:
    """Return the file of the current directory, or of the nearest one above that has one.

    Settings of several folders are never mixed. Nothing is looked for above the root of a repository, or above the
    home folder.
    """
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return None
    for height in range(len(here.parts)):
        above = [os.pardir] * height
        own, other = (os.path.join(*above, name) for name in (NAME, PYPROJECT))  # noqa: PTH118
        if os.path.isfile(own):  # noqa: PTH113 - what may not be looked at is not there
            return read_file(own)
        if (found := _within(other)) is not None:
            return found
        if _is_boundary(os.path.join(*above, os.curdir)):  # noqa: PTH118
            return None
    return None


def _is_boundary(folder: str) -> bool:
    """Return whether a folder is the root of a repository, or the home folder."""
    if os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
        return True
    home = os.path.expanduser("~")  # noqa: PTH111 - which fails where there is none
    try:
        return os.path.samefile(folder, home)  # noqa: PTH121
    except OSError:
        return False


def read_file(path: str) -> ProjectFile:
    """Return a file that is named, or found by its name."""
    if Path(path).name != PYPROJECT:
        content = _bytes(path)
        return ProjectFile(path, _parsed(path, content), content)
    _bytes(path)  # says why it cannot be read
    found = _within(path)
    if found is None:
        raise gf.errors.InputError(
            path, "a table [tool.gainful]", "none", f"Write it, or a {NAME}."
        )
    return found


def _within(path: str) -> ProjectFile | None:
    """Return the table of a `pyproject.toml`, if it is there and has one."""
    if not os.path.isfile(path):  # noqa: PTH113
        return None
    try:
        content = _bytes(path)
    except gf.errors.InputError:
        return None  # of another tool, as far as one can see
    if b"gainful" not in content:
        return None  # and need not even be TOML
    tools = _parsed(path, content).get("tool")
    if not isinstance(tools, dict) or "gainful" not in tools:
        return None
    if not isinstance(tools["gainful"], dict):
        found = shown(tools["gainful"])
        raise gf.errors.InputError(f"{path}, tool.gainful", "a table [tool.gainful]", found)
    return ProjectFile(path, tools["gainful"], content, within=True)


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as problem:
        found = getattr(problem, "strerror", None) or str(problem)
        raise gf.errors.InputError(path, "a file of settings", found) from None


def _parsed(path: str, content: bytes) -> dict[str, Any]:
    import tomllib  # of use only where there is a file

    try:
        text = content.decode("utf-8-sig")
        return tomllib.loads(text)
    except UnicodeDecodeError:
        raise gf.errors.InputError(path, "UTF-8 text", "bytes that are none") from None
    except RecursionError:
        raise gf.errors.InputError(path, "TOML", "lists in lists without end") from None
    except ValueError as problem:
        raise _broken(path, text, str(problem)) from None


def _broken(path: str, text: str, said: str) -> gf.errors.InputError:
    """Return the error about a text that is no TOML, with its line if that is known."""
    place = _PLACE.fullmatch(said)
    if place is None:
        return gf.errors.InputError(path, "TOML", "another text", f"{said}.")
    lines = text.rstrip().split("\n")
    number = int(place["line"] or len(lines))
    remedy = f"{place['what']}."
    if "Invalid value" in remedy:
        remedy += ' Texts stand in quotes: measures = "nDCG@10".'
    return gf.errors.InputError(
        f"{path}:{number}", "TOML", shown(lines[number - 1].strip()), remedy
    )
