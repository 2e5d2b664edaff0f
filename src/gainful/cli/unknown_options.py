"""Options that a command does not have: what people mean by them, and where it is said here."""

import click

_BEFORE = ("--config", "--no-config", "--traceback", "--trust")
_SAME = {
    "--metric": "--measure", "--metrics": "--measure", "--measures": "--measure",
    "--qrels": "--judgments", "--base": "--baseline", "--judged-only": "--unjudged",
}  # fmt: skip
"""What other tools call an option, and what it is called here."""
_OF_MEASURES = ("-k", "--k", "--at", "--cutoff", "--gain", "--discount", "--rel")
_MEASURING = ("evaluate", "compare", "report", "explain", "why", "pool", "power")
_SUBTOPICS = "gainful evaluate JUDGMENTS RUN --subtopics -m alpha_nDCG@10"
_OF_SCORES = ("compare", "leaderboard")
"""Commands that take scores of queries in the place of judgments and runs."""


def no_such_option(
    name: str, command: str, wrong: click.NoSuchOption | None = None
) -> click.UsageError:
    """Return the error about an option that a command does not have.

    Some stand before it, some are part of the measure, and some have another name here.
    """
    told = ""
    if name in _BEFORE:
        told = f"{name} stands before the command: gainful {name} {command} …"
    elif name in _OF_MEASURES and command in _MEASURING:
        told = f"No such option {name!r}. It is part of the measure: -m 'nDCG(gain=exp2)@10'."
    elif name == "--subtopics" and command in (*_MEASURING, *_OF_SCORES):
        told = f"{command} has no --subtopics. "
        if command in _OF_SCORES:
            told += (
                f"Write the scores of each run, {_SUBTOPICS} --per-query -o RUN.csv, then give these "
                f"files: gainful {command} --scores RUN.csv RUN.csv …"
            )
        else:
            told += f"Measures of subtopics come from: {_SUBTOPICS}"
    if told:
        return click.UsageError(told, None if wrong is None else wrong.ctx)
    if wrong is None:
        return click.NoSuchOption(name)
    known = () if wrong.ctx is None else wrong.ctx.command.params
    if any(_SAME.get(name) in each.opts for each in known):
        told = f"No such option {name!r}. Did you mean {_SAME[name]!r}?"
        return click.UsageError(told, wrong.ctx)
    return wrong
