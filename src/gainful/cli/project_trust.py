"""Whether a project's file is trusted: its settings by its owner, and what runs code by its content.

A file may come from anybody: from a repository that was cloned, a pull request, an archive, or a folder that
others write to. Settings of one's own files are taken as they are. What runs code, calls a service or sends keys
is taken only from a file whose content somebody has trusted, as `direnv` does it.
"""

import hashlib
import os
import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gainful as gf
from gainful.message_texts import shown

if TYPE_CHECKING:
    from gainful.cli.project_file import ProjectFile

ACTING = (
    "define", "run.call", "run.command", "run.embed", "run.headers", "run.key_variable", "run.template", "run.url",
)  # fmt: skip
"""The settings that import code, call something, or send what the environment holds."""
VARIABLE = "GAINFUL_TRUST"
_VARIABLE_NAME = re.compile("[A-Z_][A-Z0-9_]{0,60}")
_ROOT = 0
_FIRST_LINE = (
    "# The project files whose code gainful may run: a hash of place and content, and the place.\n"
)


def refuse_foreign(file: "ProjectFile") -> None:
    """Refuse a file that was found, and not named, and that belongs to somebody else."""
    owners = foreign_owners(file.path)
    if owners and not file.is_trusted:
        raise gf.errors.InputError(
            str(file),
            "a project file that belongs to you, in a folder that does",
            " and ".join(owners),
            "Read it with `gainful config`. `gainful config --trust` takes it from then on, `gainful --config FILE …` "
            "for one call, and `gainful --no-config …` goes without it.",
        )


def foreign_owners(path: str) -> list[str]:
    """Say what of a file and its folder belongs neither to this user nor to root; for root, nor to who called sudo."""
    if not hasattr(os, "geteuid"):  # Windows
        return []
    user = os.geteuid()
    own = {user, _ROOT}
    sudo = os.environ.get("SUDO_UID", "")
    if user == _ROOT and sudo.isascii() and sudo.isdecimal():
        own.add(int(sudo))
    places = {
        "a file": {os.lstat(path).st_uid, os.stat(path).st_uid},  # noqa: PTH116 - a link, and what it names
        "a folder": {os.stat(os.path.dirname(path) or ".").st_uid},  # noqa: PTH116, PTH120
    }
    return [
        f"{what} of user {min(owners - own)}" for what, owners in places.items() if owners - own
    ]


def refuse_untrusted(file: "ProjectFile", values: dict[str, Any], keys: Collection[str]) -> None:
    """Refuse to use some settings of a file where they run code or send keys, and it is not trusted."""
    acting = [key for key in ACTING if key in keys]
    if not acting or file.is_trusted:
        return
    what = (
        "one that has changed since you trusted it" if _is_known(file) else "one that you have not"
    )
    called = f"--config {file.path} " if file.is_named else ""
    raise gf.errors.InputError(
        str(file),
        "a file that you trust to run code and to call services",
        f"{what}: it sets {settings_of(values, acting)}",
        f"Read it, then trust its content: `gainful {called}config --trust`. `gainful {called}--trust …` trusts it for "
        "one call, and `gainful --no-config …` goes without it.",
    )


def settings_of(values: dict[str, Any], keys: Collection[str]) -> str:
    """Write some settings as a file has them, as far as they may be shown."""
    return ", ".join(f"{key} = {shown(public(key, values[key]))}" for key in keys)


def public(key: str, value: Any) -> Any:
    """Return what may be shown of a setting: not what may be a key in the place of its name."""
    if key == "run.headers":
        return [each if "${" in each else f"{each.partition(':')[0]}: …" for each in value]
    return "…" if key == "run.key_variable" and not _VARIABLE_NAME.fullmatch(value) else value


def is_trusted(file: "ProjectFile") -> bool:
    """Return whether the content of a file is trusted: by the environment, or since `gainful config --trust`."""
    return os.environ.get(VARIABLE) == "1" or _digest(file) in _lines()


def remember(file: "ProjectFile") -> str:
    """Trust the content of a file from now on, and return where that is noted."""
    path, place = _store(), _place(file)
    lines = {digest: other for digest, other in _lines().items() if other != place}
    lines[_digest(file)] = place
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        found = problem.strerror or str(problem)
        raise gf.errors.InputError(str(path.parent), "a folder to write to", found) from None
    text = "".join(f"{digest}  {other}\n" for digest, other in lines.items())
    gf.writing.write_text(_FIRST_LINE + text, path)
    return str(path)


def _place(file: "ProjectFile") -> str:
    """Return where a file is, whatever it is called from; its modules are beside that name, not where a link leads."""
    folder, name = os.path.split(file.path)
    return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - of any text


def _digest(file: "ProjectFile") -> str:
    """Return the hash of a file's place and content: the same settings mean other modules in another folder."""
    return hashlib.sha256(os.fsencode(_place(file)) + b"\0" + file.content).hexdigest()


def _is_known(file: "ProjectFile") -> bool:
    return _place(file) in _lines().values()


def _store() -> Path:
    """Return the file of this user that has the hashes."""
    if os.name == "nt":
        state = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "gainful" / "trusted_project_files"


def _lines() -> dict[str, str]:
    """Return the places of trusted files, by their hashes."""
    try:
        text = _store().read_bytes().decode(errors="surrogateescape")
    except (OSError, RuntimeError):  # there is none, or no home
        return {}
    rows = [line.partition("  ") for line in text.splitlines() if not line.startswith("#")]
    return {digest: place for digest, _, place in rows}
