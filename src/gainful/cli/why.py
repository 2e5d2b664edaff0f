"""`gainful why`: why two tools report different numbers, or which tool reports a given number."""

from typing import Any

import click

import gainful as gf
from gainful.cli import option_table as option
from gainful.cli.command import command
from gainful.cli.options import (
    check_files,
    given_choices,
    judged_runs,
    listed,
    read_shared_options,
    set_choices,
)
from gainful.cli.output import print_result
from gainful.cli.project import set_aside

_TOOLS = 2  # the gap is between two tools
_WITHOUT_DIALECT = [name for name in option.MEASURING if name != "dialect"]


@command(
    "gainful why qrels.txt my.run --dialects trec_eval,scikit-learn",
    "gainful why qrels.txt my.run --got 0.4231",
)
@click.argument("files", nargs=-1, required=True, metavar="[JUDGMENTS] RUN")
@option.give(
    "judgments",
    "measure",
    {
        "--dialects TOOL,TOOL": "Explain the gap between two tools' numbers. A single tool is compared with gainful under the given policy. "
        "`gainful dialects` lists the tools.",
        "--got NUMBER": "Find the tools and choices that produce this number, to the digits shown: 0.4231 or 42.31%.",
    },
    "digits",
    "format",
    "output",
    "verbose",
    *_WITHOUT_DIALECT,
    measure="The measure to explain.  [default: nDCG@10]",
)
def why(files: tuple[str, ...], **options: Any) -> None:
    """Explain why two tools report different numbers for RUN, or find the tool behind a number.

    The explanation changes one choice at a time, from the first tool to the second: first the measure's
    parameters, then how documents are treated, then which queries count.
    """
    judgments, runs = judged_runs(files, options, most=1)
    (run,) = runs.values()
    if (options["dialects"] is None) == (options["got"] is None):
        raise click.UsageError("Pass either --dialects or --got.")
    tools = listed(options["dialects"]) or []
    alone = len(tools) < _TOOLS or "gainful" in tools
    if not alone:
        set_aside(options, set_choices())  # each tool has its own policy
        if choices := given_choices():
            raise click.UsageError(f"Each tool has its own policy: leave out {', '.join(choices)}.")
    is_chosen = bool(given_choices() or set_choices())
    shared = read_shared_options(_WITHOUT_DIALECT, options, judgments, run)
    check_files(options, judgments, run)
    measure = options["measure"] or "nDCG@10"
    if not is_chosen:
        shared["policy"] = None
    found: Any
    if options["got"] is not None:
        found = gf.explanation.which(judgments, run, measure, got=options["got"], **shared)
        print_result(found, options, [*found.remarks, *found.basis])
    else:
        found = gf.why(judgments, run, measure, dialects=tools, **shared)
        print_result(found, options, found.basis)
