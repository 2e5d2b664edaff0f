"""`gainful pool`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import (
    leave_out_columns,
    numbers,
    read_shared_options,
    refuse_standard_input_twice,
    runs_of,
)
from gainful.cli.output import check_target, format_of_documents, formats_of, write_pool
from gainful.cli.process import progress_bar, tell
from gainful.cli.project import set_aside

_PASSED = ("measure", "budget", "grades", "compare", "depth")


@command("gainful pool bm25.run dense.run --judgments qrels.txt -m nDCG@10 --budget 50")
@click.argument("runs", nargs=-1, required=True, metavar="RUN [RUN]...")
@option.give(
    {
        "--depth RANK>=1": "Pool documents down to this rank.  [default: 100; with --judgments, the measure's cutoff, if any]",
    },
    "judgments",
    "measure",
    {
        "--budget NUMBER": option.more(
            "With --judgments: the maximum number of documents to list.  [default: 50]", type=int
        ),
        "--grades GRADES": "With --judgments: the possible grades, such as 0,1,2,3.  [default: 0 and the lowest and highest grade in the judgments]",
        "--compare NAME NAME": option.more(
            "With --judgments: settle the difference between two runs, named after their files without the extension.",
            nargs=2,
        ),
        f"--format, -f [{'|'.join(formats_of('pools'))}]": "The output format; trec: query 0 doc grade, with ? for unjudged.  "
        "[default: by the extension of --output; table]",
    },
    "output",
    *option.MEASURING,
    judgments="List only unjudged documents, those that could change the measure most first.",
    measure="With --judgments: the measure to settle.  [default: nDCG@10]",
)
def pool(runs: tuple[str, ...], **options: Any) -> None:
    """List the documents to judge: every document near the top of any RUN.

    With --judgments, list only unjudged documents, ordered by how much their grade could change the
    measure: how far its mean moves between the best and the worst possible grade of that one document.
    """
    judgments = options["judgments"]
    if judgments is None:
        set_aside(options, ["measure", "assessors"])
        leave_out_columns(options, of="judgments")
    named = runs_of(runs, options, judgments)
    read = (*named.values(), judgments)
    shared = read_shared_options(option.MEASURING, options, *read)
    refuse_standard_input_twice(*read)
    check_target(options["output"], *read)
    format_ = format_of_documents(options, "pools")
    option.refuse_conflicts("pool", options)
    chosen = {name: options[name] for name in _PASSED if options[name] is not None}
    if "grades" in chosen:
        chosen["grades"] = tuple(numbers("--grades", chosen["grades"], "0,1,2,3"))
    with progress_bar() as progress:
        how = chosen | shared | {"progress": progress}
        if judgments is None:
            found = gf.pool(named, **how)
        else:
            found = gf.judging.next_to_judge(judgments, named, **how)
    if write_pool(found, options, format_):
        tell(found.summary)
