"""A project's file, `gainful.toml` or `[tool.gainful]` of a `pyproject.toml`, and commands, whose options it may set.

Only commands read it: what Python returns, and what `gainful trec_eval` prints, never depends on the current folder.
Settings are options of commands, and the options say which values are permitted. What depends on the machine (memory,
cores, engine) or on one call (output, format) cannot be set.

A file may come from anybody: from a cloned repository, a pull request, an archive, or a folder that others can write to.
The settings of one's own files are used without asking. Settings that run code, call a service or send keys are used only
if somebody has trusted the content of the file, as with `direnv`.
"""

import functools
import math
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

import gainful as gf
from gainful.cli.main import tell, tell_former
from gainful.cli.option_table import (
    ACTING,
    CONFLICTS,
    SECRET,
    SECTIONS,
    GroupedCommand,
    InputFile,
    Options,
    options_of_group,
    write_paragraphs,
)
from gainful.message_texts import did_you_mean, shown

NAME = "gainful.toml"
PYPROJECT = "pyproject.toml"
EXAMPLE = """\
judgments = "judgments.qrels"
measures = ["nDCG@10", "AP"]

[columns]
query = "user"

[policy]
missing = "skip"

[gate]
fail_if = ["Δ nDCG@10 < -0.01", "nDCG@10 < 0.3"]"""
"""An example of a file, for messages and help."""
_COLUMNS = "columns"
_SIDES = ("judgments", "run")
_ORDERING = {"score", "rank"}
_PLACE = re.compile(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)")
_NEXT_PAIR = re.compile(r",\s*(?=[a-z]+(?:\.[a-z]+)?=)")  # as in query=user,doc=item
_ASKS = re.compile(  # addresses of tables that run a query or call a server
    r"sql:|[a-z0-9]+://.*(::|\.(parquet|csv|tsv|jsonl|ndjson))", re.IGNORECASE | re.DOTALL
)
_TRUST = "GAINFUL_TRUST"
_VARIABLE_NAME = re.compile("[A-Z_][A-Z0-9_]{0,60}")
_ROOT = 0  # the user
_FIRST_LINE = (
    "# The project files whose code gainful may run: a hash of place and content, and the place.\n"
)
# The subjects of errors, if their names differ from the settings.
_ERRORS = {
    "queries": "query_ids",
    "fail-if": "gate.fail_if",
    "fail-unless": "gate.fail_unless",
    "measure": "measures",
    "slices": "compare.by",
}


def current_project() -> "Project | None":
    """Return the settings of the project file, if the current command has one."""
    project = click.get_current_context().obj
    return project if isinstance(project, Project) else None


def is_typed(name: str) -> bool:
    """Return whether an option was set on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def is_set(name: str) -> bool:
    """Return whether the value of an option comes from the project file."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.DEFAULT_MAP


def set_aside(options: Options, names: Collection[str] | None = None) -> None:
    """Replace the project file's settings with the defaults, for options that have no meaning here.

    Args:
        options: the options of the command, which are changed.
        names: the names of the options to reset; all if None.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = str(option.name)
        if is_set(name) and (names is None or name in names):
            options[name] = default_of(option, context)
            context.set_parameter_source(name, ParameterSource.DEFAULT)


def default_of(option: click.Parameter, context: click.Context) -> Any:
    """Return the default value of an option."""
    value = option.to_info_dict()["default"]
    if option.multiple:
        value = tuple(value or ())
    return value if option.callback is None else option.callback(context, option, value)


def refuse_conflicts(tables: Iterable[str], options: Options) -> None:
    """Reject options that cannot be combined, by these tables of `CONFLICTS`.

    Settings of the project file are not rejected, but replaced with the defaults.
    """
    context = click.get_current_context()
    params = {str(param.name): param for param in context.command.params}
    used = [
        name
        for name, value in options.items()
        if value not in (None, (), "duckdb") and (value is not False or is_typed(name))
    ]

    def written(names: Iterable[str], word: str) -> str:
        return f" {word} ".join(
            "RUNs" if isinstance(params[name], click.Argument) else max(params[name].opts, key=len)
            for name in names
        )

    for conflict in (conflict for table in tables for conflict in CONFLICTS[table]):
        first = [name for name in conflict.options.split() if name in used and name in params]
        second = [name for name in conflict.others.split() if name in used]
        needed = conflict.needed.split()
        if not first or not (second or needed) or {*used} & {*needed}:
            continue
        typed, others = [*filter(is_typed, first)], [*filter(is_typed, second)]
        if needed and typed:
            problem = f"{written(typed[:1], '')} requires {written(needed, 'or')}"
        elif typed and others:
            problem = f"{written(typed, 'and')} cannot be combined with {written(others, 'and')}"
        else:
            set_aside(options, first if needed or others else second)
            continue
        raise click.UsageError(f"{problem}{conflict.more}.", context)


def use_definitions(places: Iterable[str], project: object) -> None:
    """Import user-defined measures, discounts and gains from modules in this folder or next to the project file."""
    if places:
        with own_modules(project):
            gf.measures.use(*places)


@contextmanager
def own_modules(project: object) -> Iterator[None]:
    """Allow imports from the current folder within the context, and from the project file's folder if it is trusted.

    Otherwise a module named on the command line could import others, such as `random`, from an untrusted folder.
    """
    folders = [str(Path.cwd())]
    file = getattr(project, "file", None)  # None for commands that read no project file
    if file is not None and file.is_trusted:
        folders.append(str(Path(file.resolved(".")).resolve()))
    before = list(sys.path)
    sys.path[:0] = folders
    try:
        yield
    finally:
        sys.path[:] = before


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of settings, read but not yet checked.

    Attributes:
        path: the path from the current directory, as messages show it.
        table: the settings.
        content: the bytes of the file.
        within: whether the table is part of a `pyproject.toml`.
        is_named: whether the command line names the file.
        trusted_now: whether the command line trusts the file for this call.
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
        """The name without its folder."""
        return f"{PYPROJECT} [tool.gainful]" if self.within else Path(self.path).name

    def resolved(self, path: str) -> str:
        """Return a path from the current directory; in the file, paths start at its folder. URLs stay."""
        if path == "-" or "://" in path or path.startswith("sql:"):
            return path
        return os.path.join(os.path.dirname(self.path), path)  # noqa: PTH118, PTH120 - of any text

    @property
    def shadowed(self) -> str | None:
        """The `pyproject.toml` in the same folder that also has a table, which is then not read."""
        other = self.resolved(PYPROJECT)
        return other if not self.within and _read_file(other) is not None else None

    @property
    def foreign_owners(self) -> list[str]:
        """The owners of the file and its folder, unless they are this user or root; under sudo, its caller is no stranger."""
        if not hasattr(os, "geteuid"):  # Windows
            return []
        user = os.geteuid()
        own = {user, _ROOT}
        sudo = os.environ.get("SUDO_UID", "")
        if user == _ROOT and sudo.isascii() and sudo.isdecimal():
            own.add(int(sudo))
        places = {
            "a file": {os.lstat(self.path).st_uid, os.stat(self.path).st_uid},  # noqa: PTH116 - a link and its target
            "a folder": {os.stat(os.path.dirname(self.path) or ".").st_uid},  # noqa: PTH116, PTH120
        }
        return [
            f"{what} of user {min(owners - own)}" for what, owners in places.items() if owners - own
        ]

    @property
    def is_trusted(self) -> bool:
        """Whether it may run code and send keys: for this call, by the environment, or since `gainful config --trust`."""
        return (
            self.trusted_now or os.environ.get(_TRUST) == "1" or self._digest in _trusted_places()
        )

    @property
    def was_trusted(self) -> bool:
        """Whether the file has been trusted with this or another content."""
        return self._place in _trusted_places().values()

    def trust(self) -> str:
        """Trust the content from now on, and return the file that records it."""
        path = _store()
        lines = {key: place for key, place in _trusted_places().items() if place != self._place}
        lines[self._digest] = self._place
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise gf.errors.InputError(str(path.parent), "a folder to write to", reason) from None
        text = "".join(f"{digest}  {place}\n" for digest, place in lines.items())
        gf.writing.write_text(_FIRST_LINE + text, path)
        return str(path)

    @property
    def _place(self) -> str:
        """The absolute path; a link keeps its name, because the modules are next to the link."""
        folder, name = os.path.split(self.path)
        return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118 - of any text

    @property
    def _digest(self) -> str:
        """The hash of place and content: in another folder, the same settings import other modules."""
        import hashlib

        return hashlib.sha256(os.fsencode(self._place) + b"\0" + self.content).hexdigest()


def _store() -> Path:
    """Return the user's file with the hashes of trusted files."""
    if os.name == "nt":
        state = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "gainful" / "trusted_project_files"


def _trusted_places() -> dict[str, str]:
    """Return the places of trusted files, by their hashes."""
    try:
        text = _store().read_bytes().decode(errors="surrogateescape")
    except (OSError, RuntimeError):  # there is no such file, or no home
        return {}
    rows = [line.partition("  ") for line in text.splitlines() if not line.startswith("#")]
    return {digest: place for digest, _, place in rows}


def read_project_file(group: click.Context | None, *, to_show: bool = False) -> ProjectFile | None:
    """Return the file of --config, or the nearest file, if there is one and --no-config is not set.

    Args:
        group: the context of the group of commands, with its options; None without one.
        to_show: whether the file is only shown, and not used; then it may belong to anybody.
    """
    chosen = {} if group is None else group.params
    if not chosen or chosen["no_config"]:
        return None
    path = chosen["config"]
    file = _nearest_file() if path is None else _read_file(path, is_named=True)
    if file is None:
        return None
    file = replace(file, is_named=path is not None, trusted_now=chosen["trust"])
    if to_show or file.is_named or not (owners := file.foreign_owners) or file.is_trusted:
        return file
    raise gf.errors.InputError(
        str(file),
        "a project file that belongs to you, in a folder that does",
        " and ".join(owners),
        "Read it with `gainful config`. `gainful config --trust` uses it from then on, `gainful --config FILE …` "
        "for one call, and `gainful --no-config …` ignores it.",
    )


def _nearest_file() -> ProjectFile | None:
    """Return the file of the current directory, or of the nearest one above.

    Settings of several folders are never mixed. The search ends at the root of a repository, and at the home folder.
    """
    try:
        here = Path.cwd()
    except OSError:  # it was removed
        return None
    for height in range(len(here.parts)):
        above = [os.pardir] * height
        for name in (NAME, PYPROJECT):
            path = os.path.join(*above, name)  # noqa: PTH118
            # An unreadable folder has no file.
            if os.path.isfile(path) and (file := _read_file(path)) is not None:  # noqa: PTH113
                return file
        if _is_boundary(os.path.join(*above, os.curdir)):  # noqa: PTH118
            return None
    return None


def _is_boundary(folder: str) -> bool:
    """Return whether a folder is the root of a repository, or the home folder."""
    if os.path.lexists(os.path.join(folder, ".git")):  # noqa: PTH118
        return True
    try:
        return os.path.samefile(folder, os.path.expanduser("~"))  # noqa: PTH111, PTH121
    except OSError:  # there is no home
        return False


def _read_file(path: str, *, is_named: bool = False) -> ProjectFile | None:
    """Return a file of settings; None for a `pyproject.toml` without any, unless it is named."""
    within = Path(path).name == PYPROJECT
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as problem:
        if within and not is_named:
            return None
        reason = getattr(problem, "strerror", None) or str(problem)
        raise gf.errors.InputError(path, "a file of settings", reason) from None
    if not within:
        return ProjectFile(path, _parsed(path, content), content)
    # Without the word, it need not even be TOML.
    tools = _parsed(path, content).get("tool") if b"gainful" in content else None
    if not isinstance(tools, dict) or "gainful" not in tools:
        if not is_named:
            return None
        remedy = f"Write it, or a {NAME}."
        raise gf.errors.InputError(path, "a table [tool.gainful]", "none", remedy)
    table = tools["gainful"]
    if not isinstance(table, dict):
        where = f"{path}, tool.gainful"
        raise gf.errors.InputError(where, "a table [tool.gainful]", shown(table))
    return ProjectFile(path, table, content, within=True)


def _parsed(path: str, content: bytes) -> dict[str, Any]:
    import tomllib  # most calls have no file

    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        place = _PLACE.fullmatch(str(problem))
        if place is None:
            raise gf.errors.InputError(path, "TOML", "another text", f"{problem}.") from None
        lines = content.decode("utf-8-sig").rstrip().split("\n")
        number = int(place["line"] or len(lines))
        remedy = f"{place['what']}."
        if "Invalid value" in remedy:
            remedy += ' Put texts in quotes: measures = "nDCG@10".'
        line = shown(lines[number - 1].strip())
        raise gf.errors.InputError(f"{path}:{number}", "TOML", line, remedy) from None


@dataclass(slots=True)
class Project:
    """The settings of a project, checked.

    Attributes:
        file: the file that contains the settings.
        values: by key, such as `measures` or `policy.missing`.
        used: keys of settings that were used, besides the values of options.
    """

    file: ProjectFile
    values: dict[str, Any]
    used: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        return str(self.file)

    @property
    def measures(self) -> list[str]:
        """The measures of the file, or the default."""
        return self.values.get("measures", ["nDCG@10"])  # type: ignore[no-any-return]

    @property
    def acting(self) -> list[str]:
        """The keys of settings that run code or SQL, call a service or send keys."""
        asking = {key for key, value in self.values.items() if _ASKS.match(str(value))}
        return sorted((ACTING & self.values.keys()) | asking)

    def refuse_untrusted(self, names: Collection[str]) -> None:
        """Refuse to use settings that run code or send keys, unless the file is trusted.

        Args:
            names: the names of options that have the values of the file.
        """
        keys = [key for key in self.acting if _name(key) in names]
        if not keys or self.file.is_trusted:
            return
        what = "one that has changed since you trusted it" if self.file.was_trusted else "one that you have not"  # fmt: skip
        called = f"--config {self.file.path} " if self.file.is_named else ""
        raise gf.errors.InputError(
            str(self),
            "a file that you trust to run code and to call services",
            f"{what}: it sets {self.written(keys)}",
            f"Read it, then trust its content: `gainful {called}config --trust`. `gainful {called}--trust …` trusts it for "
            "one call, and `gainful --no-config …` ignores it.",
        )

    def written(self, keys: Collection[str]) -> str:
        """Write some settings as in the file, as far as they may be shown."""
        return ", ".join(f"{key} = {shown(_public(key, self.values[key]))}" for key in keys)

    def use(self, key: str) -> Any:
        """Return a setting that is not an option of this command; None if it is not set."""
        if key in self.values:
            self.used.add(key)
        return self.values.get(key)

    def defaults_of(self, command: click.Command) -> dict[str, Any]:
        """Return the settings that apply to a command, by the names of its options."""
        names = {option.name for option in command.params if isinstance(option, click.Option)}
        defaults: dict[str, Any] = {}
        for key, value in self.values.items():
            section, _, name = key.rpartition(".")
            if section and command.name not in (
                SECTIONS[section].takers.split() or [str(command.name)]
            ):
                continue
            if key == "measures" and "measure" in names:
                defaults["measure"] = measures_in(value[0])[:1]
            elif key == _COLUMNS and name in names:
                defaults[name] = [f"{role}={column}" for role, column in value.items()]
            elif name in names:
                defaults[name] = value
        return defaults

    def merge_columns(self, typed: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of the command line, and the file's columns that the command line doesn't name."""
        roles = {column.partition("=")[0] for column in typed}
        if {_name(role) for role in roles} & _ORDERING:  # a run has one of them
            roles |= _ORDERING
        rest = [
            f"{role}={column}"
            for role, column in self.values.get(_COLUMNS, {}).items()
            if role not in roles and _name(role) not in roles
        ]
        if rest:
            self.used.add(_COLUMNS)
        return (*typed, *rest)

    def told(self, command: click.Command) -> str | None:
        """Return one line about the settings that were used, or None."""
        names = {str(option.name) for option in command.params if is_set(str(option.name))}
        words = []
        for key, value in self.values.items():
            name = _name(key)
            if key == "measures" and "measure" in names:
                words.append(f"measure={measures_in(value[0])[0]}")
            elif key in self.used or name in names:
                bare = isinstance(value, list | dict) or _is_file(key)
                text = f"{value:g}" if isinstance(value, float) else _public(key, value)
                words.append(name if bare else f"{name}={text}")
        return f"{self}: {', '.join(words)}" if words else None

    def located(
        self,
        problem: gf.errors.GainfulError,
        files: tuple[str, ...] = (),
        *,
        applies: Callable[[str], bool] = is_set,
    ) -> gf.errors.GainfulError:
        """Return an error with the file and the key, if it is about a setting.

        Args:
            problem: the error.
            files: the files on the command line, all of them runs if the file names the judgments.
            applies: whether an option has the value of the file.
        """
        if (key := self._key_of(problem, applies)) is not None:
            return problem.at(f"{self}, {key}")
        choice, where = problem.choice.partition("=")[0], problem.where
        if choice and applies(choice) and not problem.whose:
            return problem.of(f"set in {self}")
        columns = self.values.get(_COLUMNS, {}) if self._uses_columns(is_set) else {}
        roles = [role for role, name in columns.items() if name == problem.subject]
        named = [
            key
            for key, value in self.values.items()
            if _is_file(key) and is_set(_name(key)) and where.startswith(value)
        ]
        more = ""
        if is_set("judgments") and where.startswith(files):
            if problem.code == "input.swapped":
                more = (
                    f"{self} names the judgments, so every file here is a run. To use other judgments, pass --judgments FILE, "
                    "or use `gainful --no-config`."
                )
        elif roles and problem.code == "rows.no-such-column":
            more = f"{self} sets columns.{roles[0]}."
        elif named:
            more = f"{self} names it as {named[0]}."
        return problem.with_remedy(f"{problem.remedy} {more}".strip()) if more else problem

    def _uses_columns(self, applies: Callable[[str], bool]) -> bool:
        return applies(_COLUMNS) or _COLUMNS in self.used

    def _key_of(
        self, problem: gf.errors.GainfulError, applies: Callable[[str], bool]
    ) -> str | None:
        """Return the key of the setting that an error is about, if it is set."""
        word, _, role = problem.where.partition(", ")
        if word == _COLUMNS and self._uses_columns(applies):
            if not role:
                return _COLUMNS
            return f"{_COLUMNS}.{role}" if role in self.values[_COLUMNS] else None
        if word.startswith("policy "):
            word = word.removeprefix("policy ")
        elif isinstance(problem, gf.errors.MeasureError) and word != "dialect":
            word = "measure"
        wanted = _ERRORS.get(word, word)
        for key in self.values:
            if wanted in (key, _name(key)):
                name = _name(wanted)
                is_used = applies(name) or (wanted == "measures" and applies("measure"))
                return key if is_used else None
        return None


@functools.cache
def all_settings() -> dict[str, click.Option | None]:
    """Return every setting with its option, which is None for the table of columns."""
    settings: dict[str, click.Option | None] = {}
    for section, (groups, _) in SECTIONS.items():
        for group in groups.split():
            for name, option in options_of_group(group).items():
                settings[_key(section, name)] = option
        if not section:
            settings[_COLUMNS] = None
    return settings


def _key(section: str, name: str) -> str:
    return f"{section}.{name}" if section else name


def _name(key: str) -> str:
    """Return the name of the option that a setting sets."""
    return key.rpartition(".")[2]


def _is_file(key: str) -> bool:
    return isinstance(getattr(all_settings()[key], "type", None), InputFile)


def _public(key: str, value: Any) -> Any:
    """Return the part of a setting that may be shown, without anything that may be a key."""
    if key == "run.headers":
        return [text if "${" in text else f"{text.partition(':')[0]}: …" for text in value]
    return "…" if key == "run.key_variable" and not _VARIABLE_NAME.fullmatch(value) else value


def measures_in(text: str) -> list[str]:
    """Return the measures in a text, each with one cutoff.

    >>> measures_in("nDCG(gain=exp2, base=e)@5,10 AP")
    ['nDCG(gain=exp2, base=e)@5', 'nDCG(gain=exp2, base=e)@10', 'AP']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth == 0 and (character == "," or character.isspace()):
            parts.append("")
        else:
            parts[-1] += character
    measures: list[str] = []
    for part in filter(None, parts):
        is_cutoff = part.isdecimal() and measures
        measures.append(f"{measures[-1].rpartition('@')[0]}@{part}" if is_cutoff else part)
    return measures


def read_settings(file: ProjectFile) -> Project:
    """Check the content of a project file: the names of the settings, and their values."""
    values: dict[str, Any] = {}
    for name, value in _names(file, "", file.table):
        if name == _COLUMNS:
            values[_COLUMNS] = _columns(file, value)
        elif name and name in SECTIONS:
            if not isinstance(value, dict):
                where = f"{file}, {name}"
                raise gf.errors.InputError(where, f"a table [{name}]", shown(value))
            for inner, setting in _names(file, name, value):
                values[_key(name, inner)] = _value(file, name, inner, setting)
        else:
            values[name] = _value(file, "", name, value)
    _refuse_together(file, values)
    return Project(file, values)


def _names(
    file: ProjectFile, section: str, table: Mapping[str, Any]
) -> Iterator[tuple[str, object]]:
    """Yield the names of settings, which may contain - like options, and their values."""
    seen = set()
    for written, value in table.items():
        name = written.replace("-", "_")
        if name in seen:
            where = f"{file}, {_key(section, name)}"
            raise gf.errors.InputError(where, "each setting once", f"{shown(written)} again")
        seen.add(name)
        yield name, value


def _refuse_together(file: ProjectFile, values: dict[str, Any]) -> None:
    """Reject two settings that contradict each other."""
    if "chunks" in values and "chunk_map" in values:
        key, expected, found = "chunk_map", "chunks or chunk_map", "both"
    elif "dialect" in values and (choices := [key for key in values if key.startswith("policy.")]):
        key, expected = choices[0], "no policy next to a dialect, which has its own"
        found = f"dialect = {shown(values['dialect'])}"
    else:
        return
    raise gf.errors.InputError(f"{file}, {key}", expected, found, "Leave one of them out.")


def _columns(file: ProjectFile, table: object) -> dict[str, str]:
    """Return the names of columns by role; `judgments.query` may also be written as a table."""
    where = f"{file}, {_COLUMNS}"
    if not isinstance(table, dict):
        raise gf.errors.InputError(where, 'a table such as query = "user"', shown(table))
    columns: dict[str, object] = {}
    for role, name in table.items():
        if role in _SIDES and isinstance(name, dict):
            columns |= {f"{role}.{inner}": value for inner, value in name.items()}
        else:
            columns[role] = name
    for role, name in columns.items():
        if not (isinstance(name, str | int) and name) or isinstance(name, bool):
            expected = "the name of a column, or its number from 1"
            raise gf.errors.InputError(f"{where}.{role}", expected, shown(name))
    return {role: str(name) for role, name in columns.items()}


def _value(file: ProjectFile, section: str, name: str, value: object) -> Any:
    """Return the value of a setting for its option."""
    key, settings = _key(section, name), all_settings()
    where = f"{file}, {key}"
    if (option := settings.get(key)) is None:
        tables = [known.rpartition(".")[0] for known in settings if _name(known) == name]
        names = [_name(known) for known in settings if known.rpartition(".")[0] == section]
        hint = did_you_mean(name, names if section else [*names, *filter(None, SECTIONS)])
        if any(tables):
            listed = " or ".join(f"[{table}]" for table in filter(None, tables))
            hint = f"Write it in the table {listed}."
        raise gf.errors.InputError(where, "a setting", shown(name), hint)
    found = type(value).__name__ if key in SECRET else shown(value)
    if section == "policy":
        (choice,) = (choice for choice in gf.measures.choices() if choice.name == name)
        try:
            return choice.read(value)
        except gf.errors.GainfulError as problem:
            raise problem.at(where) from None
    if option.multiple:
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise gf.errors.InputError(where, "a string or a list of strings", found)
        if not texts and key == "measures":
            raise gf.errors.InputError(where, "at least one measure", "none")
        if key == "run.headers":
            _refuse_keys(where, texts)
        return texts
    if key == "run.url" and isinstance(value, str):
        from gainful.integrations.calling.environment_keys import refuse_key_in_address

        refuse_key_in_address(value, where)
    return _one(file, where, option.type, value, found)


def _refuse_keys(where: str, headers: list[str]) -> None:
    """Reject headers that contain a key itself: many people read a project file, and `config` shows it."""
    from gainful.integrations.calling.environment_keys import is_secret_header

    for header in headers:
        name, _, value = header.partition(":")
        if is_secret_header(name) and "${" not in value:
            hint = f"Write {name.strip()}: ${{NAME}}, and set the environment variable NAME."
            raise gf.errors.InputError(where, "a key from the environment", "the key itself", hint)


def _one(
    file: ProjectFile, where: str, kind: "click.ParamType[Any]", value: object, found: str
) -> Any:
    """Return a single value; an error shows `found` as the value."""
    if isinstance(kind, click.types.BoolParamType):
        if not isinstance(value, bool):
            raise gf.errors.InputError(where, "true or false", found)
        return value
    of_numbers = isinstance(kind, click.IntRange | click.FloatRange)
    wanted = int if isinstance(kind, click.IntRange) else int | float if of_numbers else str
    is_finite = not isinstance(value, float) or math.isfinite(value)
    if isinstance(value, wanted) and not isinstance(value, bool) and value != "" and is_finite:
        try:
            converted = kind.convert(value, None, None)
        except click.BadParameter:
            pass
        else:
            return file.resolved(converted) if isinstance(kind, InputFile) else converted
    hint = did_you_mean(value, kind.choices) if isinstance(kind, click.Choice) else ""
    raise gf.errors.InputError(where, _expected(kind), found, hint)


def _expected(kind: "click.ParamType[Any]") -> str:
    """Return a description of the expected value."""
    if isinstance(kind, click.Choice):
        return " or ".join(kind.choices)
    if isinstance(kind, InputFile):
        return "the path of a file, relative to the folder of this one"
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return "a string"
    noun = "a whole number" if isinstance(kind, click.IntRange) else "a number"
    low = f" {'above' if kind.min_open else 'from'} {kind.min:g}"  # every setting has a lower limit
    high = (
        "" if kind.max is None else f" and {'below' if kind.max_open else 'at most'} {kind.max:g}"
    )
    return f"{noun}{low}{high}"


_BEFORE = ("--config", "--no-config", "--traceback", "--trust")
_SAME = {
    "--metric": "--measure", "--metrics": "--measure", "--measures": "--measure",
    "--qrels": "--judgments", "--base": "--baseline", "--judged-only": "--unjudged",
}  # fmt: skip
"""Names of options in other tools, and gainful's names for them."""
_FORMER: dict[tuple[str | None, str], str] = {
    ("fuse", "--tune"): "--judgments",
    ("recommend", "--intervals"): "--interval",
}
"""The former names of a command's options, which work until the next release."""
_OF_MEASURES = ("-k", "--k", "--at", "--cutoff", "--gain", "--discount", "--rel")
_MEASURING = ("evaluate", "compare", "report", "explain", "why", "pool", "power", "leaderboard")


class ProjectCommand(GroupedCommand):
    """A command that uses the project file's settings as defaults, and reports which it used."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the command line, with the settings of the file as defaults.

        An error in the file takes precedence over an error in the call, but not over --help.
        """
        for place, word in enumerate(args):
            option, equals, value = word.partition("=")
            if (name := _FORMER.get((info_name, option))) is not None:
                args[place] = f"{name}{equals}{value}"
                tell_former(option, name)
        try:
            if (file := read_project_file(parent)) is not None:
                project = read_settings(file)
                extra |= {"obj": project, "default_map": project.defaults_of(self)}
        except gf.errors.GainfulError:
            if not (extra.get("resilient_parsing") or {"--help", "-h"} & {*args}):
                raise
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.NoSuchOption as wrong:
            raise no_such_option(wrong.option_name, str(info_name), wrong) from None
        except click.UsageError as wrong:
            wrong.ctx = wrong.ctx or click.Context(self, parent, info_name)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command without conflicting options, then report which settings of the file it used."""
        params = ctx.params
        project = ctx.obj if isinstance(ctx.obj, Project) else None
        conflicts = [
            name for name in (self.name, "chunks", "spark", "partition_by") if name in CONFLICTS
        ]
        files = [params[name] for name in ("files", "arguments", "runs") if name in params]
        define = params.pop("define", ())
        if project is not None:
            asking = [name for name, value in params.items() if _ASKS.match(str(value))]
            project.refuse_untrusted([name for name in ("define", *asking) if is_set(name)])
        use_definitions(define, project)
        if is_typed("columns"):
            params["columns"] = tuple(
                pair for text in params["columns"] for pair in _NEXT_PAIR.split(text)
            )
            if project is not None:
                params["columns"] = project.merge_columns(params["columns"])
        try:
            refuse_conflicts(conflicts, params)
            return super().invoke(ctx)
        except gf.errors.GainfulError as problem:
            located = problem if project is None else project.located(problem, *files[:1])
            if located is problem:
                raise
            raise located from problem
        finally:
            if project is not None and (used := project.told(self)) is not None:
                tell(used)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write which of the defaults in the help come from the project file."""
        super().format_epilog(ctx, formatter)
        if ctx.default_map:
            with formatter.indentation():
                names = ", ".join(ctx.default_map)
                write_paragraphs(formatter, f"Here, {ctx.obj} sets {names}: see `gainful config`.")


def command(
    *examples: str, cls: type[GroupedCommand] = ProjectCommand, **details: Any
) -> Callable[[Callable[..., None]], click.Command]:
    """Turn a function into a command, with examples of calls."""
    return click.command(cls=cls, examples=examples, **details)


def no_such_option(
    name: str, command: str, wrong: click.NoSuchOption | None = None
) -> click.UsageError:
    """Return the error about an unknown option of a command.

    Some options belong before the command, some are part of the measure, and some have another name.
    """
    context = None if wrong is None else wrong.ctx
    options = (
        [] if context is None else [name for param in context.command.params for name in param.opts]
    )
    if name in _BEFORE:
        hint = f"{name} belongs before the command: gainful {name} {command} …"
    elif name in _OF_MEASURES and command in _MEASURING:
        hint = f"No such option {name!r}. It is part of the measure: -m 'nDCG(gain=exp2)@10'."
    elif name == "--subtopics" and command in _MEASURING:
        how = "Use gainful evaluate JUDGMENTS RUN --subtopics -m alpha_nDCG@10."
        if "--subtopic-judgments" in options:
            how = "Pass --subtopic-judgments FILE -m alpha_nDCG@10."
        hint = f"{command} has no --subtopics. {how}"
    elif _SAME.get(name) in options:
        hint = f"No such option {name!r}. Did you mean {_SAME[name]!r}?"
    else:
        return click.NoSuchOption(name) if wrong is None else wrong
    return click.UsageError(hint, context)
