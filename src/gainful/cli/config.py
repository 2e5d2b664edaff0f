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
)
from gainful.cli.project_file import NAME, PYPROJECT, ProjectFileChoice
from gainful.cli.project_settings import EXAMPLE, Project, all_settings, read_settings
from gainful.cli.project_trust import ACTING, foreign_owners, remember, settings_of
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
@click.option(
    "--trust",
    is_flag=True,
    help="Let the file, as it is now, run code, call services and send keys from now on. A change of the file ends that.",
)
@format_option
@output_option
@click.pass_context
def config(context: click.Context, /, trust: bool, **options: Any) -> None:
    """Show the settings of the project, and where each comes from; nothing is imported or called.

    What is typed counts before the file, and the file before the default. gainful --config FILE
    COMMAND takes another file, gainful --no-config COMMAND takes none.
    """
    format_of(options)  # says what is wrong with it before the work
    choice = context.obj
    file = choice.read(to_show=True) if isinstance(choice, ProjectFileChoice) else None
    check_target(options["output"], *([] if file is None else [file.path]))
    if trust and file is None:
        raise click.UsageError("--trust: there is no project file to trust.")
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
    if project is not None:
        _tell_trust(project, trust=trust)
    if project is not None and (other := project.file.shadowed) is not None:
        tell(f"{other} has a table [tool.gainful], too: it is not read, since {project} counts.")


def _check(project: Project) -> None:
    """Refuse what no command could take: measures, conditions and a dialect that there are not.

    Where the file has definitions, which are not imported here, nobody knows which measures there are.
    """
    if "define" in project.values:
        return
    rules = (project.values.get(f"gate.{name}", []) for name in ("fail_if", "fail_unless"))
    try:
        gf.results.Gate.check_conditions(
            project.measures, *rules, dialect=project.values.get("dialect")
        )
    except gf.errors.GainfulError as problem:
        raise project.located(problem, applies=lambda _: True) from None


def _tell_trust(project: Project, *, trust: bool) -> None:
    """Say what the file may not do until it is trusted; or trust it, and say so."""
    acting = settings_of(project.values, [key for key in ACTING if key in project.values])
    owners = foreign_owners(project.file.path)
    if trust:
        tell(
            f"trusted as it is now: {project}{acting and f', with {acting}'}; noted in {remember(project.file)}"
        )
    elif not project.file.is_trusted:
        if owners:
            tell(
                f"{project}: {' and '.join(owners)}; commands do not take it unless you name or trust it."
            )
        if acting:
            tell(
                f"not trusted, so commands refuse to use it: {acting}. `gainful config --trust` trusts it."
            )


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
