"""Where the value of an option comes from: the command line, the project's file, or its default."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

import click
from click.core import ParameterSource

from gainful.cli.project_file import ProjectFileChoice

if TYPE_CHECKING:  # which few commands need: most are called where there is no file
    from gainful.cli.project_settings import Project


def current_project() -> "Project | None":
    """Return the settings of the project's file, where the current command has one."""
    found = click.get_current_context().obj
    return None if isinstance(found, ProjectFileChoice | None) else cast("Project", found)


def is_typed(name: str) -> bool:
    """Return whether an option stands on the command line."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def is_set(name: str) -> bool:
    """Return whether the value of an option is that of the project's file."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.DEFAULT_MAP


def set_aside(options: dict[str, Any], names: Collection[str] | None = None) -> None:
    """Take the defaults instead of what the project's file sets, where that has no meaning.

    Args:
        options: of the command, which are changed.
        names: of the options; all if None.
    """
    context = click.get_current_context()
    for option in context.command.params:
        name = str(option.name)
        if is_set(name) and (names is None or name in names):
            options[name] = default_of(option, context)
            context.set_parameter_source(name, ParameterSource.DEFAULT)


def default_of(option: click.Parameter, context: click.Context) -> Any:
    """Return what an option is where nobody sets it."""
    value = option.to_info_dict()["default"]
    if option.multiple:
        value = tuple(value or ())
    return value if option.callback is None else option.callback(context, option, value)
