"""The entry point: commands, and how failures and warnings are shown.

Data goes to standard output, everything else to standard error. Exit 0 done, 1 a gate or
check failed, 2 bad input or usage.
"""

import difflib
import io
import sys
import warnings
from importlib import import_module
from typing import Any, NoReturn

import click

import gainful as gf

_BAD_INPUT = 2
_INTERRUPTED = 130

_COMMANDS = (
    "evaluate",
    "compare",
    "report",
    "explain",
    "why",
    "check",
    "pool",
    "power",
    "measures",
    "dialects",
    "convert",
    "trec_eval",
)
# What is a command's work under another name, as in Python.
_ELSEWHERE = {"which": "gainful why --got"}


class _Commands(click.Group):
    """Commands, each in a module of its name that is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of a user's work."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of a name, if there is one."""
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"gainful.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is called, or suggest the closest."""
        name = args[0]
        if name not in _COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            close = difflib.get_close_matches(name.casefold(), _COMMANDS, n=1)
            meant = _ELSEWHERE.get(name) or (f"gainful {close[0]}" if close else None)
            hint = "" if meant is None else f" Did you mean '{meant}'?"
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="gainful COMMAND --help tells more of each.",
)
@click.version_option(gf.__version__, message="gainful %(version)s")
def commands() -> None:
    """Measure how good rankings are."""


def main() -> NoReturn:
    """Run the command line, and turn every expected failure into one paragraph."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", gf.GainfulWarning)  # not once for several alike
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may not have all characters
    try:
        # Sub-commands return nothing; click's own errors carry their exit code.
        commands.main(standalone_mode=False)
    except gf.GainfulError as problem:
        _fail(str(problem))
    except click.ClickException as problem:
        problem.show()
        sys.exit(problem.exit_code)
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("gainful: interrupted", err=True)
        sys.exit(_INTERRUPTED)
    except OSError as problem:
        _fail(f"{problem.filename or 'output'}: {problem.strerror}.")
    sys.exit(0)


def _fail(message: str) -> NoReturn:
    click.echo(f"gainful: error: {message}", err=True)
    sys.exit(_BAD_INPUT)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"gainful: warning: {message}", err=True)
