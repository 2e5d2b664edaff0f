"""`gainful config`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.option_origins import default_of
from gainful.cli.options import (
    WITHOUT_NOTES,
    check_target,
    format_of,
    format_option,
    layout_of,
    output_option,
    use_definitions,
)
from gainful.cli.project_file import NAME, PYPROJECT, ProjectFileChoice
from gainful.cli.project_settings import EXAMPLE, Project, all_settings, read_settings
from gainful.cli.standard_streams import tell, tell_lines, write
from gainful.rendering.table_formats import Cell, Table

_NONE = (
    f"There is no {NAME}, and no {PYPROJECT} with a table [tool.gainful], in this folder or one above. "
    f"A {NAME} may begin so:"
)


@click.command(
    epilog=f"Settings stand in {NAME}, or in the table [tool.gainful] of {PYPROJECT}. The nearest folder "
    "that has one counts, from the current one up."
)
@format_option
@output_option
@click.pass_context
def config(context: click.Context, /, **options: Any) -> None:
    """Show the settings of the project, and where each comes from.

    What is typed counts before the file, and the file before the default. gainful --config FILE
    COMMAND takes another file, gainful --no-config COMMAND takes none.
    """
    format_of(options)  # says what is wrong with it before the work
    choice = context.obj
    file = choice.read() if isinstance(choice, ProjectFileChoice) else None
    check_target(options["output"], *([] if file is None else [file.path]))
    project = None if file is None else read_settings(file)
    if project is not None:
        _check(project)
    exact = format_of(options) in (*WITHOUT_NOTES, "json")
    rows = _rows(project, context, exact=exact)
    title = "" if project is None else f"Settings of {project}"
    table = Table(["setting", "value", "from"], rows, title=title)
    write(gf.writing.render(table, format_of(options), **layout_of(options)), options["output"])
    if project is None and not (isinstance(choice, ProjectFileChoice) and choice.none):
        tell_lines(f"\n{_NONE}\n\n{EXAMPLE}")
    if project is not None and (other := project.file.shadowed) is not None:
        tell(f"{other} has a table [tool.gainful], too: it is not read, since {project} counts.")


def _check(project: Project) -> None:
    """Refuse what no command could take: measures, conditions and a dialect that there are not."""
    try:
        use_definitions(project.values.get("define", ()), project)
    except gf.errors.GainfulError as problem:  # said, and what else there is shown
        tell(str(problem))
    rules = (project.values.get(f"gate.{name}", []) for name in ("fail_if", "fail_unless"))
    try:
        gf.results.Gate.check_conditions(
            project.measures, *rules, dialect=project.values.get("dialect")
        )
    except gf.errors.GainfulError as problem:
        raise project.located(problem, applies=lambda _: True) from None


def _rows(project: Project | None, context: click.Context, *, exact: bool) -> list[list[Cell]]:
    """Return a row for each setting; with `exact`, numbers as numbers and the whole path."""
    values = {} if project is None else project.values
    name = "" if project is None else str(project) if exact else project.file.name
    rows: list[list[Cell]] = []
    for key, option in all_settings():
        value, source = values.get(key), name
        if key not in values:
            value, source = None if option is None else default_of(option, context), "default"
        rows.append([key, _written(value, exact=exact), source])
    return rows


def _written(value: Any, *, exact: bool) -> Cell:
    """Return a value as a cell."""
    if isinstance(value, float) and not exact:
        return f"{value:g}"
    if isinstance(value, dict):
        value = [f"{role}={name}" for role, name in value.items()]
    if isinstance(value, list | tuple):
        return ", ".join(value) or None
    return value  # type: ignore[no-any-return]
