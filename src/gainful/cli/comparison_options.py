"""Options that say how runs are compared, of every command that compares."""

from typing import Any

import click

import gainful as gf
from gainful.cli.options import Command, InputFile, level_option, resamples_option, seed_option

_MORE = ("baseline", "level", "margin", "tie", "resamples", "seed", "slices", "by")
_ASKED = {
    "pairs": "The runs that are compared with each other.",
    "test": "The test whose p-value decides.",
    "correction": "The correction of p for the number of comparisons.",
    "interval": "The interval that is shown for a difference.",
}


def comparing_options(command: Command) -> Command:
    """Give a command an option for each choice of a comparison."""
    options = (
        click.option(
            "--baseline",
            metavar="NAME",
            help="The name of the run that the others are compared with, such as bm25 for bm25.run.  "
            "[default: the first]",
        ),
        level_option("The level of the intervals; p below 1 − level decides."),
        click.option(
            "--margin",
            type=click.FloatRange(0, min_open=True),
            help="A difference smaller than this does not matter: then equivalent is an answer.",
        ),
        click.option(
            "--tie",
            type=click.FloatRange(0),
            default=0.0,
            show_default=True,
            help="A query whose scores differ by no more than this is a tie: for the sign test, and "
            "among wins, ties and losses.",
        ),
        resamples_option("The number of resamples of randomisation and bootstrap."),
        seed_option("The seed of randomisation and bootstrap."),
        click.option(
            "--slices",
            type=InputFile(),
            help="A table with a row for each query: compare within each value of its columns, too.",
        ),
        click.option(
            "--by",
            multiple=True,
            metavar="COLUMN",
            help="Slice by this column of --slices, by judged (how many documents are), or by "
            "baseline (its score); repeat for more.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    for name, choices in reversed(gf.comparison.comparison_choices().items()):
        meanings = "; ".join(f"{choice}: {meaning}" for choice, meaning in choices.items())
        command = click.option(
            f"--{name}",
            type=click.Choice(list(choices)),
            default=next(iter(choices)),
            show_default=True,
            help=f"{_ASKED[name]} {meanings}.",
        )(command)
    return command


def comparing_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that say how runs are compared."""
    return {name: options[name] for name in (*gf.comparison.comparison_choices(), *_MORE)}
