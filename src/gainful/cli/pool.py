"""`gainful pool`."""

from typing import Any

import click

import gainful as gf
from gainful.cli.command_with_project_defaults import ProjectCommand
from gainful.cli.option_origins import set_aside
from gainful.cli.options import (
    MEASURING,
    InputFile,
    check_target,
    leave_out_columns,
    one_measure_option,
    output_option,
    read_shared_options,
    refuse_other_endings,
    refuse_standard_input_twice,
    runs_of,
    shared_options,
    told_format,
)
from gainful.cli.progress import progress_bar
from gainful.cli.standard_streams import seen_enough, tell

_ENDINGS = gf.writing.endings(of="pools")
_FORMATS = tuple(dict.fromkeys((*gf.writing.formats(), *_ENDINGS.values())))
_NOTED = ("table", "markdown", "latex", "html")  # these carry the summary themselves
_OF_JUDGMENTS = ("measure", "budget", "grades", "compare")


@click.command(
    cls=ProjectCommand,
    examples=["gainful pool bm25.run dense.run --judgments qrels.txt -m nDCG@10 --budget 50"],
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@click.option(
    "--depth",
    type=click.IntRange(1),
    metavar="RANK",
    help="Take documents down to this rank.  [default: 100; with --judgments the cutoff of the "
    "measure, if it has one]",
)
@click.option(
    "--judgments",
    type=InputFile(),
    help="Show what has no judgment yet, what could move the measure most first.",
)
@one_measure_option("With --judgments: the measure to settle.  [default: nDCG@10]")
@click.option(
    "--budget",
    type=int,
    metavar="NUMBER",
    help="With --judgments: the most documents to show.  [default: 50]",
)
@click.option(
    "--grades",
    metavar="GRADES",
    help="With --judgments: the grades that a document may get, such as 0,1,2,3.  "
    "[default: 0, and the lowest and the highest that occur]",
)
@click.option(
    "--compare",
    nargs=2,
    metavar="NAME NAME",
    help="With --judgments: settle the difference of two runs, called by their files without "
    "the ending.",
)
@click.option(
    "--format",
    "-f",
    "format_",
    type=click.Choice(_FORMATS),
    help="How the documents are written; trec: query 0 doc grade, ? where there is no judgment.  "
    "[default: by the ending of --output; table]",
)
@output_option
@shared_options(MEASURING)
def pool(runs: tuple[str, ...], **options: Any) -> None:
    """List the documents to judge: those that any of the RUNs has near the top.

    With --judgments only those that have none yet, in the order of how far their grade could move
    the measure. That is the width of its mean, over the possible grades of this one document.
    """
    judgments, output = options["judgments"], options["output"]
    if judgments is None:
        set_aside(options, ["measure", "assessors"])
        leave_out_columns(options, of="judgments")
    named = runs_of(runs, options, judgments)
    read = (*named.values(), *([] if judgments is None else [judgments]))
    given = read_shared_options(MEASURING, options, *read)
    refuse_standard_input_twice(*read)
    refuse_other_endings(output)
    check_target(output, *read)
    chosen = options["format_"] or told_format(output, _ENDINGS, _FORMATS)
    asked = {name: options[name] for name in (*_OF_JUDGMENTS, "depth") if options[name] is not None}
    if "grades" in asked:
        asked["grades"] = _grades(asked["grades"])
    if judgments is None:
        for name in _OF_JUDGMENTS:
            if name in asked:
                raise click.UsageError(f"--{name} goes with --judgments.")
    with progress_bar() as progress:
        if judgments is None:
            found = gf.pool(named, progress=progress, **asked, **given)
        else:
            found = gf.judging.next_to_judge(judgments, named, progress=progress, **asked, **given)
    with seen_enough():
        found.write("-" if output is None else output, format=chosen)
    if chosen not in _NOTED:
        tell(found.summary)


def _grades(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise click.UsageError(f"--grades takes numbers such as 0,1,2,3, not {text!r}.") from None
