"""`gainful convert`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import set_aside
from gainful.cli.options import (
    READING,
    check_target,
    leave_out_columns,
    read_shared_options,
    shared_options,
)
from gainful.cli.standard_streams import seen_enough

_ENDINGS = gf.writing.endings(of="documents")


def _help() -> str:
    """Say what the command does, with all the endings."""
    trec = [ending for ending, name in _ENDINGS.items() if name == "trec"]
    others = [ending for ending, name in _ENDINGS.items() if name != "trec"]
    return (
        "Write a run or judgments in another format.\n\n"
        "INPUT is a file of any format that evaluate reads. OUTPUT is written as its name tells: "
        f"{_listed(trec, 'and')} are TREC, the others {_listed(others, 'and')}. Text may be "
        "packed, .gz or .zst. - is standard input and output. OUTPUT is replaced when it is "
        "complete; numbers and ids read back as they were."
    )


def _listed(words: list[str], last: str) -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


@click.command(
    cls=ProjectCommand,
    help=_help(),
    examples=["gainful convert bm25.run bm25.parquet --as run"],
)
@click.argument("input_", metavar="INPUT")
@click.argument("output")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["run", "judgments"]),
    required=True,
    help="What INPUT holds.",
)
@click.option(
    "--format",
    "-f",
    "format_",
    metavar="FORMAT",
    help=f"The format of OUTPUT: {_listed(list(dict.fromkeys(_ENDINGS.values())), 'or')}.  "
    "[default: what its name tells]",
)
@click.option("--tag", metavar="WORD", help="The last field of a TREC run.  [default: gainful]")
@shared_options(READING)
def convert(input_: str, output: str, kind: str, **options: Any) -> None:
    """Write a run or judgments; the help that is shown comes from the table of endings."""
    check_target(output, input_)
    if kind == "run":
        set_aside(options, ["assessors"])
    leave_out_columns(options, of="judgments" if kind == "run" else "run")
    tag, chosen, reading = options["tag"], options["format_"], read_shared_options(READING, options)
    with seen_enough():
        if kind == "run":
            tagged = {} if tag is None else {"tag": tag}
            gf.write_run(input_, output, format=chosen, **tagged, **reading)
        elif tag is None:
            gf.write_judgments(input_, output, format=chosen, **reading)
        else:
            raise click.UsageError("--tag goes with --as run: judgments have none.")
