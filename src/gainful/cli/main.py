"""The entry point: commands, and how failures and warnings are shown.

Data goes to standard output, everything else to standard error. Exit 0 done, 1 a gate or
check failed, 2 bad input or usage.
"""

import io
import sys
import warnings
from typing import Any, NoReturn

import click

import gainful as gf
from gainful.cli.check import check
from gainful.cli.convert import convert
from gainful.cli.evaluate import evaluate
from gainful.cli.explain import explain
from gainful.cli.measures import measures

_BAD_INPUT = 2
_INTERRUPTED = 130


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="gainful COMMAND --help tells more of each.",
)
@click.version_option(gf.__version__, message="gainful %(version)s")
def commands() -> None:
    """Measure how good rankings are."""


for _command in (evaluate, explain, check, measures, convert):
    commands.add_command(_command)


def main() -> NoReturn:
    """Run the command line, and turn every expected failure into one paragraph."""
    warnings.showwarning = _show_warning
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
