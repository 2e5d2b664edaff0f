"""The command about rankings next to rankings: `similar`."""

from typing import Any

import click

import gainful as gf
from gainful.cli import call
from gainful.cli import option_table as option
from gainful.cli.project import command, is_typed, refuse_conflicts, set_aside

_BY = ("rbo", "tau", "tau_ap", "tau_h", "promoted")
_KINDS = ("extrapolated", "least", "residual", "most")
_FEWEST = 2  # runs to compare


@command(
    "gainful similar bm25.run dense.run --by rbo,tau_ap",
    "gainful similar runs/ --depth 10 --tied a",
    "gainful similar runs/ --judgments qrels.txt -m 'nDCG@10 AP P@5'",
)
@click.argument("files", nargs=-1, required=True, metavar="RUN RUN...")
@option.give(
    {
        "--by NAMES": f"How to measure similarity: {', '.join(_BY)}; separate several by commas. rbo: rank-biased overlap; tau: Kendall's τ; "
        "tau_ap: AP correlation; tau_h: τ weighted by rank; promoted: the deepest rank, in the first run, of a document that the second run promotes.  "
        "[default: rbo,tau, or tau,tau_ap with --measure]",
        "--p >0.0<1.0 = 0.9": "How patient the user modelled by rbo is: with 0.9, the first 10 ranks have 86% of the weight.",
        "--depth RANK>=1": "Compare the RUNs only down to this rank.  [default: all ranks]",
        f"--kind [{'|'.join(_KINDS)}] = extrapolated": "What rbo assumes about deeper ranks. extrapolated: the same agreement; least: no agreement; "
        "most: as much as possible; residual: most minus least.",
        "--tied [doc|a|b|w] = doc": "How to treat documents with equal scores. doc: order them by id, descending; a: the mean over all their orders; "
        "b: correct for ties, so that a list agrees fully with itself; w: let them share a rank.",
        "--level >0.0<1.0 = 0.95": "The confidence level of the intervals.",
        "--judgments INPUT": "With --measure: the judgments.",
        "--measure, -m TEXT... -> measures": "Compare the orders of the RUNs under these measures, such as 'nDCG@10 AP', instead of the RUNs; repeat for more.",
    },
    "define digits result evaluating",
)
def similar(files: tuple[str, ...], **options: Any) -> None:
    """Measure how similar RUNs are to each other: the mean over their common queries, with intervals.

    With two RUNs, the output is a table; with more, a matrix for each measure of similarity. With --measure, it is a
    matrix of how similarly the measures order the RUNs.
    """
    by_measures = is_typed("measures")
    if not by_measures:
        set_aside(options)
        refuse_conflicts(["similar"], options)  # now without a project's measures
    judgments, runs = call.runs_alone(files, options)
    if len(runs) < _FEWEST:
        raise click.UsageError(f"Expected at least two RUNs, found {' '.join(runs) or 'none'}.")
    options["by"] = [name.replace("-", "_") for name in options["by"] or ()] or None
    shared = call.read_shared_options(options)
    if by_measures:
        if judgments is None:
            raise click.UsageError("--measure requires --judgments.")
        compared = gf.statistics.similar_measures
        options["judgments"] = None  # an input, not an option
        result = call.work(compared, judgments, runs, options=options, **shared)
    else:
        options["ties"] = options["tied"]
        reading = call.reading(shared)
        result = call.work(gf.statistics.similar, runs, options=options, **reading)
    call.print_result(result, options)
