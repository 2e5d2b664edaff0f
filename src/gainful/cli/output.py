"""The output of a command: its format and file, the result, its notes and its gate."""

import glob
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import click

import gainful as gf
from gainful.cli.process import seen_enough, tell, tell_lines, write
from gainful.cli.project import current_project, is_set, is_typed, set_aside

WITHOUT_NOTES = frozenset(["csv", "tsv", "jsonl"])
"""The formats without room for notes, which go to standard error."""
ROWS = WITHOUT_NOTES | {"json"}
"""The formats in which a bare table has no room for notes: in JSON, it is a list of rows."""
_NOTED = ("table", "markdown", "latex", "html")
_PACKINGS = (".gz", ".zst")
_COLUMNS_OF_FILES = 80  # regardless of the terminal
_INSTEAD = {
    "a spreadsheet": " Spreadsheets open .csv.",
    "a picture": " Charts are drawn in Python: .plot of scores and comparisons.",
}
_FAILED = 1
_GATE = ("fail_if", "fail_unless")
Rules = tuple[Sequence[str], Sequence[str]]


def format_of(options: dict[str, Any]) -> str:
    """Return the format from --format, or from the extension of the output."""
    output = options["output"]
    refuse_other_endings(output)
    ending = Path(output or "").suffix.lower()
    if ending in _PACKINGS or gf.writing.endings().get(ending) == "parquet":
        raise click.UsageError(
            f"The output is text. To write {ending}, use gainful convert, or scores.write() in Python."
        )
    if options["format"] is not None:
        return str(options["format"])
    return _format_by_ending(output, gf.writing.endings(), gf.writing.formats())


def formats_of(documents: str) -> tuple[str, ...]:
    """Return the formats of a table and of a kind of documents, such as pools."""
    return tuple(dict.fromkeys((*gf.writing.formats(), *gf.writing.endings(of=documents).values())))


def format_of_documents(options: dict[str, Any], documents: str) -> str:
    """Return the format of a table that is also a kind of documents, such as pools."""
    output = options["output"]
    refuse_other_endings(output)
    if options["format"] is not None:
        return str(options["format"])
    return _format_by_ending(output, gf.writing.endings(of=documents), formats_of(documents))


def _format_by_ending(output: str | None, endings: dict[str, str], formats: tuple[str, ...]) -> str:
    """Return the format that the name of an output promises, out of `formats`; the first by default.

    A name that promises a run or judgments is rejected if the output is a table.
    """
    path = Path((output or "").lower())
    ending = (Path(path.stem) if path.suffix in _PACKINGS else path).suffix
    promised = endings.get(ending, ending[1:])  # the name of a format is also an extension
    if promised not in formats and ending in gf.writing.endings(of="documents"):
        raise click.UsageError(
            f"{output}: the output is a table, but {ending} promises a run or judgments. "
            f"{_known_endings(endings)}"
        )
    return promised if promised in formats else formats[0]


def refuse_other_endings(output: str | None, *right: str) -> None:
    """Reject a name whose extension promises a different kind of output, such as a picture.

    Args:
        output: the name.
        right: the correct extensions, if the output isn't a table.
    """
    ending = Path(output or "").suffix.lower()
    promised = gf.writing.endings(of="others").get(ending)
    if promised is None or ending in right:
        return
    known = f"End the name in {right[0]}." if right else _known_endings(gf.writing.endings())
    raise click.UsageError(
        f"{output}: {ending} promises {promised}, but the output is text. "
        f"{known}{_INSTEAD.get(promised, '')}"
    )


def _known_endings(endings: dict[str, str]) -> str:
    known = [ending for ending, name in endings.items() if name != "parquet" and ending != ".htm"]
    return f"End the name in {', '.join(known[:-1])} or {known[-1]}, or omit the extension."


def check_target(output: str | None, *inputs: str | None) -> None:
    """Reject, before the work, an output that is one of the inputs or cannot be written.

    Inputs may be patterns, whose files also count as inputs.
    """
    if output is not None and is_among(output, *inputs):
        raise click.UsageError(f"The output {output} is one of the inputs.")
    gf.writing.write_text("", "-" if output is None else output, dry=True)


def is_among(output: str, *inputs: str | None) -> bool:
    """Return whether an existing file is one of the inputs, or matches one of their patterns."""
    if not Path(output).exists():
        return False
    files = (
        file
        for name in filter(None, inputs)
        # Unlike glob, Path.glob doesn't accept absolute patterns.
        for file in ([name] if Path(name).exists() else glob.glob(name, recursive=True))  # noqa: PTH207
    )
    return any(Path(file).is_file() and Path(file).samefile(output) for file in files)


def is_same(one: str, other: str | None) -> bool:
    """Return whether two names refer to the same file, which need not exist yet."""
    return other is not None and Path(one).resolve() == Path(other).resolve()


def check_cache(cache: str | None, output: str | None, *inputs: str | None) -> None:
    """Reject a cache that is also another file of the command."""
    if cache is not None and (is_same(cache, output) or is_among(cache, *inputs)):
        raise click.UsageError("The cache needs a file of its own.")


def write_documents(found: Any, options: dict[str, Any], format_: str | None) -> None:
    """Write documents, such as a run or a pool, to the output; on standard output they are TREC by default."""
    output = options["output"]
    if format_ is None and output in (None, "-"):
        format_ = "trec"
    with seen_enough():
        found.write("-" if output is None else output, format=format_)


def write_pool(found: Any, options: dict[str, Any], format_: str) -> bool:
    """Write a pool, as documents or as a table; return whether the format has no room for the summary."""
    write_documents(found, options, format_)
    return format_ not in _NOTED


def print_result(
    result: Any,
    options: dict[str, Any],
    notes: Iterable[str] = (),
    *,
    bare: Collection[str] = WITHOUT_NOTES,
    gate: "gf.results.Gate | None" = None,
    **rendering: Any,
) -> None:
    """Write a result as the options request; notes go to standard error if the format has no room for them.

    Args:
        result: the result to render.
        options: the options of the command.
        notes: notes about the result.
        bare: the formats without room for notes.
        gate: the gate, whose decision is added to JSON.
        rendering: more keywords of `render`.
    """
    format_ = format_of(options)
    if "digits" in options:
        rendering["digits"] = options["digits"]
    to_file = options["output"] not in (None, "-")
    text = gf.writing.render(
        result,
        format_,
        width=_COLUMNS_OF_FILES if to_file else None,
        verbose=to_file or options.get("verbose", False),
        **rendering,
    )
    write(_json_with_gate(text, gate) if format_ == "json" else text, options["output"])
    if format_ in bare:
        for note in notes:
            tell(note)


def _json_with_gate(text: str, gate: "gf.results.Gate | None") -> str:
    """Return the JSON of a result with the decision of its gate; unchanged without a gate or for a list of rows."""
    if gate is None:
        return text
    import json  # imported here because most calls don't need it

    result = json.loads(text)
    if not isinstance(result, dict):
        return text
    result["gate"] = {"failed": gate.failed, "checked": gate.table().records()}
    return json.dumps(result, indent=2, ensure_ascii=False)


def gate_rules(
    options: dict[str, Any],
    measures: list[str],
    *,
    dialect: str | None,
    compared: bool,
    check: Callable[..., None] | None = None,
) -> Rules:
    """Return the conditions that a command checks, and reject those that it cannot check.

    From the project file, a command without a comparison uses only the conditions that need none. If the
    command line selects other measures than the file, conditions on unselected measures are skipped with
    a message. `check` rejects conditions that cannot be checked; by default, those of a gate on scores.
    """
    rules = []
    for name in _GATE:
        conditions = list(options[name])
        if is_set(name):
            if not compared:
                conditions = gf.results.Gate.without_baseline(conditions)
            if is_typed("measures"):
                conditions = [each for each in conditions if _is_measured(each, measures, dialect)]
            if not conditions:
                set_aside(options, [name])
        rules.append(conditions)
    refuse = gf.results.Gate.check_conditions if check is None else check
    refuse(measures, *rules, dialect=dialect, compared=compared)
    return rules[0], rules[1]


def leave_out_gate(options: dict[str, Any], why: str) -> None:
    """Ignore the conditions of the project file, with a message."""
    if any(is_set(name) for name in _GATE):
        tell(f"{current_project()}: the gate is not checked {why}.")
    set_aside(options, _GATE)


def _is_measured(condition: str, measures: list[str], dialect: str | None) -> bool:
    """Return whether the measure of a condition is selected; errors in the condition are reported later."""
    project = current_project()
    own, tool = ([], None) if project is None else (project.measures, project.values.get("dialect"))
    try:
        gf.results.Gate.check_conditions(measures, condition, dialect=dialect)
    except gf.errors.InputError as problem:
        try:
            gf.results.Gate.check_conditions(own, condition, dialect=tool)
        except gf.errors.GainfulError:
            raise problem from None
        tell(f"{project}: {condition} is not checked: its measure is not among the selected ones.")
        return False
    return True


def check_gate_files(options: dict[str, Any], named: Sequence[str], *read: str | None) -> None:
    """Reject output files, including those of a gate, that cannot be written or are the same.

    Args:
        options: the options of the command.
        named: the options that name output files.
        read: the input files.
    """
    targets = [target for name in named if (target := options[name]) is not None]
    for target in targets:
        check_target(target, *read)
    for name, ending in (("junit", ".xml"), ("summary", ".md")):
        refuse_other_endings(options[name], ending)
    if len({Path(target).resolve() for target in targets}) < len(targets):
        raise click.UsageError("Each output needs a file of its own.")


def refuse_junit_alone(options: dict[str, Any], rules: Iterable[object]) -> None:
    """Reject --junit without conditions."""
    if options["junit"] and not any(rules):
        raise click.UsageError("--junit reports conditions: pass --fail-if or --fail-unless.")


def finish_gate(
    gate: "gf.results.Gate | None", options: dict[str, Any], summary: Callable[[], str]
) -> None:
    """Write the files of a gate, print its decision, and exit with 1 if it fails.

    Args:
        gate: the gate; None without conditions.
        options: the options of the command.
        summary: returns the text of --summary.
    """
    if gate is not None:
        tell_lines(f"\n{gate}")
        if options["junit"]:
            gf.writing.write_text(gate.to_junit(), options["junit"])
    if options["summary"]:
        gf.writing.write_text(summary(), options["summary"])
    if gate is not None and gate.failed:
        sys.exit(_FAILED)
