"""The settings that a project's file may have: options of commands, under the names they have there.

What is permitted, and what each value must be, is told by the options themselves. What depends on the
machine (memory, cores, engine) or on one call (output, format) is no setting of a project.
"""

import functools
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import click

import gainful as gf
from gainful.calling.environment_keys import is_secret_header, refuse_key_in_address
from gainful.cli.option_origins import is_set
from gainful.cli.options import (
    MEASURING,
    InputFile,
    gate_options,
    judgments_option,
    measure_option,
    policy_options,
    shared_options,
    texts_options,
)
from gainful.cli.project_file import ProjectFile
from gainful.cli.project_trust import public, refuse_untrusted
from gainful.message_texts import did_you_mean, shown

_COLUMNS = "columns"
_SIDES = ("judgments", "run")
_ORDERING = {"score", "rank"}
_ELSEWHERE = (_COLUMNS, "policy", "engine")  # have a table of their own, or are of the machine
_TOP = tuple(name for name in MEASURING if name not in _ELSEWHERE)
# The tables that not all commands with such an option take.
_TAKEN_BY = {
    "compare": ("compare", "report"),
    "gate": ("evaluate", "compare"),
    "report": ("report",),
    "run": ("run",),
}
_MAY_HOLD_KEYS = ("run.headers", "run.url", "run.key_variable", "run.command")
# How errors call what a setting is about, where they call it differently.
_ERRORS = {
    "queries": "query_ids",
    "fail-if": "gate.fail_if",
    "fail-unless": "gate.fail_unless",
    "measure": "measures",
    "slices": "compare.by",
}
EXAMPLE = """\
judgments = "judgments.qrels"
measures = ["nDCG@10", "AP"]

[columns]
query = "user"

[policy]
missing = "skip"

[gate]
fail_if = ["Δ nDCG@10 < -0.01", "nDCG@10 < 0.3"]"""
"""A file as it may be, for messages and help."""


def _declared(*decorators: Callable[[Any], Any]) -> dict[str, click.Option]:
    """Return the options that a command gets from decorators, by their names."""

    def command() -> None:
        """Do nothing: its options are what matters."""

    for decorate in reversed(decorators):
        decorate(command)
    found = click.command()(command).params
    return {str(each.name): each for each in found if isinstance(each, click.Option)}


def _comparing() -> dict[str, click.Option]:
    from gainful.cli.comparison_options import comparing_options  # which loads statistics

    return _declared(comparing_options)


def _recording() -> dict[str, click.Option]:
    from gainful.cli.recording_options import recording_options  # which one command has

    return _declared(recording_options)


_SECTIONS: dict[str, Callable[[], dict[str, click.Option]]] = {
    "": lambda: _declared(judgments_option, measure_option(""), shared_options(_TOP)),
    "policy": lambda: _declared(policy_options),
    "compare": _comparing,
    "gate": lambda: _declared(gate_options("", "")),
    "report": lambda: _declared(texts_options),
    "run": _recording,
}


@functools.cache
def _options(section: str) -> dict[str, click.Option]:
    """Return the options of a table, by their names; those outside of tables for an empty name."""
    return _SECTIONS[section]()


def all_settings() -> Iterator[tuple[str, click.Option | None]]:
    """Yield every setting that there is, with its option; columns, a table, have none."""
    for section in _SECTIONS:
        for name, option in _options(section).items():
            yield _key(section, name), option
        if not section:
            yield _COLUMNS, None


def _key(section: str, name: str) -> str:
    return f"{section}.{name}" if section else name


@dataclass(slots=True)
class Project:
    """The settings of a project, checked.

    Attributes:
        file: where they are from.
        values: by key, such as `measures` or `policy.missing`.
        used: keys of what was used besides the values of options.
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

    def refuse_untrusted(self, names: Collection[str]) -> None:
        """Refuse to use settings that run code or send keys, unless the file is trusted.

        Args:
            names: of the options whose values are the file's.
        """
        keys = [key for key in self.values if key.rpartition(".")[2] in names]
        refuse_untrusted(self.file, self.values, keys)

    def use(self, key: str) -> Any:
        """Return a setting for a purpose that has no option in this command; None if it is not set."""
        if key in self.values:
            self.used.add(key)
        return self.values.get(key)

    def defaults_of(self, command: click.Command) -> dict[str, Any]:
        """Return the settings that a command takes, by the names of its options."""
        names = {each.name for each in command.params if isinstance(each, click.Option)}
        found: dict[str, Any] = {}
        for key, value in self.values.items():
            section, _, name = key.rpartition(".")
            if command.name not in _TAKEN_BY.get(section, (command.name,)):
                continue
            if key == "measures" and "measure" in names:
                found["measure"] = [_first(value[0])]
            elif key == _COLUMNS and name in names:
                found[name] = [f"{role}={column}" for role, column in value.items()]
            elif name in names:
                found[name] = value
        return found

    def merge_columns(self, typed: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of the command line, with those of the file that it does not name."""
        roles = {each.partition("=")[0] for each in typed}
        if {role.rpartition(".")[2] for role in roles} & _ORDERING:  # a run has one of them
            roles |= _ORDERING
        rest = [
            f"{role}={column}"
            for role, column in self.values.get(_COLUMNS, {}).items()
            if role not in roles and role.rpartition(".")[2] not in roles
        ]
        if rest:
            self.used.add(_COLUMNS)
        return (*typed, *rest)

    def told(self, command: click.Command) -> str | None:
        """Say in one line which settings were used, None if there were none."""
        names = {str(each.name) for each in command.params if is_set(str(each.name))}
        told = []
        for key, value in self.values.items():
            name = key.rpartition(".")[2]
            if key == "measures" and "measure" in names:
                told.append(f"measure={_first(value[0])}")
            elif key in self.used or name in names:
                bare = isinstance(value, list | dict) or isinstance(_type(key), InputFile)
                shown_value = f"{value:g}" if isinstance(value, float) else public(key, value)
                told.append(name if bare else f"{name}={shown_value}")
        return f"{self}: {', '.join(told)}" if told else None

    def located(
        self,
        problem: gf.errors.GainfulError,
        files: tuple[str, ...] = (),
        *,
        applies: Callable[[str], bool] = is_set,
    ) -> gf.errors.GainfulError:
        """Return an error with the file and the key, where it is about a setting.

        Args:
            problem: the error.
            files: that stand on the command line, all of them runs if the file names the judgments.
            applies: whether an option has the value of the file.
        """
        key = self._key_of(problem, applies)
        if key is not None:
            return problem.at(f"{self}, {key}")
        choice = problem.choice.partition("=")[0]
        if applies(choice) and choice and not problem.whose:
            return problem.of(f"set in {self}")
        return self._about_files(problem, files)

    def _key_of(
        self, problem: gf.errors.GainfulError, applies: Callable[[str], bool]
    ) -> str | None:
        """Return the key of the setting that an error is about, if it is set."""
        word = problem.where.partition(",")[0]
        if word == _COLUMNS and (applies(_COLUMNS) or _COLUMNS in self.used):
            role = problem.where.removeprefix("columns, ")
            if role == _COLUMNS:
                return _COLUMNS
            return f"{_COLUMNS}.{role}" if role in self.values[_COLUMNS] else None
        if problem.where.startswith("policy "):
            word = problem.where.removeprefix("policy ")
        elif isinstance(problem, gf.errors.MeasureError) and word != "dialect":
            word = "measure"
        key = _ERRORS.get(word, word)
        keys = [each for each in self.values if key in (each, each.rpartition(".")[2])]
        name = key.rpartition(".")[2]
        if not keys or not (applies(name) or (key == "measures" and applies("measure"))):
            return None
        return keys[0]

    def _about_files(
        self, problem: gf.errors.GainfulError, files: tuple[str, ...]
    ) -> gf.errors.GainfulError:
        """Say of an error about a file which setting names it, or why it is taken for a run."""
        more = ""
        if is_set("judgments") and problem.where.startswith(files):
            more = self.why_a_run(problem.remedy)
        elif columns := self._columns_in(problem.expected):
            more = f"{self} sets {columns[0]}."
        elif named := [key for key in self.values if self._is_named(key, problem.where)]:
            more = f"{self} names it as {named[0]}."
        if not more:
            return problem
        remedy = f"{problem.remedy} {more}".strip()
        parts = (problem.where, problem.expected, problem.found, remedy)
        return type(problem)(*parts, problem.choice, problem.whose)

    def why_a_run(self, remedy: str) -> str:
        """Say why a file was taken for a run that looks like judgments; nothing of others."""
        if not is_set("judgments") or "looks like judgments" not in remedy:
            return ""
        return (
            f"{self} names the judgments, so every file here is a run: for others give --judgments FILE, "
            "or `gainful --no-config`."
        )

    def _columns_in(self, expected: str) -> list[str]:
        """Return the settings of the columns that an error is about."""
        if not is_set(_COLUMNS) and _COLUMNS not in self.used:
            return []
        columns = self.values[_COLUMNS].items()
        return [f"columns.{role}" for role, name in columns if f"the column {name!r}" in expected]

    def _is_named(self, key: str, where: str) -> bool:
        """Return whether a setting names the file that something is about."""
        is_file = isinstance(_type(key), InputFile) and is_set(key.rpartition(".")[2])
        return is_file and where.startswith(self.values[key])


def _type(key: str) -> "click.ParamType[Any] | None":
    section, _, name = key.rpartition(".")
    return None if key == _COLUMNS else _options(section)[name].type


def _first(text: str) -> str:
    """Return the first of several measures that are written in one text.

    >>> _first("nDCG(gain=exp2, base=e)@5,10 AP")
    'nDCG(gain=exp2, base=e)@5'
    """
    depth = 0
    for place, character in enumerate(text.strip()):
        depth += (character == "(") - (character == ")")
        if depth == 0 and (character == "," or character.isspace()):
            return text.strip()[:place]
    return text.strip()


def read_settings(file: ProjectFile) -> Project:
    """Check what a project's file holds: the names of the settings, and their values."""
    values: dict[str, Any] = {}
    known = [*_options(""), _COLUMNS, *filter(None, _SECTIONS)]
    for name, value in _names(file, "", file.table):
        if name == _COLUMNS:
            values[_COLUMNS] = _columns(file, value)
        elif name in _SECTIONS:
            values |= _section(file, name, value)
        elif name in _options(""):
            values[name] = _value(file, name, _options("")[name], value)
        else:
            raise _unknown(file, "", name, known)
    _refuse_together(file, values)
    return Project(file, values)


def _section(file: ProjectFile, section: str, table: object) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise gf.errors.InputError(f"{file}, {section}", f"a table [{section}]", shown(table))
    options = _options(section)
    found = {}
    for name, value in _names(file, section, table):
        if name not in options:
            raise _unknown(file, section, name, list(options))
        found[f"{section}.{name}"] = _value(file, f"{section}.{name}", options[name], value)
    return found


def _names(
    file: ProjectFile, section: str, table: Mapping[str, Any]
) -> Iterator[tuple[str, object]]:
    """Yield the names of settings, which may have - as options do, and their values."""
    seen = set()
    for written, value in table.items():
        name = written.replace("-", "_")
        if name in seen:
            where = f"{file}, {_key(section, name)}"
            raise gf.errors.InputError(where, "each setting once", f"{shown(written)} again")
        seen.add(name)
        yield name, value


def _unknown(file: ProjectFile, section: str, name: str, known: list[str]) -> gf.errors.InputError:
    place = f"{file}, {_key(section, name)}"
    hint = did_you_mean(name, known)
    # One of another table may have been written here.
    tables = {each: table for table in _SECTIONS if table for each in _options(table)}
    if name in tables:
        hint = f"Write it in the table [{tables[name]}]."
    return gf.errors.InputError(place, "a setting", shown(name), hint)


def _refuse_together(file: ProjectFile, values: dict[str, Any]) -> None:
    """Refuse two settings that answer one question."""
    if "chunks" in values and "chunk_map" in values:
        raise gf.errors.InputError(
            f"{file}, chunk_map", "chunks or chunk_map", "both", "Leave one out."
        )
    choices = [key for key in values if key.startswith("policy.")]
    if "dialect" in values and choices:
        raise gf.errors.InputError(
            f"{file}, {choices[0]}",
            "no policy beside a dialect, which has its own",
            f"dialect = {shown(values['dialect'])}",
            "Leave one of them out.",
        )


def _columns(file: ProjectFile, table: object) -> dict[str, str]:
    """Return the names of columns by role; `judgments.query` may be written as a table, too."""
    where = f"{file}, {_COLUMNS}"
    if not isinstance(table, dict):
        raise gf.errors.InputError(where, 'a table such as query = "user"', shown(table))
    found: dict[str, str] = {}
    for role, name in table.items():
        inner = (
            {f"{role}.{each}": own for each, own in name.items()}
            if isinstance(name, dict)
            else None
        )
        for key, own in ({role: name} if inner is None or role not in _SIDES else inner).items():
            whole = isinstance(own, int) and not isinstance(own, bool)
            if not (isinstance(own, str) and own) and not whole:
                expected = "the name of a column, or its number from 1"
                raise gf.errors.InputError(f"{where}.{key}", expected, shown(own))
            found[key] = str(own)
    return found


def _value(file: ProjectFile, key: str, option: click.Option, value: object) -> Any:
    """Return a value as its option takes it."""
    where = f"{file}, {key}"
    if key.startswith("policy."):
        choice = next(each for each in gf.measures.choices() if each.name == option.name)
        try:
            return choice.read(value)
        except gf.errors.GainfulError as problem:
            raise problem.at(where) from None
    if option.multiple:
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise gf.errors.InputError(where, "a text or a list of texts", _told(key, value))
        if not listed and key == "measures":
            raise gf.errors.InputError(where, "at least one measure", "none")
        if key == "run.headers":
            _refuse_keys(where, listed)
        return listed
    if key == "run.url" and isinstance(value, str):
        refuse_key_in_address(value, where)
    return _one(file, where, option.type, value, _told(key, value))


def _told(key: str, value: object) -> str:
    """Return what an error shows of a value: of one that may hold a key only what it is."""
    return type(value).__name__ if key in _MAY_HOLD_KEYS else shown(value)


def _refuse_keys(where: str, headers: list[str]) -> None:
    """Refuse headers that hold a key itself: a project's file is read by many, and `config` shows it."""
    for each in headers:
        name, _, value = each.partition(":")
        if is_secret_header(name) and "${" not in value:
            hint = f"Write {name.strip()}: ${{NAME}}, and set the environment variable NAME."
            raise gf.errors.InputError(where, "a key from the environment", "the key itself", hint)


def _one(
    file: ProjectFile, where: str, kind: "click.ParamType[Any]", value: object, told: str
) -> Any:
    """Return a value that is no list; an error shows what is told of it."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = number if isinstance(kind, click.IntRange | click.FloatRange) else isinstance(value, str)
    if isinstance(kind, click.IntRange) and not isinstance(value, int):
        fits = False
    if fits and value != "" and not (isinstance(value, float) and not math.isfinite(value)):
        try:
            found = kind.convert(value, None, None)
        except click.BadParameter:
            pass
        else:
            return file.resolved(found) if isinstance(kind, InputFile) else found
    hint = did_you_mean(value, kind.choices) if isinstance(kind, click.Choice) else ""
    raise gf.errors.InputError(where, _expected(kind), told, hint)


def _expected(kind: "click.ParamType[Any]") -> str:
    """Say what a value must be."""
    if isinstance(kind, click.Choice):
        return " or ".join(kind.choices)
    if isinstance(kind, InputFile):
        return "the path of a file, from the folder of this one"
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return "a text"
    noun = "a whole number" if isinstance(kind, click.IntRange) else "a number"
    low = f" {'above' if kind.min_open else 'from'} {kind.min:g}" if kind.min is not None else ""
    high = (
        f" and {'below' if kind.max_open else 'at most'} {kind.max:g}"
        if kind.max is not None
        else ""
    )
    return f"{noun}{low}{high}"
