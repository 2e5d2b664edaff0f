"""Options that several commands share; their choices and help come from the package."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import gainful as gf

Command = Callable[..., None]


def policy_options(command: Command) -> Command:
    """Give a command one option for each choice of a policy."""
    for choice in reversed(gf.choices()):
        answers = [*choice.answers, *(["GRADE"] if choice.grade else [])]
        command = click.option(
            f"--{choice.name}",
            metavar="|".join(answers),
            default=choice.default,
            show_default=True,
            help=choice.question,
        )(command)
    return command


def policy_of(options: dict[str, Any]) -> gf.Policy:
    """Take the policy's options out of a command's options."""
    return gf.Policy(**{choice.name: options.pop(choice.name) for choice in gf.choices()})


def format_option(command: Command) -> Command:
    """Give a command --format."""
    return click.option(
        "--format",
        "-f",
        "format_",
        type=click.Choice(gf.formats()),
        default=gf.formats()[0],
        show_default=True,
        help="How the result is written; table, markdown, latex and html round numbers.",
    )(command)


def output_option(command: Command) -> Command:
    """Give a command --output."""
    return click.option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file instead of standard output; it is replaced when complete.",
    )(command)


def write(text: str, output: str | None) -> None:
    """Write to standard output, or replace a file once the new one is complete."""
    if output is None or output == "-":
        click.echo(text)
        return
    target = Path(output)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        # mkstemp makes files private; give the result the permissions of an ordinary one.
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
