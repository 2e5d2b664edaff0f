"""`ProjectCommand`: a command whose options may be set by the project's file."""

from typing import Any

import click

import gainful as gf
from gainful.cli.grouped_help import GroupedCommand
from gainful.cli.option_origins import is_typed
from gainful.cli.project_file import ProjectFileChoice
from gainful.cli.standard_streams import tell
from gainful.cli.unknown_options import no_such_option


class ProjectCommand(GroupedCommand):
    """A command that takes from the project's file what the command line leaves open, and says so."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the command line, with the settings of the file as defaults.

        What is wrong with the file is said before what is wrong with the call, but help is shown.
        """
        problem = None
        try:
            extra |= self._settings(parent)
        except gf.errors.GainfulError as found:
            problem = found
        try:
            context = super().make_context(info_name, args, parent, **extra)
        except click.UsageError as wrong:
            if problem is not None:
                raise problem from None
            if isinstance(wrong, click.NoSuchOption):
                raise no_such_option(wrong.option_name, str(info_name), wrong) from None
            raise
        if problem is not None:
            raise problem
        return context

    def help_context(self, info_name: str, parent: click.Context | None) -> click.Context:
        """Return a context to show help in, with the settings of the file as defaults if it can be read."""
        try:
            extra = self._settings(parent)
        except gf.errors.GainfulError:
            extra = {}
        return click.Context(self, parent, info_name, **extra)

    def _settings(self, parent: click.Context | None) -> dict[str, Any]:
        """Return what a context is given of the file."""
        choice = None if parent is None else parent.obj
        file = choice.read() if isinstance(choice, ProjectFileChoice) else None
        if file is None:
            return {}
        from gainful.cli.project_settings import read_settings  # of use only where there is one

        project = read_settings(file)
        return {"obj": project, "default_map": project.defaults_of(self)}

    def invoke(self, ctx: click.Context) -> Any:
        """Do the work, then say which settings of the file were used."""
        if isinstance(ctx.obj, ProjectFileChoice | None):
            return super().invoke(ctx)
        project, given = ctx.obj, ctx.params
        files = next((given[name] for name in ("files", "arguments", "runs") if name in given), ())
        if is_typed("columns"):
            given["columns"] = project.merge_columns(given["columns"])
        try:
            result = super().invoke(ctx)
        except gf.errors.GainfulError as problem:
            located = project.located(problem, files)
            self._tell(project)
            if located is problem:
                raise
            raise located from problem
        except (SystemExit, click.UsageError):
            self._tell(project)
            raise
        self._tell(project)
        return result

    def _tell(self, project: Any) -> None:
        told = project.told(self)
        if told is not None:
            tell(told)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say where the defaults are from that the help shows."""
        super().format_epilog(ctx, formatter)
        if ctx.default_map:
            told = f"Here, {ctx.obj} sets {', '.join(ctx.default_map)}: see `gainful config`."
            indent = "  "
            formatter.write_paragraph()
            formatter.write(f"{click.wrap_text(told, formatter.width, indent, indent)}\n")
