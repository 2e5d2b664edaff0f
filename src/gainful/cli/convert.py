"""`gainful convert`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import leave_out_columns, read_shared_options
from gainful.cli.output import check_target
from gainful.cli.process import seen_enough
from gainful.cli.project import set_aside

_ENDINGS = gf.writing.endings(of="documents")


def _help() -> str:
    """Return the help of the command, with all file extensions."""
    trec = [ending for ending, name in _ENDINGS.items() if name == "trec"]
    others = [ending for ending, name in _ENDINGS.items() if name != "trec"]
    return (
        "Convert runs or judgments to another format.\n\n"
        "INPUT is a file in any format that evaluate reads. The extension of OUTPUT selects its format: "
        f"{_listed(trec, 'and')} are TREC, the others {_listed(others, 'and')}. Text may be "
        "compressed, .gz or .zst. - is standard input or output. OUTPUT is replaced once it is "
        "complete; numbers and ids are preserved exactly."
    )


def _listed(words: list[str], last: str) -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


@command("gainful convert bm25.run bm25.parquet --as run", help=_help())
@click.argument("input_", metavar="INPUT")
@click.argument("output")
@option.give(
    {
        "--as [run|judgments]": option.more("What INPUT contains.", name="kind", required=True),
        "--format, -f FORMAT": f"The format of OUTPUT: {_listed(list(dict.fromkeys(_ENDINGS.values())), 'or')}.  "
        "[default: by its extension]",
        "--tag WORD": "The last field of a TREC run.  [default: gainful]",
    },
    *option.READING,
)
def convert(input_: str, output: str, kind: str, **options: Any) -> None:
    """Write a run or judgments; `_help` writes the help, from the table of extensions."""
    check_target(output, input_)
    if kind == "run":
        set_aside(options, ["assessors"])
    leave_out_columns(options, of="judgments" if kind == "run" else "run")
    if options["tag"] is not None:
        if kind != "run":
            raise click.UsageError("--tag requires --as run: judgments have no tag.")
        tagged = {"tag": options["tag"]}
    else:
        tagged = {}
    write: Any = gf.write_run if kind == "run" else gf.write_judgments
    shared = read_shared_options(option.READING, options)
    with seen_enough():
        write(input_, output, format=options["format"], **tagged, **shared)
