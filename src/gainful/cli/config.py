"""`gainful config`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.output import ROWS, check_target, format_of, print_result
from gainful.cli.process import tell, tell_lines
from gainful.cli.project import (
    EXAMPLE,
    NAME,
    PYPROJECT,
    Project,
    ProjectFileChoice,
    all_settings,
    default_of,
    read_settings,
)
from gainful.output.rendering.table_formats import Cell, Table

_NONE = (
    f"Found no {NAME}, and no {PYPROJECT} with a [tool.gainful] table, in this folder or its parents. "
    f"Example of a {NAME}:"
)


@click.command(
    epilog=f"Settings are in {NAME}, or in the [tool.gainful] table of {PYPROJECT}. gainful uses the nearest of them, "
    "in the current folder or its parents."
)
@option.give(
    {
        "--trust": "Let the file, as it is now, run code, call services and send keys from now on. Changing the file revokes the trust.",
    },
    "format",
    "output",
)
@click.pass_context
def config(context: click.Context, /, trust: bool, **options: Any) -> None:
    """Show the project settings and their origins, without importing or calling anything.

    The command line overrides the file, and the file overrides the defaults. Use gainful --config FILE
    COMMAND to read another file, and gainful --no-config COMMAND to ignore project files.
    """
    format_of(options)  # reports a wrong format before the work
    choice = context.obj
    file = choice.read(to_show=True) if isinstance(choice, ProjectFileChoice) else None
    check_target(options["output"], None if file is None else file.path)
    if trust and file is None:
        raise click.UsageError("--trust: found no project file to trust.")
    project = None if file is None else _checked(read_settings(file))
    exact = format_of(options) in ROWS
    rows = _rows(project, context, exact=exact)
    title = "" if project is None else f"Settings of {project}"
    table = Table(["setting", "value", "from"], rows, title=title)
    print_result(table, options)
    if project is None and not (isinstance(choice, ProjectFileChoice) and choice.none):
        tell_lines(f"\n{_NONE}\n\n{EXAMPLE}")
    if project is not None:
        _tell_trust(project, trust=trust)
        if (other := project.file.shadowed) is not None:
            tell(
                f"{other} also contains a [tool.gainful] table; it is ignored because {project} takes precedence."
            )


def _checked(project: Project) -> Project:
    """Reject unknown measures, conditions and dialects.

    If the file has definitions, nothing is checked: they are not imported here, so the measures are unknown.
    """
    if "define" in project.values:
        return project
    rules = (project.values.get(f"gate.{name}", []) for name in ("fail_if", "fail_unless"))
    try:
        gf.results.Gate.check_conditions(
            project.measures, *rules, dialect=project.values.get("dialect")
        )
    except gf.errors.GainfulError as problem:
        raise project.located(problem, applies=lambda _: True) from None
    return project


def _tell_trust(project: Project, *, trust: bool) -> None:
    """Report what the file may not do until it is trusted; or trust it and report that."""
    acting, owners = project.written(project.acting), project.file.foreign_owners
    if trust:
        more = acting and f", with {acting}"
        tell(f"trusted as it is now: {project}{more}; recorded in {project.file.trust()}")
    elif not project.file.is_trusted:
        if owners:
            tell(
                f"{project}: {' and '.join(owners)}; commands ignore it unless you name it with --config or trust it."
            )
        if acting:
            tell(
                f"not trusted, so commands refuse to use {acting}. Run `gainful config --trust` to trust the file."
            )


def _rows(project: Project | None, context: click.Context, *, exact: bool) -> list[list[Cell]]:
    """Return one row per setting; with `exact`, unrounded numbers and the full path."""
    values = {} if project is None else project.values
    name = "" if project is None else str(project) if exact else project.file.name
    rows: list[list[Cell]] = []
    for key, setting in all_settings():
        if key in values:
            value, source = values[key], name
        else:
            value, source = None if setting is None else default_of(setting, context), "default"
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
